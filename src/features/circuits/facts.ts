import { examples } from "../../kernel/domain/examples.ts";
import { at, fact, type EventsOf, type Upcaster } from "../../kernel/domain/fact.ts";
import {
  anyText, integer, nullable, object, oneOf, optional, time, uuid, type ObjectOf, type ValueOf,
} from "../../kernel/domain/schema.ts";
import { streams } from "../../kernel/domain/streams.ts";
import { millis, timestamp, type Timestamp } from "../../kernel/domain/time.ts";
import type { AggregateType, Aggregates } from "../../kernel/log/aggregates.ts";
import type { Origin } from "../../kernel/log/origin.ts";
import type { Logger } from "../../kernel/ports/telemetry.ts";
import { onceKnown } from "../../kernel/tools/once-known.ts";

/** Open: the destination is Suspended. HalfOpen: the timer ended with nothing held; the next event is the probe. */
export const circuitPositions = ["Closed", "Open", "HalfOpen"] as const;

export type CircuitPosition = (typeof circuitPositions)[number];

const probe = object(
  { eventId: uuid(), leaseUntil: time() }, "The one attempt that may try a circuit that is not closed.",
);

/** The one attempt that may try a destination whose circuit is not closed. */
export type Probe = ValueOf<typeof probe>;

const state = {
  destinationId: uuid(), tenantId: uuid(), position: oneOf(circuitPositions),
  failures: integer(0, "Consecutive failed attempts."),
  openUntil: nullable(time(), "Null unless the circuit is open."),
  probe: nullable(probe),
};

// The next probe is the oldest held event after it, in a circle: an event that always fails cannot block the circuit.
const lastProbe = optional(
  uuid("The event of the newest probe of this outage that is over; absent before there was one."),
);

const pausedUntil = optional(
  time("Until when the receiver asked, by a 429, for no new attempt; absent once that time is over."),
);

const proxyProblem = anyText(
  "Why nothing goes out to the destination through the outbound proxy; absent while the proxy works.",
);

const cause = {
  eventId: nullable(
    uuid(),
    "The event whose attempt it came of, or whose attempt is the probe; null where none did, and in facts of "
      + "version 1.",
  ),
  at,
};

const whole = { ...state, lastProbe, pausedUntil, proxyProblem: optional(proxyProblem) };

/** The whole circuit; every fact of a `circuit-<destinationId>` stream carries it. */
export type Circuit = Readonly<ObjectOf<typeof whole>>;

/** Version 1 lacks `eventId`. */
const upcasters: readonly Upcaster[] = [(data) => ({ ...data, eventId: null })];

/** Facts about a circuit; each carries its whole state from then on. */
export const circuitFacts = {
  CircuitCounted: fact({
    data: { ...whole, ...cause },
    upcasters,
    meaning: "The number of consecutive failures changed, or the receiver asked for a pause by 429.",
    words: [
      "counts {failures:inARow}, and pauses until {pausedUntil}, as the receiver asked",
      "pauses until {pausedUntil}, as the receiver asked",
      "counts {failures:inARow}", "counts no failed attempt any longer",
    ],
    shown: "all",
    audit: false,
  }),
  CircuitOpened: fact({
    data: { ...whole, ...cause },
    upcasters,
    meaning: "The circuit opened: the destination is Suspended.",
    words: [
      "opened the circuit after {failures:inARow}, until {openUntil}",
      "opened the circuit after {failures:inARow}",
    ],
    shown: "all",
    audit: false,
    example: {
      destinationId: examples.destinationId, tenantId: examples.tenantId, position: "Open", failures: 10,
      openUntil: "2026-02-01T00:04:59.412Z", probe: null, eventId: examples.eventId, at: examples.later,
    },
  }),
  CircuitHalfOpened: fact({
    data: { ...whole, ...cause },
    upcasters,
    meaning: "The circuit is half-open and no event is held: the next event is the probe.",
    words: "half-opened the circuit: the next event is the probe",
    shown: "all",
    audit: false,
  }),
  CircuitProbeClaimed: fact({
    data: { ...whole, ...cause },
    upcasters,
    meaning: "An attempt to deliver one event began, as the probe.",
    words: "sends an event as the probe of the circuit",
    shown: "all",
    audit: false,
  }),
  CircuitProbeReleased: fact({
    data: { ...whole, ...cause },
    upcasters,
    meaning: "The probe ended, and its outcome does not count. The circuit stays as it was.",
    words: "ended a probe that does not count: the circuit stays {position:hyphened}",
    shown: "all",
    audit: false,
  }),
  OutboundProxyFailed: fact({
    data: { ...whole, proxyProblem, ...cause },
    meaning: "The outbound proxy failed: until it works, events wait without an attempt. The circuit stays as it was.",
    words: "sends nothing until the outbound proxy works: {proxyProblem}",
    shown: "all",
    audit: false,
  }),
  OutboundProxyRecovered: fact({
    data: { ...state, lastProbe, pausedUntil, ...cause },
    meaning: "The outbound proxy works again.",
    words: "sends through the outbound proxy again",
    shown: "all",
    audit: false,
  }),
  CircuitClosed: fact({
    data: { ...state, pausedUntil, ...cause },
    upcasters,
    meaning: "The circuit closed: deliveries resume.",
    words: "closed the circuit: deliveries resume",
    shown: "all",
    audit: "circuit",
  }),
};

