import type { Change, Document, FieldValue, PositionedChanges } from "../../ports/read-models.ts";

/** The effect of a batch on one document. */
export type Effect =
  | { readonly op: "put"; readonly document: Document; readonly fresh: boolean }
  /** `raised`: fields raised to at least these values; none is among `fields`. */
  | { readonly op: "set"; readonly fields: Record<string, FieldValue>; readonly raised: Record<string, FieldValue> }
  | { readonly op: "remove" }
  /** The document was put and removed within the batch. */
  | { readonly op: "none" };

/** A folded batch: one effect for each document, one sum for each counter. */
export interface Folded {
  /** By collection, then key. */
  readonly documents: ReadonlyMap<string, ReadonlyMap<string, Effect>>;
  /** By scope, without their roll-ups. */
  readonly counters: ReadonlyMap<string, Counters>;
}

interface Counters {
  readonly rollUps: Readonly<Record<string, number>>;
  readonly byBucket: Map<number, number>;
}

const gone: Effect = { op: "remove" };
const none: Effect = { op: "none" };

/** Folds a batch. Right only where the whole batch is applied at once, or not at all. */
export function fold(batch: readonly Pick<PositionedChanges, "changes">[]): Folded {
  const documents = new Map<string, Map<string, Effect>>();
  const counters = new Map<string, Counters>();
  for (const { changes } of batch) {
    for (const change of changes) {
      if (change.op === "add") {
        const { byBucket } = countersOf(counters, change);
        byBucket.set(change.bucket, (byBucket.get(change.bucket) ?? 0) + change.by);
      } else {
        const effects = effectsOf(documents, change.collection);
        const effect = next(effects.get(change.key), change);
        if (effect) effects.set(change.key, effect);
      }
    }
  }
  return { documents, counters };
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

/** The effect after one more change; undefined if `before` remains, maybe changed in place. */
function next(before: Effect | undefined, change: Exclude<Change, { op: "add" }>): Effect | undefined {
  switch (change.op) {
    case "put": {
      const unseen = before === undefined ? change.fresh === true : before.op === "none";
      return { op: "put", document: change.document, fresh: unseen };
    }
    case "set":
      if (before === undefined) return { op: "set", fields: { ...change.fields }, raised: {} };
      if (before.op === "put") return { ...before, document: { ...before.document, ...change.fields } };
      if (before.op === "set") {
        Object.assign(before.fields, change.fields);
        for (const field in change.fields) delete before.raised[field];
      }
      return undefined;
    case "raise":
      if (before === undefined) return { op: "set", fields: {}, raised: { ...change.fields } };
      if (before.op === "put") {
        const document = { ...before.document };
        raise(document, change.fields);
        return { ...before, document };
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

/** Raises each field to at least its value; null is less than anything. */
function raise(fields: Record<string, FieldValue>, least: Readonly<Record<string, FieldValue>>): void {
  for (const field in least) {
    const [value, bound] = [fields[field] ?? null, least[field] ?? null];
    if (bound !== null && (value === null || value < bound)) fields[field] = bound;
  }
}
