import { tenantOf } from "../../kernel/domain/domain-event.ts";
import { unlessRefused } from "../../kernel/domain/refusal.ts";
import { LongReads } from "../../kernel/log/long-reads.ts";
import { type Clock, sleep } from "../../kernel/ports/clock.ts";
import type { EventStore, LogEntry, Position } from "../../kernel/ports/event-store.ts";
import { eventFactsIn } from "../messages/facts.ts";
import { frameText, framesOf, type Frame } from "./frames.ts";
import type { EventSenders } from "./senders.ts";
import { FramedEntry, type StreamClient } from "./stream-client.ts";

const mostBack = 100_000;
/** Entries of one portion: decoded in a few milliseconds, in which nobody else is served. */
const portionEntries = 256;
/** The rest between two portions, in which others are served. */
const restMs = 5;
const accepting: ReadonlySet<string> = new Set(["EventAccepted", "MessageAccepted"]);

interface ResumingParts {
  readonly store: Pick<EventStore, "readLog" | "readStream">;
  readonly clock: Clock;
  readonly senders: EventSenders;
  /** Up to where live clients have been served. */
  readonly covered: () => Position;
  /** Whether an event is still shown: a purge that took it may not have removed its facts from the log yet. */
  readonly isShown: (tenantId: string, eventId: string) => Promise<boolean>;
  /** Called with the clients whose past cannot be read. */
  readonly failed: (client: StreamClient) => void;
}

interface Behind {
  readonly client: StreamClient;
  readonly from: Position;
  /** How many entries were counted behind that; null once they are known to be few enough. */
  counted: number | null;
}

/** A part of the log, and the end of what live clients have had. */
interface Portion {
  readonly entries: readonly LogEntry[];
  readonly upTo: Position;
  readonly isLast: boolean;
  readonly frames: Map<LogEntry, FramedEntry>;
  /** Acceptances of purged events, of tenants with a client that wants payloads. */
  readonly purged: ReadonlySet<LogEntry>;
}

/** Brings clients from their last frames to the present: the log is read once for all, by turns of tenants. */
export class Resuming {
  readonly #parts: ResumingParts;
  /** By tenant; whose turn it was last is at the end. */
  readonly #behind = new Map<string, Set<Behind>>();
  #isReading = false;

  constructor(parts: ResumingParts) {
    this.#parts = parts;
  }

  /** A client goes on from its last frame, or, at null, from the present: its last frame is not in the log. */
  add(client: StreamClient, from: Position | null): void {
    if (from === null) return this.#skip(client);
    client.position = from;
    const { tenantId } = client.caller;
    const clients = this.#behind.get(tenantId) ?? new Set();
    this.#behind.set(tenantId, clients.add({ client, from, counted: 0 }));
    this.goOn();
  }

  delete(client: StreamClient): void {
    const { tenantId } = client.caller;
    const clients = this.#behind.get(tenantId);
    for (const one of clients ?? []) if (one.client === client) clients?.delete(one);
    if (clients?.size === 0) this.#behind.delete(tenantId);
  }

  /** Reads on, if a client has room for more. */
  goOn(): void {
    if (this.#isReading) return;
    this.#isReading = true;
    void this.#read().finally(() => (this.#isReading = false));
  }

  async #read(): Promise<void> {
    for (let next = this.#next(); next; next = this.#next()) {
      try {
        await this.#readFor(next);
      } catch {
        this.#parts.failed(next.client);
      }
      await sleep(this.#parts.clock, restMs);
    }
  }

  #next(): Behind | undefined {
    for (const [tenantId, clients] of this.#behind) {
      const next = [...clients].find(({ client }) => client.hasRoom);
      if (!next) continue;
      this.#behind.delete(tenantId);
      this.#behind.set(tenantId, clients);
      clients.delete(next);
      clients.add(next);
      return next;
    }
    return undefined;
  }

  async #readFor({ client: { position: after } }: Behind): Promise<void> {
    const { store } = this.#parts;
    const { entries, upTo } = await LongReads.of(store).run("stream", (turn) =>
      turn(() => store.readLog(after, portionEntries)));
    const isEnd = () => upTo >= this.#parts.covered() || upTo === after;
    await this.#parts.senders.learn(entries, this.#behind);
    const purged = await this.#purgedOf(entries, isEnd());
    // Live clients may have had more meanwhile.
    const isLast = isEnd();
    const portion: Portion = { entries, upTo, isLast, frames: new Map(), purged };
    for (const clients of [...this.#behind.values()]) {
      for (const one of [...clients]) {
        const { position } = one.client;
        if (position >= after && (position < upTo || isLast) && one.client.hasRoom) this.#advance(one, portion);
      }
    }
  }

  /** `isLast`: whether clients that still count may get these entries at once. */
  async #purgedOf(entries: readonly LogEntry[], isLast: boolean): Promise<ReadonlySet<LogEntry>> {
    const getsFrames = ({ counted, from, client: { position } }: Behind) =>
      counted === null || (isLast && position === from);
    const purged = new Set<LogEntry>();
    for (const entry of entries) {
      if (entry.unreadable !== undefined || !accepting.has(entry.type)) continue;
      const clients = [...(this.#behind.get(tenantOf(entry) ?? "") ?? [])];
      const isAsked = clients.some((one) => one.client.wanted.payload && getsFrames(one));
      for (const { data: { tenantId, eventId } } of isAsked ? eventFactsIn(entry) : []) {
        if (!(await this.#isShown(tenantId, eventId))) purged.add(entry);
      }
    }
    return purged;
  }

  /** Also false where that cannot be known. */
  #isShown(tenantId: string, eventId: string): Promise<boolean> {
    return unlessRefused(() => this.#parts.isShown(tenantId, eventId));
  }

  #advance(one: Behind, portion: Portion): void {
    const { client, from } = one;
    const start = client.position;
    if (one.counted !== null) {
      one.counted += portion.entries.filter(({ position }) => position > start).length;
      if (one.counted > mostBack) return this.#skip(client);
      client.position = portion.upTo;
      if (!portion.isLast) return;
      one.counted = null;
      client.position = from;
      // What was read before this portion has to be read again.
      if (start !== from) return;
    }
    if (this.#give(client, portion) && portion.isLast) this.#arrive(client);
    client.flush();
  }

  #give(client: StreamClient, { entries, upTo, frames, purged }: Portion): boolean {
    for (const entry of entries) {
      const isOwn = entry.unreadable === undefined && tenantOf(entry) === client.caller.tenantId;
      if (entry.position <= client.position || !isOwn) continue;
      if (!client.hasRoom) return false;
      const made = () => framesOf(entry, (id) => this.#parts.senders.of(id));
      const known = frames.get(entry) ?? new FramedEntry(entry, made().map((frame) =>
        (purged.has(entry) ? withoutPayload(frame) : frame)));
      frames.set(entry, known);
      client.resume(known);
      client.position = entry.position;
    }
    if (upTo > client.position) client.position = upTo;
    return true;
  }

  /** Tells the client that it lost entries, and goes on with it from the present. */
  #skip(client: StreamClient): void {
    const head = this.#parts.covered();
    client.position = head;
    client.say(`${frameText("gone", { head })}id: ${head}\n\n`);
    this.#arrive(client);
    client.flush();
  }

  #arrive(client: StreamClient): void {
    this.delete(client);
    client.isLive = true;
  }
}

function withoutPayload({ withPayload: _, ...frame }: Frame): Frame {
  return frame;
}