export type CircuitEvent = EventsOf<typeof circuitFacts>;

/** The circuit of a destination without any fact about its circuit. */
export function newCircuit(destinationId: string, tenantId: string): Circuit {
  return { destinationId, tenantId, position: "Closed", failures: 0, openUntil: null, probe: null };
}

/** Every fact holds the full state, so the newest one is the state. */
export function evolve(_state: Circuit | undefined, event: CircuitEvent): Circuit {
  const { eventId: _eventId, at: _at, ...state } = event.data;
  return state;
}

/** Commands to a circuit; `at` is when, by the caller's clock. */
export type CircuitCommand =
  /** An attempt ended; `late`: after it was given up or resent. `maxTrys` and `timerS` may be the destination's own. */
  | {
      readonly type: "Record";
      readonly ok: boolean;
      readonly late: boolean;
      readonly eventId: string;
      readonly maxTrys: number;
      readonly timerS: number;
      readonly at: Timestamp;
    }
  /** An attempt ended by the relay's own fault or a 429: it does not count. `pausedUntil`: as the receiver asked. */
  | {
      readonly type: "EndUncounted";
      readonly late: boolean;
      readonly eventId: string;
      readonly pausedUntil: Timestamp | null;
      readonly at: Timestamp;
    }
  /** An attempt succeeded, though this may not be written yet: failures are no longer consecutive. */
  | { readonly type: "EndCount"; readonly eventId: string; readonly at: Timestamp }
  /** `lost`: a probe whose lease the claimer saw run out. */
  | {
      readonly type: "ClaimProbe";
      readonly eventId: string;
      readonly leaseUntil: Timestamp;
      readonly lost: Probe | null;
      readonly at: Timestamp;
    }
  /** The claimed probe found nothing to try. Another may have taken its place since, with the same event. */
  | { readonly type: "ReleaseProbe"; readonly probe: Probe; readonly at: Timestamp }
  | { readonly type: "HalfOpen"; readonly lost: Probe | null; readonly at: Timestamp }
  /** The outbound proxy failed for the destination, or works again. */
  | { readonly type: "FailProxy"; readonly problem: string; readonly at: Timestamp }
  | { readonly type: "RecoverProxy"; readonly at: Timestamp }
  /** A person set the destination active. That ends a pause, too. */
  | { readonly type: "Close"; readonly at: Timestamp };

