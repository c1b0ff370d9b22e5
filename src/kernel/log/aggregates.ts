import type { DomainEvent } from "../domain/domain-event.ts";
import { categoryOf } from "../domain/streams.ts";
import type { Clock } from "../ports/clock.ts";
import {
  noStream, RevisionConflict, type Appended, type EventStore, type LogEntry, type NewEntry, type Position,
  type UnreadableEntry,
} from "../ports/event-store.ts";
import type { Ids } from "../ports/ids.ts";
import { RecentlyUsed } from "../tools/recently-used.ts";
import { readPages } from "./long-reads.ts";
import { entriesOf, type Origin } from "./origin.ts";
import { refuseUnreadable } from "./unreadable.ts";

/** How the streams of one category fold into a state. */
export interface AggregateType<State, Event extends DomainEvent> {
  readonly category: string;
  readonly stream: (id: string) => string;
  readonly evolve: (state: State | undefined, event: Event, position: Position) => State | undefined;
  /** Each fact holds the whole state, so only the newest is read. */
  readonly whole?: true;
}

/** A state and the revision of its stream; undefined and -1 where the stream does not exist. */
export interface Folded<State> {
  readonly state: State | undefined;
  readonly revision: number;
}

interface Known extends Folded<unknown> {
  readonly unreadable?: UnreadableEntry;
}

/** The decided facts and their place in the log; null if there are none. */
export interface Changed<Event> {
  readonly events: readonly Event[];
  readonly appended: Appended | null;
}

const attemptsAtAppend = 10;
const nothing: Known = { state: undefined, revision: noStream };

/** The folded streams that this process used lately, at least as new as the last entry of the log's feed. */
export class Aggregates {
  readonly #store: EventStore;
  readonly #ids: Ids;
  readonly #types = new Map<string, AggregateType<unknown, DomainEvent>>();
  readonly #cache: RecentlyUsed<Known>;
  #changes = 0;
  /** Streams being changed: the end of the last change that waits its turn. */
  readonly #turns = new Map<string, Promise<void>>();
  /** Streams being read, with the entries that came in meanwhile. */
  readonly #loading = new Map<string, { readonly promise: Promise<Known>; readonly later: LogEntry[] }>();

  constructor(
    store: EventStore,
    { clock, ids }: { readonly clock: Clock; readonly ids: Ids },
    options: { readonly max: number },
  ) {
    this.#store = store;
    this.#ids = ids;
    this.#cache = new RecentlyUsed(clock, options);
  }

  register<State, Event extends DomainEvent>(type: AggregateType<State, Event>): this {
    this.#types.set(type.category, type as unknown as AggregateType<unknown, DomainEvent>);
    return this;
  }

