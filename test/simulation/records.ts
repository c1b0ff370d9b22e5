import type { SimulatedProcess } from "./process.ts";
import type { Purgeable, Purging } from "./purged.ts";
import type { Call } from "./receivers.ts";
import type { Settings } from "./settings.ts";

/** One attempt, as known from the log and the receivers. */
export interface AttemptRecord {
  readonly number: number;
  readonly by: SimulatedProcess;
  readonly worker: string;
  readonly url: string;
  readonly authType: string | null;
  readonly probe: boolean;
  /** The time at which its claim became durable, ms of the simulation. */
  readonly claimedAt: number;
  /** Its call at the receiver, once there is one. */
  call?: Call;
  /** Its outcome in the log, other than unknown. */
  ending?: { readonly ok: boolean; readonly reason: string | null; readonly statusCode: number | null };
  givenUp: boolean;
}

/** One accepted event, from its acceptance on. */
export interface EventRecord extends Purgeable {
  readonly id: string;
  readonly idempotencyKey: string | null;
  readonly payload: string;
  /** Of a delivery: its message, and the subscription that matched. */
  readonly routed: { readonly messageId: string; readonly subscriptionId: string } | null;
  /** Whether it is a test event. */
  readonly test: boolean;
  /** The time of its acceptance, ms of the simulation. */
  readonly since: number;
  readonly attempts: AttemptRecord[];
  retryCount: number;
  /** The number of the relay's own failures in a row. */
  ownFailures: number;
  /** The number of its attempts when it was last resent. */
  resentAfter: number;
  /** The time of its last change of status, ms of the simulation. */
  movedAt: number;
  nextAttemptAt: string | null;
  /** The position of its acceptance, or of its last replay or resend. */
  place: string;
  /** Its slot in its destination's order; null without an order. */
  slot: number | null;
  /** What it shares with the events that are sent before and after it; null where that is none, or not sure. */
  line: string | null;
  /** Whether its stream is deleted. */
  deleted: boolean;
}

/** The values of a setting, each with the time since which it holds (ms of the simulation). */
export type Past<Value> = { readonly since: number; readonly value: Value }[];

/** A destination with its circuit, and their past values. */
export interface DestinationRecord {
  readonly id: string;
  readonly tenantId: string;
  readonly limits: Past<number>;
  /** By the revision of its stream. */
  readonly settings: Settings[];
  readonly open: Past<boolean>;
  /** Whether its circuit lets everything through. */
  readonly closed: Past<boolean>;
  readonly probes: Past<string | null>;
  /** Outcomes of attempts that say something about the receiver, in the order of their commit. */
  readonly outcomes: { readonly at: number; readonly ok: boolean }[];
  /** The number of attempts without an end in the log. */
  underWay: number;
  /** The last time at which the limit was reached, ms of the simulation. */
  fullUntil: number;
  circuit: string;
  /** Pauses asked for by 429s, ms of the simulation, and the process that received the 429; null: from the log. */
  readonly pauses: { readonly by: SimulatedProcess | null; readonly from: number; readonly until: number }[];
  /** The latest end of a pause. */
  pausedUntil: number;
  /** The end of the pause in the circuit's newest fact. */
  loggedPause: string | null;
  /** The newest probe of this outage that was tried or lost. */
  lastProbe: string | null;
  /** The time until which an open circuit lets no request through. */
  openUntil: string | null;
  failures: number;
  deleted: boolean;
  active: boolean;
}

/** A tenant, with its past settings. */
export interface TenantRecord extends Purging {
  readonly id: string;
  /** The hash by which its name is compared. */
  nameHash: string;
  /** The hashes by which its users' emails are compared. */
  readonly emailHashes: Set<string>;
  readonly maxTrys: Past<number>;
  readonly timers: Past<number>;
}

/** The values that were in force at some time since `from`. */
export function inForce<Value>(past: Past<Value>, from: number): Value[] {
  return past.filter((_, at) => (past[at + 1]?.since ?? Infinity) >= from).map(({ value }) => value);
}

/** The largest possible number of failures in a row: a recorded outcome may be counted `newsMs` later. */
export function failuresInARow({ outcomes }: DestinationRecord, now: number, newsMs: number): number {
  const known = outcomes.findLast(({ at, ok }) => ok && at < now - newsMs)?.at ?? -Infinity;
  return outcomes.filter(({ at, ok }) => !ok && at >= known - newsMs).length;
}

/** Whether an attempt at one of the events failed through its receiver. */
export function hasFailed(events: readonly (EventRecord | undefined)[]): boolean {
  return events.some((event) => !event?.test && event?.attempts.some(({ ending }) =>
    ending?.ok === false && ending.reason !== "not sent" && ending.statusCode !== 429));
}

/** The status of the receiver's answer in the data of a fact; null without an answer. */
export function statusCodeOf(data: Readonly<Record<string, unknown>>): number | null {
  return (data["answer"] as { readonly statusCode: number } | null)?.statusCode ?? null;
}
