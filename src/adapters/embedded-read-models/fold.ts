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
  /** By scope, without their roll-ups. */
  readonly counters: ReadonlyMap<string, Counters>;
}

interface Counters {
  readonly rollUps: Readonly<Record<string, number>> | undefined;
  readonly byBucket: Map<number, number>;
}

const gone: Effect = { op: "remove" };
const none: Effect = { op: "none" };

/** Folds a batch into what it comes to. Right only where the whole batch is applied at once, or not at all. */
export function fold(batch: readonly PositionedChanges[]): Folded {
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
    found = { rollUps, byBucket: new Map() };
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
