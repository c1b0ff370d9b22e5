import { setTimeout as pause } from "node:timers/promises";
import type streams from "@eventstore/db-client/generated/streams_pb.js";
import { status } from "@grpc/grpc-js";
import { tombstoneRevision, type Database } from "./database.ts";
import type { Faults } from "./faults.ts";
import {
  caughtUpMessage, checkpointMessage, confirmationMessage, eventMessage, failure, nameOf, streamDeleted,
} from "./messages.ts";
import { CallFailure, matcherOf, send, startAt, type ReadCall } from "./reads.ts";
import type { Behaviour } from "./release.ts";

/** Records that a filtered subscription scans in one go unless its client says otherwise. */
const defaultWindow = 32;
/** -1 as the wire has it. */
const unsignedMinusOne = 2n ** 64n - 1n;
/** Records looked at before others have their turn. */
const recordsAtOnce = 256;

/** Follows $all until the client goes: events behind the position, then live ones; checkpoints when filtered. */
export async function subscribeToAll(
  database: Database, faults: Faults, behaviour: Behaviour, call: ReadCall, options: streams.ReadReq.Options,
): Promise<void> {
  const follower = new AllFollower(database, faults, behaviour, call, options);
  await follower.run();
}

class AllFollower {
  readonly #database: Database;
  readonly #faults: Faults;
  readonly #behaviour: Behaviour;
  readonly #call: ReadCall;
  readonly #matches: ReturnType<typeof matcherOf>;
  readonly #filtered: boolean;
  readonly #window: number;
  readonly #checkpointEvery: number;
  readonly #generation: number;
  #next: number;
  #scanned = 0;
  /** Whether it looked at the log from its start and has found nothing. */
  #isEmpty: boolean;

  constructor(
    database: Database, faults: Faults, behaviour: Behaviour, call: ReadCall, options: streams.ReadReq.Options,
  ) {
    this.#database = database;
    this.#faults = faults;
    this.#behaviour = behaviour;
    this.#generation = faults.generation;
    this.#call = call;
    this.#matches = matcherOf(options);
    const filter = options.getFilter();
    this.#filtered = filter !== undefined;
    this.#window = filter?.hasMax() ? filter.getMax() : defaultWindow;
    this.#checkpointEvery = this.#window * (filter?.getCheckpointintervalmultiplier() ?? 1);
    const all = options.getAll()!;
    const position = all.getPosition();
    this.#isEmpty = all.hasStart();
    const { beginsAtUnmatched } = behaviour;
    this.#next = position ? firstBehind(database, position, beginsAtUnmatched) : all.hasEnd() ? database.length : 0;
  }

