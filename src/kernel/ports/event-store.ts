import type { DomainEvent, Metadata } from "../domain/domain-event.ts";
import { categoryOf } from "../domain/streams.ts";

/** A place in the log, opaque but for its order: a later entry has the larger string. */
export type Position = string;
/** Before the first entry: a subscription that starts here gets the whole log. */
export const logStart: Position = "";

/** The revision of a stream without entries; as an expectation: "it does not exist, nor is deleted for good". */
export const noStream = -1;

/** A fact to append. An append that is repeated with the same ids (UUIDs) and revision succeeds as the first did. */
export interface NewEntry {
  readonly id: string;
  readonly event: DomainEvent;
  readonly metadata: Metadata & { readonly salt: string };
}

/** Where an entry stands, and its id. */
export interface EntryHead {
  readonly stream: string;
  /** 0 for the stream's first entry; never reused, not even after a deletion. */
  readonly revision: number;
  readonly position: Position;
  readonly id: string;
}

/** A fact as it stands in the log, validated and brought to its newest version. Shared: never change it. */
export type RecordedEvent<Event extends DomainEvent = DomainEvent> =
  EntryHead & Event & { readonly metadata: Metadata; readonly unreadable?: undefined };

/** An entry that cannot be read as a fact. Its stream is left alone from there on. */
export interface UnreadableEntry extends EntryHead {
  readonly type: string;
  readonly unreadable: string;
  /** True: a newer release can read it, and its stream waits for that one. False: it is damaged, nobody can. */
  readonly newer: boolean;
}

/** An entry of a stream or of the whole log; `unreadable` tells the two kinds apart. */
export type LogEntry = RecordedEvent | UnreadableEntry;

/** When an entry was written. */
export interface EntryTime {
  readonly position: Position;
  /** ISO 8601 UTC; null for an entry whose time cannot be read. */
  readonly at: string | null;
}

/** The times of entries. */
export function timesOf(entries: readonly LogEntry[]): readonly EntryTime[] {
  return entries.map((entry) =>
    ({ position: entry.position, at: entry.unreadable === undefined ? entry.metadata.at : null }));
}

/** Where in the log an append is; one that was repeated gets the place of the first. */
export interface Appended {
  readonly revision: number;
  readonly position: Position;
}

/** The stream was not at the expected revision, or is deleted for good. */
export class RevisionConflict extends Error {
  readonly stream: string;
  readonly expected: number;
  readonly actual: number;

  constructor(stream: string, expected: number, actual: number) {
    super(`${stream} is at revision ${actual}, expected ${expected}`);
    this.name = "RevisionConflict";
    this.stream = stream;
    this.expected = expected;
    this.actual = actual;
  }
}

/** The log cannot be reached or does not answer in time. Whether an append happened may be unknown. */
export class LogUnavailable extends Error {
  override readonly name: string = "LogUnavailable";
}

/** The append is not valid under its event's schema, or larger than the engine takes. */
export class UnacceptableEntry extends Error {
  override readonly name: string = "UnacceptableEntry";
}

/** The append is larger than the engine takes, all its entries together. */
export class EntryTooLarge extends UnacceptableEntry {
  override readonly name: string = "EntryTooLarge";
}

/** Takes a batch over. `upTo`: so far the whole log was looked at. A handler that throws gets the same batch again. */
export type BatchHandler = (entries: readonly LogEntry[], upTo: Position) => void | Promise<void>;

/** Which entries of the log are wanted. */
export interface Wanted {
  readonly categories?: readonly string[];
  readonly types?: readonly string[];
}

/** Whether an entry is among the wanted ones. */
export function isWanted(
  { stream, type }: { readonly stream: string; readonly type: string }, { categories, types }: Wanted,
): boolean {
  return (types?.includes(type) ?? true) && (categories?.includes(categoryOf(stream)) ?? true);
}

/** Where a subscription begins, and which entries its handler gets. */
export interface SubscriptionOptions extends Wanted {
  readonly after: Position;
  /** `upTo` is needed soon, also where no wanted entry comes: some engines report it only now and then otherwise. */
  readonly prompt?: boolean;
}

/** A handler that follows the log until it is stopped; failures do not end it. */
export interface Subscription {
  stop(): Promise<void>;
}

/** The log as a whole. Its promises reject with LogUnavailable where the engine does not answer. */
export interface EventLog {
  /** Up to `limit` entries after `after`, in order, and the position they reach. */
  readLog(after: Position, limit: number): Promise<{ readonly entries: readonly LogEntry[]; readonly upTo: Position }>;
  /** Positions and times of up to `limit` entries after `after`, in order, and the position they reach. */
  readTimes(after: Position, limit: number): Promise<{ readonly times: readonly EntryTime[]; readonly upTo: Position }>;
  /** The position of the newest committed entry. */
  head(): Promise<Position>;
  /** The log's end, behind an engine's own records after the newest entry: no `upTo` is beyond it. */
  end(): Promise<Position>;
  /** Whether a text can be a position of this engine. Positions of other engines, and {@link logStart}, are none. */
  isPosition(text: string): boolean;
  /** Catches up, then follows live. Survives the engine's restarts: it resumes where it was. */
  subscribe(options: SubscriptionOptions, handle: BatchHandler): Subscription;
}

/** Which entries of a stream are read; without any options all of them, first one first. */
export interface ReadOptions {
  readonly from?: number;
  readonly limit?: number;
  readonly backwards?: boolean;
  /** Where the stream's first entry is: reading that one alone (`limit` 1) then spares an engine the search for it. */
  readonly beginsAt?: Position;
}

export interface AppendOptions {
  readonly mayWait?: boolean;
}

export interface DeleteOptions {
  /** The stream never begins again, see {@link EventStore.deleteStream}. */
  readonly forGood?: boolean;
}

/** The event store: the least that every engine offers. An append is durable when it resolves, and all or nothing. */
export interface EventStore extends EventLog {
  /** Throws RevisionConflict, UnacceptableEntry or LogUnavailable. */
  append(
    stream: string, expected: number, entries: readonly NewEntry[], options?: AppendOptions,
  ): Promise<Appended>;
  /** Entries of a stream from revision `from` on, none where it does not exist or is deleted. Throws LogUnavailable. */
  readStream(stream: string, options?: ReadOptions): Promise<readonly LogEntry[]>;
  /**
   * Deletes a stream's entries. Throws RevisionConflict, and deletes nothing, if it has some and is not at `expected`;
   * an append that succeeded before and left it elsewhere stays. The stream may begin again: revisions go on, maybe
   * behind a gap. After a deletion for good it may not, even if it had never begun: every append, at any revision and
   * also the repetition of an earlier one, throws RevisionConflict with {@link noStream} as the actual revision.
   */
  deleteStream(stream: string, expected?: number, options?: DeleteOptions): Promise<void>;
}
