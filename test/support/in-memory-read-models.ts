import { destinations } from "../../projections/destinations/destinations.ts";
import { affectedEvents, incidents } from "../../projections/incidents/incidents.ts";
import { moments } from "../../projections/moments/moments.ts";
import { eventTypes, statistics } from "../../projections/statistics/statistics.ts";
import { logStart, type Position } from "../../src/kernel/ports/event-store.ts";
import {
  countersOf, type Bucket, type Change, type CollectionDefinition, type Document, type FieldRange, type FieldValue,
  type PositionedChanges, type Query, type ReadModels, type ReadModelWriter, type Selection,
} from "../../src/kernel/ports/read-models.ts";
import { tallied } from "../../src/kernel/read-models/engine/folded-changes.ts";

const countedForever: ReadonlySet<string> = new Set([statistics.name, eventTypes.name]);
const ofIncidents: ReadonlySet<string> = new Set([incidents.name, affectedEvents.name]);
const isOfIncidents = (scope: string) => scope.startsWith(`${incidents.name}/`);

/** Documents by collection and key, and counters by scope. */
interface Contents {
  readonly documents: Record<string, Record<string, Document>>;
  readonly counters: Record<string, Record<string, number>>;
}

/** A plain implementation of the port, with which every engine's read models are compared. */
export class InMemoryReadModels implements ReadModels, ReadModelWriter {
  #definitions = new Map<string, CollectionDefinition>();
  #collections = new Map<string, Map<string, Document>>();
  #counters = new Map<string, Map<number, number>>();
  #state: { checkpoint: Position; fingerprint: string } | null = null;
  #waiting: { position: Position; resolve: (reached: true) => void }[] = [];

  async get(collection: string, key: string): Promise<Document | null> {
    return this.#collections.get(collection)?.get(key) ?? null;
  }

  async find({ order, offset = 0, after, limit, ...selection }: Query): Promise<readonly Document[]> {
    const key = this.#definitions.get(selection.collection)?.key ?? "";
    const sign = order.descending ? -1 : 1;
    const isBehind = (document: Document) => !after
      || sign * (compare(document[order.field], after.value) || compare(document[key], after.key)) > 0;
    return this.#select(selection)
      .filter(isBehind)
      .sort((a, b) => sign * (compare(a[order.field], b[order.field]) || compare(a[key], b[key])))
      .slice(offset, offset + limit);
  }

  async keys(query: Query): Promise<readonly string[]> {
    const key = this.#definitions.get(query.collection)?.key ?? "";
    return (await this.find(query)).map((document) => document[key] as string);
  }

  async count(selection: Selection): Promise<number> {
    return this.#select(selection).length;
  }

