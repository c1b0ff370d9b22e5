import type { Change, Document, FieldValue, PositionedChanges, Tally } from "../../ports/read-models.ts";

/** The effect of a batch on one document. */
export type Effect =
  /** `own`: created here, so later changes of the batch change it in place. */
  | { readonly op: "put"; readonly document: Document; readonly fresh: boolean; readonly own: boolean }
  /** `raised`: to at least these values; none is among `fields`. */
  | { readonly op: "set"; readonly fields: Record<string, FieldValue>; readonly raised: Record<string, FieldValue> }
  | { readonly op: "remove" }
  /** Adds to integers and raises others; `document` is the initial one. */
  | {
      readonly op: "tally";
      readonly field: string;
      readonly document: Document;
      readonly sums: Record<string, number>;
      readonly peaks: Record<string, number>;
    }
  | { readonly op: "none" };

/** One effect per document, one sum per counter. */
export interface Folded {
  readonly documents: ReadonlyMap<string, ReadonlyMap<string, Effect>>;
  readonly counters: ReadonlyMap<string, Counters>;
}

interface Counters {
  readonly rollUps: Readonly<Record<string, number>>;
  readonly byBucket: Map<number, number>;
}

const gone: Effect = { op: "remove" };
const none: Effect = { op: "none" };

/** Folds a batch that is applied all or nothing. */
export function fold(batch: readonly Pick<PositionedChanges, "changes">[]): Folded {
  const documents = new Map<string, Map<string, Effect>>();
  const counters = new Map<string, Counters>();
  const tallies = new Tallies(documents);
  for (const { changes } of batch) {
    for (const change of changes) {
      if (change.op === "add") {
        const { byBucket } = countersOf(counters, change);
        byBucket.set(change.bucket, (byBucket.get(change.bucket) ?? 0) + change.by);
      } else if (change.op === "tally") {
        tallies.add(change);
      } else {
        tallies.settle(change.collection);
        const effects = effectsOf(documents, change.collection);
        const effect = next(effects.get(change.key), change);
        if (effect) effects.set(change.key, effect);
      }
    }
  }
  tallies.settleAll();
  return { documents, counters };
}

interface Tallied extends Pick<Tally, "field"> {
  readonly sums: Record<string, number>;
  readonly peaks: Record<string, number>;
}

/** Sums tallies by their arrays of rows, then, once settled, by document. */
class Tallies {
  readonly #effects: Map<string, Map<string, Effect>>;
  /** By collection, so that other changes of a collection find none. */
  readonly #tallied = new Map<string, Map<Tally["rows"], Tallied>>();

  constructor(effects: Map<string, Map<string, Effect>>) {
    this.#effects = effects;
  }

  add({ collection, field, rows, names, peak }: Tally): void {
    let ofCollection = this.#tallied.get(collection);
    if (!ofCollection) this.#tallied.set(collection, (ofCollection = new Map<Tally["rows"], Tallied>()));
    let tallied = ofCollection.get(rows);
    if (!tallied) ofCollection.set(rows, (tallied = { field, sums: {}, peaks: {} }));
    const { sums, peaks } = tallied;
    for (const name of names) sums[name] = (sums[name] ?? 0) + 1;
    if (peak) peaks[peak.name] = Math.max(peaks[peak.name] ?? 0, peak.value);
  }

  settle(collection: string): void {
    const ofCollection = this.#tallied.get(collection);
    if (!ofCollection) return;
    this.#tallied.delete(collection);
    const effects = effectsOf(this.#effects, collection);
    for (const [rows, tallied] of ofCollection) {
      for (const { key, document } of rows) effects.set(key, tallyOf(effects.get(key), document, tallied));
    }
  }

  settleAll(): void {
    for (const collection of this.#tallied.keys()) this.settle(collection);
  }
}

function tallyOf(before: Effect | undefined, document: Document, { field, sums, peaks }: Tallied): Effect {
  switch (before?.op) {
    case undefined:
      return { op: "tally", field, document, sums: { ...sums }, peaks: { ...peaks } };
    case "tally":
      addNumbers(before.sums, sums);
      raise(before.peaks, peaks);
      return before;
    case "put":
      return { ...before, document: tallied(before.document, field, sums, peaks), own: true };
    case "remove":
    case "none":
      return { op: "put", document: tallied(document, field, sums, peaks), fresh: before.op === "none", own: true };
    case "set":
      throw mixed();
  }
}

function mixed(): TypeError {
  return new TypeError("a document with tallies takes no other change of its fields");
}

export function tallied(
  document: Document, field: string, sums: Readonly<Record<string, number>>, peaks: Readonly<Record<string, number>>,
): Document {
  const numbers = { ...(document[field] as Record<string, number> | null | undefined) };
  addTallies(numbers, sums, peaks);
  return { ...document, [field]: numbers };
}

export function addTallies(
  numbers: Record<string, number>, sums: Readonly<Record<string, number>>, peaks: Readonly<Record<string, number>>,
): void {
  addNumbers(numbers, sums);
  raise(numbers, peaks);
}

function addNumbers(to: Record<string, number>, sums: Readonly<Record<string, number>>): void {
  for (const name in sums) to[name] = (to[name] ?? 0) + sums[name]!;
}

function countersOf(counters: Map<string, Counters>, { scope, rollUps }: Extract<Change, { op: "add" }>): Counters {
  let found = counters.get(scope);
  if (!found) {
    found = { rollUps: rollUps ?? {}, byBucket: new Map() };
    counters.set(scope, found);
  }
  return found;
}

function effectsOf(documents: Map<string, Map<string, Effect>>, collection: string): Map<string, Effect> {
  let found = documents.get(collection);
  if (!found) {
    found = new Map();
    documents.set(collection, found);
  }
  return found;
}

/** Undefined if `before` remains, maybe changed in place. */
function next(before: Effect | undefined, change: Exclude<Change, { op: "add" | "tally" }>): Effect | undefined {
  switch (change.op) {
    case "put": {
      const unseen = before === undefined ? change.fresh === true : before.op === "none";
      return { op: "put", document: change.document, fresh: unseen, own: false };
    }
    case "set":
      refuseTallied(before);
      if (before === undefined) return { op: "set", fields: { ...change.fields }, raised: {} };
      if (before.op === "put" && !before.own) return putWith(before, { ...before.document, ...change.fields });
      if (before.op === "put") Object.assign(before.document, change.fields);
      if (before.op === "set") {
        Object.assign(before.fields, change.fields);
        for (const field in change.fields) delete before.raised[field];
      }
      return undefined;
    case "raise":
      refuseTallied(before);
      if (before === undefined) return { op: "set", fields: {}, raised: { ...change.fields } };
      if (before.op === "put") {
        const document = { ...before.document };
        raise(document, change.fields);
        return putWith(before, document);
      }
      if (before.op === "set") {
        for (const field in change.fields) {
          const fields = field in before.fields ? before.fields : before.raised;
          raise(fields, { [field]: change.fields[field] ?? null });
        }
      }
      return undefined;
    case "remove":
      return (before?.op === "put" && before.fresh) || before?.op === "none" ? none : gone;
  }
}

function putWith({ fresh }: { readonly fresh: boolean }, document: Document): Effect {
  return { op: "put", document, fresh, own: true };
}

function refuseTallied(before: Effect | undefined): void {
  if (before?.op === "tally") throw mixed();
}

function raise(fields: Record<string, FieldValue>, least: Readonly<Record<string, FieldValue>>): void {
  for (const field in least) {
    const [value, bound] = [fields[field] ?? null, least[field] ?? null];
    if (bound !== null && (value === null || value < bound)) fields[field] = bound;
  }
}
