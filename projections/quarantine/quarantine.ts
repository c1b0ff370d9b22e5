import type { Change, Collection } from "../../src/kernel/ports/read-models.ts";
import { dueProjection } from "../due/due.ts";
import { put, remove } from "../projection.ts";

/** A stream that is not projected any further, from its first unreadable entry on. */
export type QuarantineDocument = {
  readonly stream: string;
  /** Of the first entry that is not projected. `type`, `reason` and `newer` are those of the unreadable entry. */
  readonly revision: number;
  readonly type: string;
  readonly reason: string;
  readonly newer: boolean;
};

/** Quarantined streams, written by the projection runner. */
export const quarantine: Collection<QuarantineDocument> = {
  name: "quarantine",
  key: "stream",
  fields: { stream: "text", revision: "number", type: "text", reason: "text", newer: "boolean" },
  indexes: [],
};

const dueCollections: ReadonlySet<string> = new Set(dueProjection.collections.map(({ name }) => name));

/** Whether a change is of a document of the due index. */
export function isOfDueIndex(change: Change): boolean {
  return change.op !== "add" && dueCollections.has(change.collection);
}

/** Quarantines a stream. Its event stays listed, but leaves the due index: it cannot be delivered. */
export function quarantineStream(document: QuarantineDocument, due: readonly Change[]): Change[] {
  return [
    put(quarantine, document),
    ...lastOfEach(due).map((change) => remove({ name: change.collection }, change.key)),
  ];
}

/** Ends the quarantine. `due`: the changes to the due index by all facts of the stream so far. */
export function takeBack(stream: string, due: readonly Change[]): Change[] {
  return [remove(quarantine, stream), ...lastOfEach(due)];
}

/** The documents that the changes come to, and those that they remove. */
function lastOfEach(changes: readonly Change[]) {
  const last = new Map<string, Extract<Change, { readonly op: "put" | "remove" }>>();
  for (const change of changes) {
    if (change.op !== "put" && change.op !== "set" && change.op !== "remove") continue;
    const { collection, key } = change;
    const place = `${collection} ${key}`;
    const before = last.get(place);
    if (change.op === "remove") last.set(place, change);
    else if (change.op === "put") last.set(place, { op: "put", collection, key, document: change.document });
    else if (before?.op === "put") {
      last.set(place, { ...before, document: { ...before.document, ...change.fields } });
    }
  }
  return [...last.values()];
}
