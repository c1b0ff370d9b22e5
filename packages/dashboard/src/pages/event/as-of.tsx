import type { Schemas } from "@webhook-relay/client";
import type { ReactNode } from "react";
import { Id } from "../../parts/copy.tsx";
import { Changed } from "../../parts/diff.tsx";
import { statusWord } from "../../parts/status-words.ts";
import { Moment } from "../../parts/time.tsx";
import { durationText } from "../../parts/times.ts";
import shared from "../../style/shared.module.css";
import styles from "./event.module.css";
import type { MomentState } from "./use-story.ts";

/** Chooses the moment: a slider over the entries of the log, and the way back to the present. */
export function AsOf({ entries, index, isPast, choose }: {
  readonly entries: readonly Schemas["StoryEntry"][];
  readonly index: number;
  readonly isPast: boolean;
  /** Takes the index of an entry. */
  readonly choose: (index: number) => void;
}): ReactNode {
  const entry = entries[index];
  const place = `entry ${index + 1} of ${entries.length}`;
  return (
    <div className={styles.asOf}>
      <label htmlFor="as-of">As of</label>
      <span className={styles.asOfWhen}>
        {isPast && entry ? <Moment at={entry.time} /> : <strong>now</strong>}
      </span>
      <input
        id="as-of" type="range" min={0} max={Math.max(0, entries.length - 1)} step={1} value={index}
        aria-valuetext={`${place}: ${entry?.type ?? "none"}`} onChange={({ target }) => choose(Number(target.value))}
      />
      <span className={shared.small} role="status">{place}{entry ? `: ${entry.type}` : ""}</span>
      <button type="button" disabled={!isPast} onClick={() => choose(entries.length - 1)}>Now</button>
    </div>
  );
}

interface Detail {
  readonly name: string;
  readonly text: string;
  readonly shown?: ReactNode;
}

/** The state at a moment; values that the chosen entry changed are marked, with those before. */
export function StateAtMoment({ state, before }: {
  readonly state: MomentState; readonly before: MomentState | undefined;
}): ReactNode {
  const was = new Map(before ? detailsOf(before).map(({ name, text, shown }) => [name, { text, shown }]) : []);
  return (
    <dl className={styles.momentState}>
      {detailsOf(state).map(({ name, text, shown }) => {
        const earlier = was.get(name);
        const isChanged = earlier !== undefined && earlier.text !== text;
        return (
          <div key={name}>
            <dt>{name}</dt>
            <dd>
              {isChanged ? <Changed was={earlier.shown ?? earlier.text}>{shown ?? text}</Changed> : shown ?? text}
            </dd>
          </div>
        );
      })}
    </dl>
  );
}

function detailsOf({ event, destination, tenant }: MomentState): Detail[] {
  const time = (at: string | null): Pick<Detail, "text" | "shown"> =>
    (at === null ? { text: "–" } : { text: at, shown: <Moment at={at} only="time" /> });
  return [
    { name: "status", text: statusWord(event.status) },
    { name: "failed attempts", text: `${event.currentRetryCount}${tenant ? ` of ${tenant.maxTrys}` : ""}` },
    { name: "next attempt", ...time(event.nextAttemptAt) },
    { name: "delivered", ...time(event.deliveredAt) },
    ...destination ? [
      { name: "URL", text: destination.url },
      {
        name: "destination", text: destination.suspendedUntil === null
          ? destination.status : `${destination.status} until ${destination.suspendedUntil}`,
        shown: destination.suspendedUntil === null
          ? destination.status : <>{destination.status} until <Moment at={destination.suspendedUntil} only="time" /></>,
      },
      { name: "at once", text: String(destination.serverRateLimit) },
    ] : [{ name: "destination", text: "deleted, or not yours to see" }],
    ...tenant ? [{ name: "circuit timer", text: durationText(tenant.circuitBreakerTimer * 1_000) }] : [],
  ];
}

/** The constant properties of an event. */
export function Constants({ event }: { readonly event: Schemas["Event"] }): ReactNode {
  const { eventType, ownerId, idempotencyKey, messageId, tags } = event;
  const rows = [
    ["type", eventType], ["owner", ownerId], ["key", idempotencyKey],
    ...Object.entries(tags ?? {}).map(([name, value]) => [`tag ${name}`, value] as const),
  ] as const;
  return (
    <dl className={styles.momentState}>
      {rows.filter(([, value]) => value !== null).map(([name, value]) => (
        <div key={name}><dt>{name}</dt><dd>{value}</dd></div>
      ))}
      {messageId !== null && <div><dt>message</dt><dd><Id value={messageId} /></dd></div>}
    </dl>
  );
}
