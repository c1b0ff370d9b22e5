import type { SimulatedProcess } from "./process.ts";
import type { Purgeable, Purging } from "./purged.ts";
import type { Call } from "./receivers.ts";
import type { Settings } from "./settings.ts";

/** One attempt, as the log and the receivers told of it. */
export interface AttemptRecord {
  readonly number: number;
  readonly by: SimulatedProcess;
  readonly worker: string;
  readonly url: string;
  readonly authType: string | null;
  readonly probe: boolean;
  /** When its claim became durable, ms of the simulation. */
  readonly claimedAt: number;
  /** The receiver's side of it, once there is one. */
  call?: Call;
  /** Its real outcome in the log. */
  ending?: { readonly ok: boolean; readonly reason: string | null; readonly statusCode: number | null };
  givenUp: boolean;
}

/** One accepted event, from its acceptance on. */
export interface EventRecord extends Purgeable {
  readonly id: string;
  readonly idempotencyKey: string | null;
  readonly payload: string;
  /** When it was accepted, ms of the simulation. */
  readonly since: number;
  readonly attempts: AttemptRecord[];
  retryCount: number;
  /** How many failures in a row were the relay's own. */
  ownFailures: number;
  /** Since when it is in its status, ms of the simulation. */
  movedAt: number;
  nextAttemptAt: string | null;
  /** Its stream is gone. */
  deleted: boolean;
}

/** What a setting was, and since when (ms of the simulation). */
export type Past<Value> = { readonly since: number; readonly value: Value }[];

/** A destination with its circuit, as they were and are. */
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
  /** Outcomes of attempts that say something of the receiver, as they became durable. */
  readonly outcomes: { readonly at: number; readonly ok: boolean }[];
  /** Attempts that have no end yet, by the log. */
  underWay: number;
  /** Until when there was no room for another attempt, ms of the simulation. */
  fullUntil: number;
  circuit: string;
  /** What 429s asked for, ms of the simulation, and the process that heard it; null: as the log tells everybody. */
  readonly pauses: { readonly by: SimulatedProcess | null; readonly from: number; readonly until: number }[];
  /** The latest end of these. */
  pausedUntil: number;
  /** As the circuit's newest fact says. */
  loggedPause: string | null;
  /** The newest probe of this outage that was tried, or was lost. */
  lastProbe: string | null;
  /** Until when an open circuit lets nothing through. */
  openUntil: string | null;
  failures: number;
  deleted: boolean;
  active: boolean;
}

/** A tenant, as it was and is. */
export interface TenantRecord extends Purging {
  readonly id: string;
  /** What its name is compared by. */
  nameHash: string;
  /** What its users' emails are compared by. */
  readonly emailHashes: Set<string>;
  readonly maxTrys: Past<number>;
  readonly timers: Past<number>;
}

/** What of a past was in force at some time since `from`. */
export function inForce<Value>(past: Past<Value>, from: number): Value[] {
  return past.filter((_, at) => (past[at + 1]?.since ?? Infinity) >= from).map(({ value }) => value);
}
