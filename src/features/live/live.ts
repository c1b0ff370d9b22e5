import { tenantOf } from "../../kernel/domain/domain-event.ts";
import { Refusal, refuse } from "../../kernel/domain/refusal.ts";
import { categoryOf } from "../../kernel/domain/streams.ts";
import { millis } from "../../kernel/domain/time.ts";
import type { KernelParts } from "../../kernel/kernel-parts.ts";
import type { Timer } from "../../kernel/ports/clock.ts";
import {
  logStart, type EventStore, type LogEntry, type Position, type RecordedEvent, type Subscription,
} from "../../kernel/ports/event-store.ts";
import type { SessionEvent } from "../people/sessions/facts.ts";
import { framesOf, type Wanted } from "./frames.ts";
import { Resuming } from "./resuming.ts";
import { EventSenders } from "./senders.ts";
import { commentOf, FramedEntry, StreamClient, type EndReason, type StreamCaller } from "./stream-client.ts";

const most = { caller: 5, tenant: 100, process: 1_000 };
/** Categories of streams whose entries may end sessions. */
const endingSessions: ReadonlySet<string> = new Set(["tenant", "serviceAccount", "portalLink"]);
/** Frames wait so long for others, to be sent with them. */
const gatherMs = 50;
const beatMs = 500;
const commentMs = 15_000;

/** The subscription that all clients share. */
interface Run {
  /** Clients have had all of the log up to here. */
  covered: Position;
  readonly begun: Promise<Subscription>;
}

/** The clients that follow the log live, by one subscription and one timer. */
export class Live {
  readonly #parts;
  readonly #resuming: Resuming;
  readonly #senders: EventSenders;
  readonly #clients = new Map<string, Set<StreamClient>>();
  readonly #doubtful = new Set<StreamClient>();
  #count = 0;
  #run: Run | undefined;
  #beat: Timer | undefined;
  #commentAt = 0;
  #isGathering = false;
  #isStopped = false;