  async distinct(
    selection: Selection,
    field: string,
    { after, limit }: { readonly after?: FieldValue; readonly limit: number },
  ): Promise<readonly FieldValue[]> {
    const values = new Set(this.#select(selection).map((document) => document[field] ?? null));
    return [...values]
      .filter((value) => value !== null && (after === undefined || compare(value, after) > 0))
      .sort(compare)
      .slice(0, limit);
  }

  async sum(scope: string, from = -Infinity, to = Infinity): Promise<number> {
    const buckets = [...(this.#counters.get(scope) ?? [])];
    return buckets.reduce((sum, [bucket, total]) => (bucket >= from && bucket <= to ? sum + total : sum), 0);
  }

  async buckets(scope: string, from = -Infinity, to = Infinity): Promise<readonly Bucket[]> {
    return [...(this.#counters.get(scope) ?? [])]
      .filter(([bucket, total]) => bucket >= from && bucket <= to && total !== 0)
      .sort(([one], [other]) => one - other)
      .map(([bucket, total]) => ({ bucket, total }));
  }

  async checkpoint(): Promise<Position> {
    return this.#state?.checkpoint ?? logStart;
  }

  async standsAt(checkpoint: Position): Promise<boolean> {
    return checkpoint === (await this.checkpoint());
  }

  async settle(fingerprint: string): Promise<boolean> {
    return this.#state?.fingerprint === fingerprint;
  }

  async caughtUp(position: Position, timeoutMs: number): Promise<boolean> {
    if (position <= (this.#state?.checkpoint ?? logStart)) return true;
    return new Promise((resolve) => {
      this.#waiting.push({ position, resolve });
      setTimeout(() => resolve(false), timeoutMs);
    });
  }

  async state(): Promise<{ readonly checkpoint: Position; readonly fingerprint: string } | null> {
    return this.#state;
  }

  async reset(definitions: readonly CollectionDefinition[], fingerprint: string): Promise<void> {
    this.#definitions = new Map(definitions.map((definition) => [definition.name, definition]));
    this.#collections = new Map(definitions.map(({ name }) => [name, new Map<string, Document>()]));
    this.#counters = new Map();
    this.#state = { checkpoint: logStart, fingerprint };
  }

  async publish(): Promise<void> {}

  async apply(batch: readonly PositionedChanges[], checkpoint: Position): Promise<void> {
    const state = this.#state;
    if (!state) throw new Error("reset first");
    for (const { position, changes } of batch)
      if (position > state.checkpoint) changes.forEach((change) => this.#apply(change));
    if (checkpoint > state.checkpoint) state.checkpoint = checkpoint;
    for (const { position, resolve } of this.#waiting) if (position <= state.checkpoint) resolve(true);
  }

  async amend(changes: readonly Change[]): Promise<void> {
    for (const change of changes) {
      if (change.op !== "add" && !this.#collections.has(change.collection)) throw new Error("no such collection");
    }
    for (const change of changes) this.#apply(change);
  }

  async removeCounters(text: string): Promise<void> {
    for (const scope of this.#counters.keys()) if (scope.includes(text)) this.#counters.delete(scope);
  }

  /** The rows of statistics, by key. */
  statistics(): Record<string, Document> {
    return Object.fromEntries(this.#collections.get(statistics.name) ?? []);
  }

  /**
   * All documents and counters in one comparable value; counters of 0 are left out. So are statistics, incidents and
   * the last outcomes of destinations: they keep events that a purge deletes from the log.
   */
  contents(): Contents {
    return this.#contentsOf(
      (name) => !countedForever.has(name) && !ofIncidents.has(name), (scope) => !isOfIncidents(scope));
  }

  /** The incidents, and where their events stand. */
  incidents(): Contents {
    return this.#contentsOf((name) => ofIncidents.has(name), isOfIncidents);
  }

  #contentsOf(isKept: (collection: string) => boolean, isCounted: (scope: string) => boolean): Contents {
    const kept = [...this.#collections].filter(([name]) => isKept(name));
    const documents = Object.fromEntries(kept.map(([name, all]) => [name, Object.fromEntries(all)]));
    const listed = documents[destinations.name];
    if (listed) documents[destinations.name] = withoutLastOutcomes(listed);
    const counters: Record<string, Record<string, number>> = {};
    for (const [scope, buckets] of this.#counters) {
      if (!isCounted(scope)) continue;
      const counted = [...buckets].filter(([, total]) => total !== 0);
      if (counted.length > 0) counters[scope] = Object.fromEntries(counted);
    }
    return { documents, counters };
  }

  #apply(change: PositionedChanges["changes"][number]): void {
    if (change.op === "add") {
      for (const { scope, bucket } of countersOf(change)) {
        const buckets = this.#counters.get(scope) ?? new Map<number, number>();
        this.#counters.set(scope, buckets.set(bucket, (buckets.get(bucket) ?? 0) + change.by));
      }
      return;
    }
    const collection = this.#collections.get(change.collection);
    const definition = this.#definitions.get(change.collection);
    if (!collection || !definition) throw new Error(`no collection ${change.collection}`);
    if (change.op === "tally") {
      const ones: Record<string, number> = {};
      for (const name of change.names) ones[name] = (ones[name] ?? 0) + 1;
      const peaks = change.peak ? { [change.peak.name]: change.peak.value } : {};
      for (const { key, document } of change.rows) {
        collection.set(key, tallied(collection.get(key) ?? document, change.field, ones, peaks));
      }
      return;
    }
    const before = collection.get(change.key);
    if (change.op === "remove") collection.delete(change.key);
    else if (change.op === "put") {
      const fields = Object.keys(definition.fields).map((field) => [field, change.document[field] ?? null]);
      collection.set(change.key, Object.fromEntries(fields) as Document);
    } else if (change.op === "raise") {
      if (!before) return;
      const higher = Object.entries(change.fields).filter(([field, least]) => compare(before[field], least) < 0);
      collection.set(change.key, { ...before, ...Object.fromEntries(higher) });
    } else if (before) collection.set(change.key, { ...before, ...change.fields });
  }

  #select({ collection, where = {}, anyOf, range, within }: Selection): Document[] {
    return [...(this.#collections.get(collection)?.values() ?? [])].filter((document) => {
      if (Object.entries(where).some(([field, value]) => document[field] !== value)) return false;
      if (anyOf && !anyOf.values.includes(document[anyOf.field] ?? null)) return false;
      return isIn(document, range) && isIn(document, within);
    });
  }
}

function isIn(document: Document, range: FieldRange | undefined): boolean {
  if (!range) return true;
  const ranged = document[range.field] ?? null;
  return ranged !== null &&
    !(range.from !== undefined && compare(ranged, range.from) < 0) &&
    !(range.to !== undefined && compare(ranged, range.to) > 0);
}

/** Null first, then by value; texts by code point. */
function compare(a: FieldValue | undefined, b: FieldValue | undefined): number {
  if (a === b) return 0;
  if (a === null || a === undefined) return -1;
  if (b === null || b === undefined) return 1;
  if (typeof a === "string" && typeof b === "string") return Buffer.compare(Buffer.from(a), Buffer.from(b));
  return a < b ? -1 : 1;
}

/** Documents of destinations by id, without the times of their last outcomes. */
export function withoutLastOutcomes(documents: Readonly<Record<string, Document>>): Record<string, Document> {
  return Object.fromEntries(Object.entries(documents).map(([id, document]) => {
    const { lastSuccessAt: _success, lastFailureAt: _failure, ...others } = document;
    return [id, others];
  }));
}

/**
 * The contents without the minutes: with which entry a minute begins depends on the entries that could be read, and are
 * still there, when it is projected.
 */
export function withoutMoments(
  { documents, counters }: ReturnType<InMemoryReadModels["contents"]>,
): ReturnType<InMemoryReadModels["contents"]> {
  const { [moments.name]: _, ...others } = documents;
  return { documents: others, counters };
}
