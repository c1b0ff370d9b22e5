import type {
  Change, CollectionDefinition, Document, Query, ReadModels, ReadModelWriter,
} from "../../src/kernel/ports/read-models.ts";
import { position } from "../support/position.ts";

/** Read models on storage of their own, empty at first. */
export interface ReadModelsUnderTest {
  readonly reader: ReadModels;
  readonly writer: ReadModelWriter;
  /** Ends this handle; the same storage opens again. */
  reopen(): Promise<ReadModelsUnderTest>;
  /**
   * Starts the write, stops it in the middle as a crash would, and opens the storage as a restart would. `moment`
   * (0 to 1) is the completed share of the write. Needed if `crashes` is true.
   */
  crashDuring?(write: () => Promise<unknown>, moment: number): Promise<ReadModelsUnderTest>;
  close(): Promise<void>;
}

export interface ReadModelsTraits {
  /** Whether a query never sees a part of a batch. */
  readonly wholeBatches: boolean;
  /** Whether tests can stage crashes. */
  readonly crashes: boolean;
  /** Random cases of each property. */
  readonly runs: number;
}

export const things: CollectionDefinition = {
  name: "things",
  key: "id",
  fields: {
    id: "id",
    owner: "id",
    label: "text",
    size: "number",
    on: "boolean",
    at: "time",
    extra: "json",
  },
  indexes: [
    ["owner", "size"],
    ["owner", "label", "at"],
    ["at", "owner"],
    ["owner", "label", "id", "at"],
  ],
};
export const notes: CollectionDefinition = {
  name: "notes",
  key: "name",
  fields: { name: "text", text: "text" },
  indexes: [],
};

export const tallies: CollectionDefinition = {
  name: "tallies",
  key: "name",
  fields: { name: "text", until: "number", numbers: "numbers" },
  indexes: [["until"]],
};

export { position };
export const id = (n: number) => `00000000-0000-4000-8000-${n.toString(16).padStart(12, "0")}`;
export const time = (n: number) => new Date(1_700_000_000_000 + n).toISOString();
const blank = { owner: null, label: null, size: null, on: null, at: null, extra: null };
export const thing = (n: number, fields: Document = {}): Document => ({ ...blank, id: id(n), ...fields });
export const put = (document: Document): Change => ({
  op: "put",
  collection: "things",
  key: document["id"] as string,
  document,
});
export const set = (n: number, fields: Document): Change => ({ op: "set", collection: "things", key: id(n), fields });
export const raise = (n: number, fields: Document): Change => ({
  op: "raise",
  collection: "things",
  key: id(n),
  fields,
});
export const remove = (n: number): Change => ({ op: "remove", collection: "things", key: id(n) });
export const add = (scope: string, bucket: number, by: number): Change => ({ op: "add", scope, bucket, by });
const rowsOf = new Map([["a"], ["a", "b"], ["b", "c"]].map((names) =>
  [names.join(""), names.map((name) => ({ key: name, document: { name, until: 7 } }))] as const));
/** Adds one to numbers of the documents with these names: `a`, `ab` or `bc`. */
export const tally = (rows: "a" | "ab" | "bc", names: readonly string[], peak?: number): Change => ({
  op: "tally", collection: "tallies", field: "numbers", rows: rowsOf.get(rows)!, names,
  ...(peak !== undefined && { peak: { name: "peak", value: peak } }),
});
export const entriesOf = (changes: readonly Change[], first = 1) =>
  changes.map((change, at) => ({ position: position(first + at), changes: [change] }));

/** The read models of the current test, and shared operations on them. */
export interface Tested {
  models: ReadModelsUnderTest;
  readonly prepare: () => Promise<void>;
  /** Applies changes as entries `first`, `first` + 1, … in one batch. */
  readonly apply: (changes: readonly Change[], first?: number) => Promise<void>;
  /** Things, all of them by id unless the query says otherwise. */
  readonly all: (query?: Partial<Query>) => Promise<readonly Document[]>;
}