  constructor(
    parts: Pick<KernelParts, "aggregates" | "clock"> & {
      readonly store: Pick<EventStore, "head" | "isPosition" | "readLog" | "readStream" | "subscribe">;
      /** Whether no purge took an event of the tenant. */
      readonly isShown: (tenantId: string, eventId: string) => Promise<boolean>;
    },
  ) {
    this.#parts = parts;
    this.#senders = new EventSenders(parts.store);
    this.#resuming = new Resuming({
      ...parts, senders: this.#senders, covered: () => this.#run?.covered ?? logStart,
      failed: (client) => this.#end(client, "unavailable"),
    });
  }

  /** The texts for a new client, with `lastId` from that frame on; it displaces the oldest of too many clients. */
  async open(caller: StreamCaller, wanted: Wanted, lastId?: string): Promise<AsyncIterable<string, undefined>> {
    const { store } = this.#parts;
    if (lastId !== undefined && !store.isPosition(lastId)) {
      refuse("invalid", "Last-Event-ID: must be the id of a frame of this stream");
    }
    if (this.#isStopped) refuse("unavailable", "the process is shutting down; try again");
    const client = new StreamClient(caller, wanted, () => this.#resuming.goOn());
    if (caller.gone.aborted) return client;
    this.#makeRoom(caller);
    this.#enter(client);
    caller.gone.addEventListener("abort", () => {
      client.drop();
      this.#leave(client);
    });
    try {
      await this.#follow(client, lastId);
    } catch (error) {
      this.#leave(client);
      throw error;
    }
    return client;
  }

  /** Ends all streams. Resolves when nothing more is read. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    const run = this.#run;
    for (const client of this.#all()) this.#end(client, "shutdown");
    await run?.begun.then((subscription) => subscription.stop(), () => undefined);
  }

  async #follow(client: StreamClient, lastId: string | undefined): Promise<void> {
    const run = (this.#run ??= this.#begin());
    await run.begun;
    if (lastId === undefined) {
      client.position = run.covered;
      client.isLive = true;
      client.say(commentOf(run.covered));
      return;
    }
    client.say(commentOf(null));
    const isKnown = lastId <= (await this.#parts.store.head());
    if (!client.isOver) this.#resuming.add(client, isKnown ? lastId : null);
  }

  #begin(): Run {
    const { store, clock } = this.#parts;
    const begin = async () => {
      const head = await store.head();
      run.covered = head;
      return store.subscribe({ after: run.covered }, (entries, upTo) => this.#take(run, entries, upTo));
    };
    const run: Run = { covered: logStart, begun: begin() };
    this.#commentAt = clock.monotonic() + commentMs;
    this.#beat = clock.schedule(beatMs, () => this.#onBeat());
    return run;
  }

  async #take(run: Run, entries: readonly LogEntry[], upTo: Position): Promise<void> {
    // A frame without its sender is better than none.
    await this.#senders.learn(entries, this.#clients).catch(() => undefined);
    if (run !== this.#run) return;
    const now = this.#parts.clock.monotonic();
    for (const entry of entries) if (entry.unreadable === undefined) this.#give(entry, now);
    run.covered = upTo;
  }

  #give(entry: RecordedEvent, now: number): void {
    const clients = this.#clients.get(tenantOf(entry) ?? "");
    if (!clients) return;
    this.#heed(entry, clients);
    const frames = framesOf(entry, (eventId) => this.#senders.of(eventId));
    if (frames.length === 0) return;
    const given = new FramedEntry(entry, frames);
    for (const client of [...clients]) {
      if (!client.isLive || entry.position <= client.position) continue;
      if (!client.offer(given, now)) this.#leave(client);
    }
    this.#gather();
  }

  /** Ends the clients whose session an entry ends, and doubts those whose session it may end. */
  #heed(entry: RecordedEvent, clients: ReadonlySet<StreamClient>): void {
    const category = categoryOf(entry.stream);
    if (category === "session") {
      const { tokenId } = (entry as RecordedEvent<SessionEvent>).data;
      for (const client of [...clients]) {
        if (client.caller.credentialIds.includes(tokenId)) this.#end(client, "session over");
      }
    }
    if (!endingSessions.has(category)) return;
    this.#parts.aggregates.follow([entry]);
    const { userId, serviceAccountId, portalLinkId } = entry.data as Readonly<Partial<Record<string, string>>>;
    const id = userId ?? serviceAccountId ?? portalLinkId;
    for (const client of clients) if (id === undefined || client.caller.id === id) this.#doubtful.add(client);
    this.#gather();
  }

  #gather(): void {
    if (this.#isGathering) return;
    this.#isGathering = true;
    this.#parts.clock.schedule(gatherMs, () => {
      this.#isGathering = false;
      this.#checkDoubtful();
      for (const client of this.#all()) client.flush();
    });
  }

  #checkDoubtful(): void {
    for (const client of this.#doubtful) {
      client.caller.check().then(
        () => this.#doubtful.delete(client),
        (error: unknown) => {
          const isOver = error instanceof Refusal && error.kind !== "unavailable";
          if (isOver) this.#end(client, "session over");
        },
      );
    }
  }

  #onBeat(): void {
    const { clock } = this.#parts;
    const [now, time] = [clock.monotonic(), clock.now()];
    const isCommented = now >= this.#commentAt;
    if (isCommented) this.#commentAt = now + commentMs;
    this.#checkDoubtful();
    for (const client of this.#all()) {
      const { expiresAt } = client.caller;
      if (expiresAt !== null && millis(expiresAt) <= time) {
        this.#end(client, "expired");
        continue;
      }
      client.passSecond(now);
      if (isCommented) client.say(commentOf(this.#reached(client)));
      client.flush();
    }
    if (this.#count > 0) this.#beat = clock.schedule(beatMs, () => this.#onBeat());
  }

  /** Up to where the client has had the log; null while that is not known. */
  #reached(client: StreamClient): Position | null {
    const covered = this.#run?.covered ?? logStart;
    return client.isLive && client.position <= covered && !client.hasDropped ? covered : null;
  }

  /** Ends a client where there is no place for another. Throws a Refusal (too-many) where the tenant has all of its. */
  #makeRoom({ tenantId, id }: StreamCaller): void {
    const clients = [...(this.#clients.get(tenantId) ?? [])];
    const own = clients.filter(({ caller }) => caller.id === id);
    if (own.length >= most.caller) return this.#displace(own);
    if (clients.length >= most.tenant) refuse("too-many", `the tenant has ${most.tenant} streams already; close one`);
    if (this.#count >= most.process) {
      this.#displace([...this.#clients.values()].reduce((one, other) => (other.size > one.size ? other : one)));
    }
  }

  #displace([oldest]: Iterable<StreamClient>): void {
    if (oldest) this.#end(oldest, "displaced");
  }

  #all(): StreamClient[] {
    return [...this.#clients.values()].flatMap((clients) => [...clients]);
  }

  #enter(client: StreamClient): void {
    const { tenantId } = client.caller;
    this.#clients.set(tenantId, (this.#clients.get(tenantId) ?? new Set()).add(client));
    this.#count += 1;
  }

  #end(client: StreamClient, reason: EndReason): void {
    client.end(reason);
    this.#leave(client);
  }

  #leave(client: StreamClient): void {
    const { tenantId } = client.caller;
    const clients = this.#clients.get(tenantId);
    if (!clients?.delete(client)) return;
    if (clients.size === 0) this.#clients.delete(tenantId);
    this.#resuming.delete(client);
    this.#doubtful.delete(client);
    this.#count -= 1;
    if (this.#count > 0) return;
    this.#beat?.cancel();
    void this.#run?.begun.then((subscription) => subscription.stop(), () => undefined);
    this.#run = undefined;
  }
}
