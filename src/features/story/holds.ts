import type { FactDeclaration } from "../../kernel/domain/fact.ts";
import type { Timestamp } from "../../kernel/domain/time.ts";
import type { CircuitEvent } from "../circuits/facts.ts";
import { destinationFacts } from "../destinations/facts.ts";
import {
  type Cause, type StoryEntry, cause, circuitEntry, destinationEntry, type StoryFacts, type Told,
} from "./story.ts";

/** A time in which a destination's events were held, by what its own facts and those of its circuit say. */
export interface Hold {
  readonly cause: Cause;
  readonly began: StoryEntry;
  /** The entry with which it ended; null if there is none. */
  readonly ended: StoryEntry | null;
  /** When it ended, or ends by itself; null if that is not known. */
  readonly over: Timestamp | null;
  /** When it was planned to end; null if it was not. */
  readonly until: Timestamp | null;
}

/** The holds that concerned an event, in the order of their beginnings. */
export function holdsOf({ destination, circuit, event }: StoryFacts): Hold[] {
  const own = event[0]?.data.eventId ?? "";
  const ofCircuit = [...outages(circuit, own), ...pauses(circuit, own), ...proxyFailures(circuit)];
  const holds = [...inactivity(destination), ...ofCircuit];
  return holds.sort((one, other) => (one.began.position < other.began.position ? -1 : 1));
}

function inactivity(facts: StoryFacts["destination"]): Hold[] {
  const holds: Hold[] = [];
  let began: StoryEntry | undefined;
  const end = (ended: StoryEntry | null) => {
    if (began) holds.push({ cause: cause("destination-inactive", began), began, ended, ...endOf(ended) });
    began = undefined;
  };
  for (const fact of facts) {
    const { sets }: FactDeclaration = destinationFacts[fact.type];
    if (sets?.["status"] === "Inactive") began ??= destinationEntry(fact);
    else if (sets?.["status"]) end(destinationEntry(fact));
  }
  end(null);
  return holds;
}

/** While the circuit is open, or another event is the probe. The event's own probe ends it for that event. */
function outages(facts: StoryFacts["circuit"], own: string): Hold[] {
  const holds: Hold[] = [];
  let began: Told<CircuitEvent> | undefined;
  let openUntil: Timestamp | null = null;
  const end = (ended: StoryEntry | null) => {
    if (!began) return;
    const { failures } = began.data;
    const entry = circuitEntry(began);
    const because = cause("circuit-open", entry, { failures, openUntil });
    holds.push({ cause: because, began: entry, ended, ...endOf(ended, openUntil) });
    began = undefined;
  };
  for (const fact of facts) {
    const { position, probe } = fact.data;
    const holdsIt = probe ? probe.eventId !== own : position === "Open";
    if (!holdsIt) end(circuitEntry(fact));
    else {
      began ??= fact;
      openUntil = fact.data.openUntil;
    }
  }
  end(null);
  return holds;
}

/** The pauses that 429s of other events asked for. */
function pauses(facts: StoryFacts["circuit"], own: string): Hold[] {
  const holds: Hold[] = [];
  let before: Timestamp | undefined;
  for (const fact of facts) {
    const { pausedUntil, eventId } = fact.data;
    if (pausedUntil !== before) {
      // The pause before was prolonged, or a person ended it.
      const last = holds.at(-1);
      if (last?.ended === null) holds.splice(-1, 1, endedEarly(last, circuitEntry(fact)));
      if (pausedUntil !== undefined && eventId !== own) {
        const began = circuitEntry(fact);
        const because = cause("receiver-pause", began, { pausedUntil, eventId });
        holds.push({ cause: because, began, ended: null, over: pausedUntil, until: pausedUntil });
      }
    }
    before = pausedUntil;
  }
  return holds;
}

/** While the outbound proxy failed. */
function proxyFailures(facts: StoryFacts["circuit"]): Hold[] {
  const holds: Hold[] = [];
  let began: { readonly entry: StoryEntry; readonly error: string } | undefined;
  const end = (ended: StoryEntry | null) => {
    if (!began) return;
    const { entry, error } = began;
    holds.push({ cause: cause("proxy", entry, { error }), began: entry, ended, ...endOf(ended) });
    began = undefined;
  };
  for (const fact of facts) {
    const error = "proxyProblem" in fact.data ? fact.data.proxyProblem : undefined;
    if (error === undefined) end(circuitEntry(fact));
    else began ??= { entry: circuitEntry(fact), error };
  }
  end(null);
  return holds;
}

/** A pause ends by itself, unless an entry ended it before. */
function endedEarly(hold: Hold, ended: StoryEntry): Hold {
  const isEarly = hold.over !== null && ended.time < hold.over;
  return { ...hold, ended, over: isEarly ? ended.time : hold.over };
}

function endOf(ended: StoryEntry | null, until: Timestamp | null = null): Pick<Hold, "over" | "until"> {
  return { over: ended?.time ?? null, until };
}
