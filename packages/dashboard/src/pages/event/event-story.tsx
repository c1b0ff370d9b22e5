import { useSearch } from "@tanstack/react-router";
import type { Schemas } from "@webhook-relay/client";
import { useMemo, type ReactNode } from "react";
import { useChange } from "../../app/navigation.tsx";
import { useKeys } from "../../parts/keys.tsx";
import { useActorNames } from "../../parts/names.tsx";
import { Answered } from "../../parts/states.tsx";
import { EventStatus } from "../../parts/status.tsx";
import { attemptsOf } from "../../story/attempts.ts";
import type { Telling } from "../../story/chapters.ts";
import { authorsOf, entriesOf, indexAt, laterThan } from "../../story/moments.ts";
import { sentence, type Tense } from "../../story/sentence.ts";
import { classes } from "../../style/classes.ts";
import shared from "../../style/shared.module.css";
import { AsOf, Constants, StateAtMoment } from "./as-of.tsx";
import { AttemptView } from "./attempt-view.tsx";
import { Bar } from "./bar.tsx";
import { Chapters } from "./chapters.tsx";
import styles from "./event.module.css";
import { useMomentState, useStory, useStoryAt } from "./use-story.ts";
import { Told } from "./words.tsx";

/**
 * The story of an event: its state in a sentence, its chapters with their causes, and its attempts. The parameter `at`
 * is the position of the log up to which it is told; `attempt` and `with` are numbers of attempts.
 */
export function EventStory({ id }: { readonly id: string }): ReactNode {
  const query = useStory(id);
  return <Answered query={query}>{(present) => <Story key={id} id={id} present={present} />}</Answered>;
}

function Story({ id, present }: { readonly id: string; readonly present: Schemas["Story"] }): ReactNode {
  const { at, attempt: named } = useSearch({ strict: false });
  const change = useChange();
  const entries = useMemo(() => entriesOf(present.chapters), [present]);
  const index = indexAt(entries, at);
  const past = useStoryAt(id, at);
  const state = useMomentState(present.event, at);
  const earlier = useMomentState(present.event, entries[index - 1]?.position, { enabled: index > 0 });
  const names = useActorNames();
  const isPast = at !== undefined;
  const shown = isPast ? past.data ?? present : present;

  const now = useMemo((): Telling => ({
    event: present.event, attempts: attemptsOf(present.chapters), authors: authorsOf(entries), names,
  }), [present, entries, names]);
  const attempts = isPast ? attemptsOf(shown.chapters) : now.attempts;
  const then: Telling = { ...now, event: shown.event, attempts };
  const attempt = attempts.find(({ number }) => String(number) === named) ?? attempts.at(-1);
  const later = useMemo(() => laterThan(shown.chapters, present.chapters), [shown, present]);

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

  return (
    <div className={styles.story} data-story aria-busy={isPast && (past.isPending || past.isPlaceholderData)}>
      {isPast && past.error !== null && (
        <p className={shared.problem} role="alert">There is nothing to tell of that moment: {past.error.message}</p>
      )}
      {isPast && past.data && <Sentence story={shown} telling={then} tense="then" />}
      <Sentence story={present} telling={now} tense="now" isBrief={isPast} />
      <Bar chapters={shown.chapters} later={later} telling={now} />
      <AsOf entries={entries} index={index} isPast={isPast} choose={choose} />
      {state.data && <StateAtMoment state={state.data} before={index > 0 ? earlier.data : undefined} />}
      <Constants event={present.event} />
      <Chapters
        chapters={shown.chapters} later={later} telling={then} laterTelling={now} attempt={attempt?.number}
      />
      {attempt ? <AttemptView attempts={attempts} attempt={attempt} event={present.event} />
        : <p className={shared.state}>No attempt {isPast ? "had been" : "has been"} made.</p>}
    </div>
  );
}

function Sentence({ story, telling, tense, isBrief = false }: {
  readonly story: Schemas["Story"];
  readonly telling: Telling;
  readonly tense: Tense;
  readonly isBrief?: boolean;
}): ReactNode {
  const { waiting, chapters, event } = story;
  return (
    <p className={classes(styles.sentence, isBrief && styles.brief)}>
      {(tense === "then" || isBrief) && <span className={shared.small}>{tense === "then" ? "Then: " : "Now: "}</span>}
      <EventStatus value={event.status} />{" "}
      <span data-tense={tense}><Told words={sentence({ ...telling, waiting, chapters }, tense)} /></span>
    </p>
  );
}
