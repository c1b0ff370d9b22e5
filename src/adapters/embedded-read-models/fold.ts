import type { Change, FieldValue, PositionedChanges } from "../../ports/read-models.ts";

/** What a batch comes to for one document. */
export type Effect =
  | { readonly op: "put"; readonly document: Record<string, FieldValue>; readonly fresh: boolean }
  | { readonly op: "set"; readonly fields: Record<string, FieldValue> }
  | { readonly op: "remove" }
  /** Came and went within the batch. */
  | { readonly op: "none" };

/** What a batch comes to: one effect for each document, one sum for each counter. */
export interface Folded {
  /** By collection, then key. */
  readonly documents: ReadonlyMap<string, ReadonlyMap<string, Effect>>;
  /** By scope, then bucket. */
  readonly counters: ReadonlyMap<string, ReadonlyMap<number, number>>;
}

const gone: Effect = { op: "remove" };
const none: Effect = { op: "none" };

/** Folds a batch into what it comes to. Right only where the whole batch is applied at once, or not at all. */
export function fold(batch: readonly PositionedChanges[]): Folded {
  const documents = new Map<string, Map<string, Effect>>();
  const counters = new Map<string, Map<number, number>>();
  for (const { changes } of batch) {
    for (const change of changes) {
      if (change.op === "add") {
        const buckets = entry(counters, change.scope);
        buckets.set(change.bucket, (buckets.get(change.bucket) ?? 0) + change.by);
      } else {
        const effects = entry(documents, change.collection);
        const effect = next(effects.get(change.key), change);
        if (effect) effects.set(change.key, effect);
      }
    }
  }
  return { documents, counters };
}

function entry<Key, InnerKey, Value>(map: Map<Key, Map<InnerKey, Value>>, key: Key): Map<InnerKey, Value> {
  let inner = map.get(key);
  if (!inner) {
    inner = new Map<InnerKey, Value>();
    map.set(key, inner);
  }
  return inner;
}

/** The effect after one more change; undefined where nothing is to be done differently. */
function next(before: Effect | undefined, change: Exclude<Change, { op: "add" }>): Effect | undefined {
  switch (change.op) {
    case "put": {
      const unseen = before === undefined ? change.fresh === true : before.op === "none";
      return { op: "put", document: { ...change.document }, fresh: unseen };
    }
    case "set":
      if (before === undefined) return { op: "set", fields: { ...change.fields } };
      if (before.op === "put") Object.assign(before.document, change.fields);
      else if (before.op === "set") Object.assign(before.fields, change.fields);
      return undefined;
    case "remove":
      return (before?.op === "put" && before.fresh) || before?.op === "none" ? none : gone;
  }
}