  async run(): Promise<void> {
    const changes = new Changes(this.#database, this.#call);
    try {
      await send(this.#call, confirmationMessage());
      await this.#catchUp();
      if (this.#filtered && this.#isEmpty && this.#behaviour.tellsEmptySearch) {
        await send(this.#call, checkpointMessage(unsignedMinusOne, unsignedMinusOne));
      }
      await send(this.#call, caughtUpMessage());
      while (!this.#call.cancelled) {
        await this.#follow();
        await changes.next();
      }
    } finally {
      changes.stop();
    }
  }

  /** Reads page by page. The checkpoint of a page without a match is the page's beginning, as {X, 0}. */
  async #catchUp(): Promise<void> {
    while (this.#next < this.#database.length && !this.#call.cancelled) {
      const start = this.#next;
      const end = Math.min(start + (this.#filtered ? this.#window : recordsAtOnce), this.#database.length);
      let last: bigint | undefined;
      for (; this.#next < end; this.#next++) {
        if (await this.#offer(this.#next)) last = this.#database.positionAt(this.#next);
      }
      this.#scanned += end - start;
      const finished = this.#next >= this.#database.length;
      if (!this.#filtered || (this.#scanned < this.#checkpointEvery && !finished)) continue;
      this.#scanned = 0;
      const at = last ?? this.#database.positionAt(start);
      await send(this.#call, checkpointMessage(at, last === undefined ? 0n : at));
    }
  }

  async #follow(): Promise<void> {
    while (this.#next < this.#database.length && !this.#call.cancelled && !this.#isMuted()) {
      const index = this.#next++;
      await this.#offer(index, this.#behaviour.cutsSlowConsumers);
      if (!this.#filtered || ++this.#scanned < this.#checkpointEvery) continue;
      this.#scanned = 0;
      const at = this.#database.positionAt(index);
      await send(this.#call, checkpointMessage(at, at));
    }
  }

  #isMuted(): boolean {
    return this.#faults.generation !== this.#generation;
  }

  /** Sends the event if it matches; true when it does. `hasty`: throws where the client is too slow to take it. */
  async #offer(index: number, hasty = false): Promise<boolean> {
    if (this.#faults.frozen) await this.#faults.frozen;
    const event = this.#database.at(index);
    if (!event || !this.#matches(event)) return false;
    this.#isEmpty = false;
    this.#faults.followed += 1;
    const taken = send(this.#call, eventMessage(event));
    if (hasty && taken) await orTooSlow(taken, this.#faults.slowConsumerMs);
    else if (taken) await taken;
    return true;
  }
}

async function orTooSlow(taken: Promise<void>, ms: number): Promise<void> {
  const over = new AbortController();
  const tooSlow = pause(ms, undefined, { signal: over.signal, ref: false }).then(() => {
    throw new CallFailure(failure(
      status.ABORTED,
      "Operation timed out: Consumer too slow to handle event while live. Client resubscription required.",
    ));
  });
  await Promise.race([taken, tooSlow]).finally(() => {
    tooSlow.catch(() => undefined);
    over.abort();
  });
}

/** Follows one stream: revisions behind the given one. */
export async function subscribeToStream(
  database: Database, call: ReadCall, options: streams.ReadReq.Options,
): Promise<void> {
  const wanted = options.getStream()!;
  const name = nameOf(wanted.getStreamIdentifier());
  const last = () => database.stream(name)?.last?.revision ?? -1n;
  let reached = wanted.hasRevision() ? BigInt(wanted.getRevision()) : wanted.hasEnd() ? last() : -1n;
  let caughtUp = false;
  const changes = new Changes(database, call);
  try {
    await send(call, confirmationMessage());
    while (!call.cancelled) {
      const stream = database.stream(name);
      for (const event of stream?.read(reached + 1n, Infinity, false) ?? []) {
        await send(call, eventMessage(event));
        reached = event.revision;
      }
      if (stream?.tombstone) {
        if (reached < tombstoneRevision) await send(call, eventMessage(stream.tombstone));
        throw new CallFailure(streamDeleted(name));
      }
      // A subscription to a missing stream is caught up only after the stream's first event.
      if (!caughtUp && stream?.last) {
        caughtUp = true;
        await send(call, caughtUpMessage());
      }
      await changes.next();
    }
  } finally {
    changes.stop();
  }
}

/** Wakes one subscription after a change. */
class Changes {
  #changed = false;
  #wake: () => void = () => undefined;
  readonly stop: () => void;

  constructor(database: Database, call: ReadCall) {
    const notice = () => {
      this.#changed = true;
      this.#wake();
    };
    this.stop = database.onChange(notice);
    call.on("cancelled", notice);
    call.on("close", notice);
  }

  /** Resolves when something has changed since the last time, or the client is gone. */
  async next(): Promise<void> {
    if (!this.#changed) await new Promise<void>((resolve) => (this.#wake = resolve));
    this.#changed = false;
  }
}

/** The index of the first record behind a position, the pair compared: (X, 0) may count as before the record at X. */
function firstBehind(
  database: Database, position: streams.ReadReq.Options.Position, beginsAtUnmatched: boolean,
): number {
  const index = startAt(database, position);
  const [commit, prepare] = [BigInt(position.getCommitPosition()), BigInt(position.getPreparePosition())];
  const isAt = index < database.length && database.positionAt(index) === commit;
  return isAt && (prepare === commit || !beginsAtUnmatched) ? index + 1 : index;
}