/** The facts that a command leads to; an empty list when it changes nothing, a lost claim included. */
export function decide(state: Circuit, command: CircuitCommand): CircuitEvent[] {
  const before = withoutPastPause(state, command.at);
  const fact = <T extends CircuitEvent["type"]>(type: T, change: Partial<Circuit>, from: Circuit = before) =>
    [{ type, data: { ...from, ...change, eventId: eventIdOf(command), at: command.at } }] as CircuitEvent[];
  switch (command.type) {
    case "Record": {
      const opened = (failures: number, change: Partial<Circuit>) =>
        fact("CircuitOpened", {
          position: "Open", failures, probe: null,
          openUntil: timestamp(millis(command.at) + command.timerS * 1000),
          ...change,
        });
      if (state.position !== "Closed") {
        // Attempts that were under way when the circuit opened do not count: only the probe does.
        if (!isOfProbe(state, command)) return [];
        if (command.ok) return fact("CircuitClosed", pauseOf(before), newCircuit(state.destinationId, state.tenantId));
        return opened(state.failures + 1, { lastProbe: command.eventId });
      }
      if (command.ok) return decide(state, { ...command, type: "EndCount" });
      const failures = state.failures + 1;
      return failures >= command.maxTrys ? opened(failures, {}) : fact("CircuitCounted", { failures });
    }
    case "EndUncounted": {
      const { eventId, pausedUntil: asked } = command;
      const isLonger = asked !== null && asked > (before.pausedUntil ?? command.at);
      const pause = isLonger ? { pausedUntil: asked } : {};
      if (isOfProbe(state, command)) return fact("CircuitProbeReleased", { probe: null, lastProbe: eventId, ...pause });
      return isLonger ? fact("CircuitCounted", pause) : [];
    }
    case "EndCount":
      return state.position === "Closed" && state.failures > 0 ? fact("CircuitCounted", { failures: 0 }) : [];
    case "ClaimProbe": {
      if (!mayProbe(state, command.at) || stands(state.probe, command.lost)) return [];
      const { eventId, leaseUntil } = command;
      return fact("CircuitProbeClaimed", { probe: { eventId, leaseUntil }, ...lastOf(state.probe) });
    }
    case "ReleaseProbe":
      return isSame(state.probe, command.probe) ? fact("CircuitProbeReleased", { probe: null }) : [];
    case "HalfOpen":
      if (state.position !== "Open" || !mayProbe(state, command.at) || stands(state.probe, command.lost)) return [];
      return fact(
        "CircuitHalfOpened", { position: "HalfOpen", openUntil: null, probe: null, ...lastOf(state.probe) });
    case "FailProxy":
      return state.proxyProblem === undefined ? fact("OutboundProxyFailed", { proxyProblem: command.problem }) : [];
    case "RecoverProxy": {
      if (state.proxyProblem === undefined) return [];
      const { proxyProblem: _over, ...works } = before;
      return fact("OutboundProxyRecovered", {}, works);
    }
    case "Close": {
      const changes = state.position !== "Closed" || state.failures > 0 || before.pausedUntil !== undefined;
      return changes ? fact("CircuitClosed", {}, newCircuit(state.destinationId, state.tenantId)) : [];
    }
  }
}

function withoutPastPause(circuit: Circuit, at: Timestamp): Circuit {
  if (circuit.pausedUntil === undefined || circuit.pausedUntil > at) return circuit;
  const { pausedUntil: _past, ...others } = circuit;
  return others;
}

function pauseOf({ pausedUntil }: Circuit): Pick<Circuit, "pausedUntil"> {
  return pausedUntil === undefined ? {} : { pausedUntil };
}

function isOfProbe(
  { probe }: Circuit, { eventId, late }: { readonly eventId: string; readonly late: boolean },
): boolean {
  return !late && probe?.eventId === eventId;
}

function lastOf(probe: Probe | null): Pick<Circuit, "lastProbe"> {
  return probe ? { lastProbe: probe.eventId } : {};
}

function eventIdOf(command: CircuitCommand): string | null {
  if (command.type === "ReleaseProbe") return command.probe.eventId;
  return "eventId" in command ? command.eventId : null;
}

/** Whether a probe keeps another from being claimed: every probe does, except the one that is known to be lost. */
function stands(probe: Probe | null, lost: Probe | null): boolean {
  return probe !== null && !(lost && isSame(probe, lost));
}

/** Whether two probes are the same claim: an event may be claimed as a probe more than once. */
export function isSame(a: Probe | null | undefined, b: Probe): boolean {
  return a?.eventId === b.eventId && a.leaseUntil === b.leaseUntil;
}

/** Whether the circuit is half-open, or its timer has ended, so that one probe may go. */
export function mayProbe(state: Circuit, at: Timestamp): boolean {
  return state.position === "HalfOpen" || (state.openUntil !== null && state.openUntil <= at);
}

/** Circuits by the id of their destination; undefined is a closed one to which nothing has happened, see newCircuit. */
export const circuits: AggregateType<Circuit, CircuitEvent> = {
  category: "circuit",
  stream: streams.circuit,
  evolve,
  whole: true,
};

/** Facts that operators see in the log lines; a count and a probe change nothing for the destination. */
const told: Readonly<Record<string, string>> = {
  CircuitOpened: "circuit opened",
  CircuitHalfOpened: "circuit half-opened",
  CircuitClosed: "circuit closed",
};

/** Decides on a destination's circuit and appends the facts; false without any. Throws as {@link Aggregates.change}. */
export function changeCircuit(
  { aggregates, logger }: { readonly aggregates: Aggregates; readonly logger: Logger },
  { destinationId, tenantId }: Pick<Circuit, "destinationId" | "tenantId">,
  origin: Origin,
  command: CircuitCommand,
): boolean | Promise<boolean> {
  const changed = aggregates.change(circuits, destinationId, origin,
    (state = newCircuit(destinationId, tenantId)) => decide(state, command));
  return onceKnown(changed, ({ events, appended }) => {
    for (const { type, data: { failures, openUntil } } of events) {
      const line = told[type];
      if (line) logger.info({ tenantId, destinationId, failures, openUntil }, line);
    }
    return appended !== null;
  });
}
