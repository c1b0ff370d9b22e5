import { useQuery, type UseQueryResult } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import type { Schemas } from "@webhook-relay/client";
import type { ReactNode } from "react";
import { relay } from "../../api/relay.ts";
import { useMay } from "../../app/session.ts";
import { whoOf } from "../../parts/names.tsx";
import { EventStatus } from "../../parts/status.tsx";
import type { Attempt } from "../../story/attempts.ts";
import type { Telling } from "../../story/chapters.ts";
import { receiverWords } from "../../story/failures.ts";
import { sentence, type Tense } from "../../story/sentence.ts";
import { suspectIn, suspectMs, type Suspect } from "../../story/suspect.ts";
import { classes } from "../../style/classes.ts";
import shared from "../../style/shared.module.css";
import styles from "./event.module.css";
import { useAttemptFacts, type AttemptFacts } from "./use-story.ts";
import { Told } from "./words.tsx";

/** The state of the event and its cause, in a sentence in the tense of the moment. */
export function Sentence({ story, telling, tense, said, isBrief = false, hasStatus = true }: {
  readonly story: Schemas["Story"];
  readonly telling: Telling;
  readonly tense: Tense;
  /** The receiver's words at the last failed attempt. */
  readonly said: string | undefined;
  readonly isBrief?: boolean;
  /** Whether the status stands before the sentence; a panel has it in its head. */
  readonly hasStatus?: boolean;
}): ReactNode {
  const { waiting, chapters, event } = story;
  return (
    <p className={classes(styles.sentence, isBrief && styles.brief)}>
      {(tense === "then" || isBrief) && <span className={shared.small}>{tense === "then" ? "Then: " : "Now: "}</span>}
      {hasStatus && <><EventStatus value={event.status} />{" "}</>}
      <span data-tense={tense}><Told words={sentence({ ...telling, waiting, chapters, said }, tense)} /></span>
    </p>
  );
}

/** The entries of the last failed attempt of an event that is not delivered: they have the receiver's words. */
export function useLastFailure(
  { id, status }: Schemas["Event"], attempts: readonly Attempt[],
): UseQueryResult<AttemptFacts> {
  const tells = status === "CriticalFailure" || status === "WaitingRetry";
  return useAttemptFacts(id, tells ? attempts.findLast(({ outcome }) => outcome === "failed") : undefined);
}

/** The receiver's words at an attempt, if it answered in words. */
export function saidIn({ data, isPlaceholderData }: UseQueryResult<AttemptFacts>): string | undefined {
  const body = isPlaceholderData ? undefined : data?.ended?.data.answer?.body;
  return body === undefined ? undefined : receiverWords(body);
}

/** The newest change of the destination in the day before the failures began. */
export function useSuspect(
  { destinationUrlId: id }: Schemas["Event"], began: string | undefined,
): UseQueryResult<Suspect | null> {
  const allows = useMay();
  const To = began ?? "";
  return useQuery({
    queryKey: ["listDestinationHistory", { id }, "before", began],
    queryFn: async () => {
      const From = new Date(Date.parse(To) - suspectMs).toISOString();
      const { items } = await relay.listDestinationHistory({ id, From, To, Qt: 20, TpOrd: "Desc", Total: false });
      return suspectIn(items, To) ?? null;
    },
    enabled: began !== undefined && allows("listDestinationHistory"),
    staleTime: Infinity,
  });
}

/** Says of a change that it came before the failures, never that they came of it. */
export function SuspectChange({ suspect: { fact, did, before }, destinationId, failures }: {
  readonly suspect: Suspect; readonly destinationId: string; readonly failures: number;
}): ReactNode {
  return (
    <p className={styles.suspect}>
      The {failures === 1 ? "failure came" : "failures began"} {before} after <bdi>{whoOf(fact.actor)}</bdi> {did}.{" "}
      <Link to="/destinations/$id" params={{ id: destinationId }} search={{ tab: "changes", at: fact.position }}>
        See the change
      </Link>
    </p>
  );
}
