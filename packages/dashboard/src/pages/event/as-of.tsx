import type { Schemas } from "@webhook-relay/client";
import { useState, type ReactNode } from "react";
import { usePreferences } from "../../app/preferences.tsx";
import { Id, MiddleCut } from "../../parts/copy.tsx";
import { Changed } from "../../parts/diff.tsx";
import { fieldsOf } from "../../parts/fields.ts";
import { Icon, icons } from "../../parts/icon.tsx";
import { statusWord } from "../../parts/status-words.ts";
import { Moment } from "../../parts/time.tsx";
import { durationText, momentText, zoneName } from "../../parts/times.ts";
import { typedMoment, typedTimeRule } from "../../parts/typed-time.ts";
import { indexAtTime } from "../../story/moments.ts";
import shared from "../../style/shared.module.css";
import styles from "./event.module.css";
import type { MomentState } from "./use-story.ts";

/** The steps of the slider, from one end of the axis to the other. */
const steps = 1_000;

/**
 * Chooses the moment: by a slider on the axis of the bar above it, which stops at entries of the log, and by a typed
 * time. Leads back to the present.
 */
export function AsOf({ entries, index, isPast, choose, placeOf }: {
  readonly entries: readonly Schemas["StoryEntry"][];
  readonly index: number;
  readonly isPast: boolean;
  /** Takes the index of an entry. */
  readonly choose: (index: number) => void;
  /** The place of a moment on the axis, from 0 to 1. */
  readonly placeOf: (at: string) => number;
}): ReactNode {
  const entry = entries[index];
  const place = `entry ${index + 1} of ${entries.length}`;
  const places = entries.map(({ time }) => Math.round(placeOf(time) * steps));
  const move = (value: number) => {
    const near = places.reduce((best, one, at) =>
      (Math.abs(one - value) < Math.abs((places[best] ?? 0) - value) ? at : best), 0);
    // Entries of one moment have one place: the last of them is meant.
    choose(places.lastIndexOf(places[near] ?? 0));
  };
  const keys: Readonly<Record<string, number>> = {
    ArrowLeft: index - 1, ArrowDown: index - 1, ArrowRight: index + 1, ArrowUp: index + 1, Home: 0,
    End: entries.length - 1,
  };
  return (
    <>
      <input
        type="range" min={0} max={steps} step={1} value={isPast ? places[index] ?? steps : steps} aria-label="Moment"
        className={styles.slider} aria-valuetext={`${place}: ${entry?.type ?? "none"}`}
        onChange={({ target }) => move(Number(target.value))}
        onKeyDown={(event) => {
          const to = keys[event.key];
          if (to === undefined) return;
          event.preventDefault();
          choose(to);
        }}
      />
      <div className={styles.asOf}>
        <TypedMoment
          key={isPast ? entry?.position : "now"} entries={entries} shown={isPast ? entry : undefined} choose={choose}
        />
        <button
          type="button" className={shared.plain} aria-label="Entry before" disabled={index <= 0}
          onClick={() => choose(index - 1)}
        >
          <Icon of={icons.chevronLeft} />
        </button>
        <button
          type="button" className={shared.plain} aria-label="Next entry" disabled={index >= entries.length - 1}
          onClick={() => choose(index + 1)}
        >
          <Icon of={icons.chevronRight} />
        </button>
        <span className={shared.small} role="status">{place}{entry ? `: ${entry.type}` : ""}</span>
        <button type="button" disabled={!isPast} onClick={() => choose(entries.length - 1)}>Now</button>
      </div>
    </>
  );
}

/** A field for the moment, in which one types a time such as `10:05`; empty for the present. */
function TypedMoment({ entries, shown, choose }: {
  readonly entries: readonly Schemas["StoryEntry"][];
  readonly shown: Schemas["StoryEntry"] | undefined;
  readonly choose: (index: number) => void;
}): ReactNode {
  const { zone } = usePreferences();
  const [problem, setProblem] = useState("");
  const [first, last] = [entries[0], entries.at(-1)];
  const read = (text: string) => {
    if (!first || !last) return;
    if (text.trim() === "" || text.trim() === "now") return choose(entries.length - 1);
    const at = typedMoment(text, zone, momentText(last.time, zone, "day"));
    if (at === undefined) return setProblem(typedTimeRule);
    const index = indexAtTime(entries, at);
    if (index < 0) {
      return setProblem(`The event began at ${momentText(first.time, zone)}: nothing was before.`);
    }
    setProblem("");
    choose(index);
  };
  return (
    <form
      className={styles.typedMoment}
      onSubmit={(event) => {
        event.preventDefault();
        read(fieldsOf(event.currentTarget)["moment"] ?? "");
      }}
    >
      <label htmlFor="as-of">As of</label>
      <input
        id="as-of" name="moment" autoComplete="off" spellCheck={false} placeholder="now, or a time: 10:05" size={23}
        defaultValue={shown ? momentText(shown.time, zone) : ""} aria-invalid={problem !== "" || undefined}
        aria-describedby="as-of-problem"
      />
      <span className={shared.small}>{zoneName(zone)}</span>
      <span id="as-of-problem" className={shared.problem} role="alert">{problem}</span>
    </form>
  );
}

interface Detail {
  readonly name: string;
  readonly text: string;
  readonly shown?: ReactNode;
}

/** The state at a moment, then the constants; values that the chosen entry changed are marked, with those before. */
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
      <Constants event={state.event} />
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
      ...destination.name === null ? [] : [{ name: "sent to", text: destination.name }],
      { name: "URL", text: destination.url, shown: <MiddleCut text={destination.url} /> },
      {
        name: "destination", text: destination.suspendedUntil === null
          ? destination.status : `circuit open until ${destination.suspendedUntil}`,
        shown: destination.suspendedUntil === null
          ? destination.status : <>circuit open until <Moment at={destination.suspendedUntil} only="time" /></>,
      },
      { name: "concurrent requests", text: String(destination.serverRateLimit) },
    ] : [{ name: "destination", text: "deleted, or not yours to see" }],
    ...tenant ? [{ name: "circuit timer", text: durationText(tenant.circuitBreakerTimer * 1_000) }] : [],
  ];
}

/** The constant properties of an event. */
function Constants({ event }: { readonly event: Schemas["Event"] }): ReactNode {
  const { eventType, ownerId, idempotencyKey, messageId, tags } = event;
  const rows = [
    ["type", eventType], ["owner", ownerId], ["key", idempotencyKey],
    ...Object.entries(tags ?? {}).map(([name, value]) => [`tag ${name}`, value] as const),
  ] as const;
  return (
    <>
      {rows.filter(([, value]) => value !== null).map(([name, value]) => (
        <div key={name}><dt>{name}</dt><dd>{value}</dd></div>
      ))}
      {messageId !== null && <div><dt>message</dt><dd><Id value={messageId} /></dd></div>}
    </>
  );
}