  get categories(): readonly string[] {
    return [...this.#types.keys()];
  }

  follow(entries: readonly LogEntry[]): void {
    this.#changes += entries.length;
    for (const entry of entries) {
      this.#loading.get(entry.stream)?.later.push(entry);
      const cached = this.#cache.get(entry.stream);
      if (!cached || entry.revision <= cached.revision) continue;
      if (entry.revision === cached.revision + 1) this.#cache.set(entry.stream, this.#fold(cached, [entry]));
      else this.#cache.delete(entry.stream);
    }
  }

  /** Goes up with each entry followed: results derived from states alone hold while it is the same. */
  get changes(): number {
    return this.#changes;
  }

  /** The cached state, without any waiting; undefined when it must be {@link read} first, or cannot be. */
  peek<State, Event extends DomainEvent>(type: AggregateType<State, Event>, id: string): Folded<State> | undefined {
    const known = this.#cache.get(type.stream(id));
    return known?.unreadable ? undefined : known as Folded<State> | undefined;
  }

  /** The state of one stream, at once where it is cached. Throws LogUnavailable or an UnreadableRecord. */
  read<State, Event extends DomainEvent>(
    type: AggregateType<State, Event>,
    id: string,
  ): Folded<State> | Promise<Folded<State>> {
    const stream = type.stream(id);
    const known = this.#cache.get(stream);
    return (known ? readable(known) : this.#load(stream).then(readable)) as Folded<State> | Promise<Folded<State>>;
  }

  /** The state of one stream as it is in the log now, whoever wrote last. Throws as {@link read} does. */
  async current<State, Event extends DomainEvent>(
    type: AggregateType<State, Event>,
    id: string,
  ): Promise<Folded<State>> {
    const stream = type.stream(id);
    const { revision } = this.#cache.get(stream) ?? (await this.#load(stream));
    this.follow(await this.#store.readStream(stream, { from: revision + 1 }));
    return this.read(type, id);
  }

  /** Appends what `decide`, free of side effects, decides on the current state; up to ten times while others write. */
  change<State, Event extends DomainEvent>(
    type: AggregateType<State, Event>,
    id: string,
    origin: Origin,
    decide: (state: State | undefined) => readonly Event[],
  ): Changed<Event> | Promise<Changed<Event>> {
    const stream = type.stream(id);
    const known = this.#turns.has(stream) ? undefined : this.peek(type, id);
    if (known && decide(known.state).length === 0) return { events: [], appended: null };
    return this.#inTurn(stream, () => this.#change(type, id, origin, decide));
  }

  async #inTurn<Result>(stream: string, task: () => Promise<Result>): Promise<Result> {
    const turn = (this.#turns.get(stream) ?? Promise.resolve()).then(task);
    const over = turn.then(() => undefined, () => undefined);
    this.#turns.set(stream, over);
    try {
      return await turn;
    } finally {
      if (this.#turns.get(stream) === over) this.#turns.delete(stream);
    }
  }

  async #change<State, Event extends DomainEvent>(
    type: AggregateType<State, Event>,
    id: string,
    origin: Origin,
    decide: (state: State | undefined) => readonly Event[],
  ): Promise<Changed<Event>> {
    for (let attempt = 1; ; attempt += 1) {
      const { state, revision } = await this.read(type, id);
      const events = decide(state);
      if (events.length === 0) return { events, appended: null };
      try {
        const entries = entriesOf(events, origin, this.#ids);
        const appended = await this.#store.append(type.stream(id), revision, entries);
        this.follow(recorded(type.stream(id), entries, appended));
        return { events, appended };
      } catch (error) {
        if (!(error instanceof RevisionConflict) || attempt === attemptsAtAppend) throw error;
        const known = this.#cache.get(type.stream(id));
        if (known && known.revision <= revision) this.#cache.delete(type.stream(id));
      }
    }
  }

  #load(stream: string): Promise<Known> {
    const running = this.#loading.get(stream);
    if (running) return running.promise;
    const later: LogEntry[] = [];
    const promise = this.#readAll(stream, later).finally(() => this.#loading.delete(stream));
    this.#loading.set(stream, { promise, later });
    return promise;
  }

  async #readAll(stream: string, later: readonly LogEntry[]): Promise<Known> {
    for (;;) {
      const read = await this.#readFolded(stream);
      // Own appends and the log's feed may bring the same facts, in any order; a gap means reading again.
      const newer = later.filter((entry) => entry.revision > read.revision);
      const news = new Map(newer.map((entry) => [entry.revision, entry]));
      const inOrder = [...news.values()].sort((a, b) => a.revision - b.revision);
      if (inOrder.some((entry, index) => entry.revision !== read.revision + 1 + index)) continue;
      const folded = this.#fold(read, inOrder);
      this.#cache.set(stream, folded);
      return folded;
    }
  }

  async #readFolded(stream: string): Promise<Known> {
    if (this.#types.get(categoryOf(stream))?.whole) {
      return this.#fold(nothing, await this.#store.readStream(stream, { backwards: true, limit: 1 }));
    }
    let folded = nothing;
    await readPages(this.#store, stream, (page) => {
      folded = this.#fold(folded, page);
    });
    return folded;
  }

  /** Entries behind an unreadable one are not folded, unless each fact holds the whole state. */
  #fold(from: Known, entries: readonly LogEntry[]): Known {
    let { state, revision, unreadable } = from;
    for (const entry of entries) {
      const type = this.#types.get(categoryOf(entry.stream));
      revision = entry.revision;
      if (type?.whole) unreadable = undefined;
      if (unreadable) continue;
      if (entry.unreadable === undefined) state = type?.evolve(state, entry, entry.position);
      else unreadable = entry;
    }
    return unreadable ? { state: undefined, revision, unreadable } : { state, revision };
  }
}

function readable(known: Known): Known {
  if (known.unreadable) refuseUnreadable(`the record ${known.unreadable.stream}`, known.unreadable);
  return known;
}

function recorded(stream: string, entries: readonly NewEntry[], { revision, position }: Appended): LogEntry[] {
  return entries.map(({ id, event, metadata }, index) => ({
    stream, id, metadata, position,
    revision: revision - entries.length + 1 + index,
    type: event.type,
    data: event.data,
  }));
}
