import { useSearch } from "@tanstack/react-router";
import type { Schemas } from "@webhook-relay/client";
import { useMemo, type ReactNode } from "react";
import { relayClock } from "../../api/clock.ts";
import { useChange } from "../../app/navigation.tsx";
import { useKeys } from "../../parts/keys.tsx";
import { useActorNames } from "../../parts/names.tsx";
import { Answered, Loading } from "../../parts/states.tsx";
import { attemptsOf } from "../../story/attempts.ts";
import { axisOf, type OpenCircuit } from "../../story/axis.ts";
import type { Telling } from "../../story/chapters.ts";
import { authorsOf, ends, entriesOf, indexAt, laterThan } from "../../story/moments.ts";
import { firstFailure } from "../../story/suspect.ts";
import shared from "../../style/shared.module.css";
import { AsOf, StateAtMoment } from "./as-of.tsx";
import { AttemptView } from "./attempt-view.tsx";
import { Bar } from "./bar.tsx";
import { Chapters } from "./chapters.tsx";
import { DeliveryOf } from "./delivery-of.tsx";
import styles from "./event.module.css";
import { saidIn, Sentence, SuspectChange, useLastFailure, useSuspect } from "./sentence.tsx";
import { useMomentState, useOpenCircuit, useStory, useStoryAt } from "./use-story.ts";

const none: readonly OpenCircuit[] = [];

/**
 * The story of an event: its state in a sentence, its chapters with their causes, and its attempts. The parameter `at`
 * is the position of the log up to which it is told; `attempt` and `with` are numbers of attempts.
 */
export function EventStory({ id, isBrief = false, acts }: {
  readonly id: string;
  /** Leaves the choice of a moment and its state out. */
  readonly isBrief?: boolean;
  /** Stand behind the sentence. */
  readonly acts?: (story: Schemas["Story"]) => ReactNode;
}): ReactNode {
  const query = useStory(id);
  return (
    <Answered query={query} loading={<Bones />}>
      {(present) => <Story key={id} id={id} present={present} isBrief={isBrief} acts={acts} />}
    </Answered>
  );
}

/** The size of a story that is being loaded. */
function Bones(): ReactNode {
  return <Loading lines={14} />;
}

function Story({ id, present, isBrief, acts }: {
  readonly id: string;
  readonly present: Schemas["Story"];
  readonly isBrief: boolean;
  readonly acts: ((story: Schemas["Story"]) => ReactNode) | undefined;
}): ReactNode {
  const { at, attempt: named } = useSearch({ strict: false });
  const change = useChange();
  const entries = useMemo(() => entriesOf(present.chapters), [present]);
  const index = indexAt(entries, at);
  const past = useStoryAt(id, at);
  const isPast = at !== undefined;
  const hasMoment = isPast || !isBrief;
  const state = useMomentState(present.event, at, { enabled: hasMoment });
  const earlier = useMomentState(present.event, entries[index - 1]?.position, { enabled: hasMoment && index > 0 });
  const names = useActorNames();
  const shown = isPast ? past.data ?? present : present;

  const now = useMemo((): Telling => ({
    event: present.event, attempts: attemptsOf(present.chapters), authors: authorsOf(entries), names,
  }), [present, entries, names]);
  const attempts = isPast ? attemptsOf(shown.chapters) : now.attempts;
  const then: Telling = { ...now, event: shown.event, attempts };
  const attempt = attempts.find(({ number }) => String(number) === named) ?? attempts.at(-1);
  const later = useMemo(() => laterThan(shown.chapters, present.chapters), [shown, present]);

  const failure = useLastFailure(present.event, now.attempts);
  const failureThen = useLastFailure(shown.event, attempts);
  const first = firstFailure(attempts);
  const suspect = useSuspect(present.event, first?.entries[0]?.time);
  const circuit = useOpenCircuit(present.event);
  const all = useMemo(() => ends(present.chapters), [present]);
  const axis = useMemo(
    () => axisOf([...all.first, ...all.last], new Date(relayClock.now()).toISOString()), [all]);

  const choose = (to: number) => {
    const bounded = Math.min(Math.max(to, 0), entries.length - 1);
    change({ at: bounded === entries.length - 1 ? undefined : entries[bounded]?.position }, { replace: true });
  };
  const moveAttempt = (by: number) => {
    const next = attempts[attempts.findIndex((one) => one === attempt) + by];
    if (next) change({ attempt: String(next.number) }, { replace: true });
  };
  useKeys({
    ArrowLeft: { does: "Go to the entry before", run: () => choose(index - 1) },
    ArrowRight: { does: "Go to the next entry", run: () => choose(index + 1) },
    "[": { does: "Show the attempt before", run: () => moveAttempt(-1) },
    "]": { does: "Show the next attempt", run: () => moveAttempt(1) },
  });

  // The parts above the chapters are shown at once, so that the chapters keep their place.
  if ([failure, suspect, circuit, state].some(({ isLoading }) => isLoading)) return <Bones />;
  return (
    <div className={styles.story} data-story aria-busy={isPast && (past.isPending || past.isPlaceholderData)}>
      {isPast && past.error !== null && (
        <p className={shared.problem} role="alert">There is nothing to tell of that moment: {past.error.message}</p>
      )}
      <div className={styles.said}>
        {isPast && past.data && <Sentence story={shown} telling={then} tense="then" said={saidIn(failureThen)} />}
        <Sentence
          story={present} telling={now} tense="now" said={saidIn(failure)} isBrief={isPast}
          hasStatus={isPast || !isBrief}
        />
        {suspect.data && (
          <SuspectChange
            suspect={suspect.data} destinationId={present.event.destinationUrlId}
            failures={attempts.filter(({ outcome }) => outcome === "failed").length}
          />
        )}
        {present.event.messageId !== null && <DeliveryOf messageId={present.event.messageId} />}
        {acts?.(present)}
      </div>
      <div className={styles.axis}>
        <Bar
          axis={axis} ends={all} begun={shown.chapters} telling={now} circuit={circuit.data ?? none}
          at={isPast ? entries[index]?.time : undefined}
        />
        {hasMoment && (
          <AsOf entries={entries} index={index} isPast={isPast} choose={choose} placeOf={axis.placeOf} />
        )}
      </div>
      {hasMoment && state.data && <StateAtMoment state={state.data} before={index > 0 ? earlier.data : undefined} />}
      <Chapters
        chapters={shown.chapters} later={later} telling={then} laterTelling={now} attempt={attempt?.number}
      />
      {attempt ? <AttemptView attempts={attempts} attempt={attempt} event={present.event} />
        : <p className={shared.state}>No attempt {isPast ? "had been" : "has been"} made.</p>}
    </div>
  );
}
