import type { Position } from "./event-store.ts";

/** `id`: a UUID; `time`: ISO 8601; `number`: an integer; `json`: never filtered by; `numbers`: integers by name. */
export type FieldKind = "id" | "text" | "number" | "boolean" | "time" | "json" | "numbers";

/** A collection of documents, all of one shape. Any field but the key may be null. */
export interface CollectionDefinition {
  readonly name: string;
  readonly key: string;
  readonly fields: Readonly<Record<string, FieldKind>>;
  /** Fields of each index, in order; the key is its last part where it is not named. */
  readonly indexes: readonly (readonly string[])[];
  /** Holds data that people may ask to have erased: the engine's files soon lose what is removed. */
  readonly personal?: true;
}

/** The value of a field, by its kind: a string for `id`, `text` and `time`, any JSON value for `json`. */
export type FieldValue = string | number | boolean | null | object;
/** A document by its fields. One that is read has every field of its collection, null where nothing was put. */
export type Document = Readonly<Record<string, FieldValue>>;

/** A change of a read model. Adapters may fold the changes of one key, if that comes to the same as all in order. */
export type Change =
  /** Creates or replaces the document; a field left out is null. `fresh`: no document had this key before. */
  | {
      readonly op: "put";
      readonly collection: string;
      readonly key: string;
      readonly document: Document;
      readonly fresh?: true;
    }
  /** Changes fields of a document; nothing where there is none. */
  | { readonly op: "set"; readonly collection: string; readonly key: string; readonly fields: Document }
  /** Raises fields (`number`, `time`) that are null or smaller, in any order; nothing without a document. */
  | { readonly op: "raise"; readonly collection: string; readonly key: string; readonly fields: Document }
  | { readonly op: "remove"; readonly collection: string; readonly key: string }
  | Tally
  /**
   * Adds to a counter of a scope, and to its `rollUps`: coarser counters with their bucket size ({@link countersOf}).
   */
  | {
      readonly op: "add";
      readonly scope: string;
      readonly bucket: number;
      readonly by: number;
      readonly rollUps?: Readonly<Record<string, number>>;
    };

/**
 * Adds one to each named integer of documents' `numbers` field, and raises one to at least `peak.value`. A missing
 * document begins as given. Adapters first sum the tallies of a batch by the same array of `rows`, which keeps each
 * cheap.
 */
export interface Tally {
  readonly op: "tally";
  readonly collection: string;
  readonly field: string;
  readonly rows: readonly { readonly key: string; readonly document: Document }[];
  readonly names: readonly string[];
  readonly peak?: { readonly name: string; readonly value: number };
}

/** A counter: one bucket of a scope. */
export interface Counter {
  readonly scope: string;
  readonly bucket: number;
}

/** The total of a bucket of a counter. */
export interface Bucket {
  readonly bucket: number;
  readonly total: number;
}

/** The counters an addition adds to: its own, and `<scope>/<name>` for each name in `rollUps`. */
export function countersOf(
  { scope, bucket, rollUps = {} }: Omit<Extract<Change, { op: "add" }>, "op" | "by">,
): Counter[] {
  const coarser = Object.entries(rollUps).map(([name, size]) => ({
    scope: `${scope}/${name}`,
    bucket: Math.floor(bucket / size),
  }));
  return [{ scope, bucket }, ...coarser];
}

/** Changes caused by one log entry. */
export interface PositionedChanges {
  readonly position: Position;
  readonly changes: readonly Change[];
}

/** Values of a field, inclusive on both ends; null is in no range. */
export interface FieldRange {
  readonly field: string;
  readonly from?: FieldValue;
  readonly to?: FieldValue;
}

/** A condition on documents. */
export interface Selection {
  readonly collection: string;
  readonly where?: Readonly<Record<string, FieldValue>>;
  /** The field has one of these few values. An index on it before the field ordered by serves such queries, too. */
  readonly anyOf?: { readonly field: string; readonly values: readonly FieldValue[] };
  readonly range?: FieldRange;
  /** A range of a second field. Engines look at all documents of `range` for it. */
  readonly within?: FieldRange;
}

/** A place in an order: that of a document, there or not, with this value in the field ordered by, and this key. */
export interface PlaceInOrder {
  readonly value: FieldValue;
  readonly key: FieldValue;
}

/** A page of the selected documents: `limit` of them, in order. */
export interface Query extends Selection {
  /** Nulls come first, ascending. Ties are broken by the key, in the same direction. */
  readonly order: { readonly field: string; readonly descending: boolean };
  readonly offset?: number;
  /** The page begins behind this place, which an engine seeks in an index. Not together with `offset`. */
  readonly after?: PlaceInOrder;
  readonly limit: number;
}

/** The read models cannot be reached, or did not catch up in time. */
export class ReadModelsUnavailable extends Error {
  override readonly name: string = "ReadModelsUnavailable";
}

/** Another writer has begun meanwhile: to write again, begin with {@link ReadModelWriter.state}. */
export class ReadModelsTakenOver extends ReadModelsUnavailable {
  override readonly name: string = "ReadModelsTakenOver";
}

/** Questions to read models. */
export interface ReadModelQuestions {
  /** The document with this key, or null. Throws ReadModelsUnavailable, as all questions do. */
  get(collection: string, key: string): Promise<Document | null>;
  find(query: Query): Promise<readonly Document[]>;
  /** Their keys alone. Where one index has the query's order and all its fields, no document is looked at. */
  keys(query: Query): Promise<readonly string[]>;
  /** Counts by looking at the selected documents: for selections known to be small. */
  count(selection: Selection): Promise<number>;
  /** The different values of a field among the selected, ascending, `limit` at most, greater than `after`. */
  distinct(
    selection: Selection,
    field: string,
    options: { readonly after?: FieldValue; readonly limit: number },
  ): Promise<readonly FieldValue[]>;
  /** The sum of the counters of a scope with `from` <= bucket <= `to`; all of them without a range. */
  sum(scope: string, from?: number, to?: number): Promise<number>;
  buckets(scope: string, from?: number, to?: number): Promise<readonly Bucket[]>;
}

/** Read models as the API and the workers see them, including how far they follow the log. */
export interface ReadModels extends ReadModelQuestions {
  checkpoint(): Promise<Position>;
  /** Whether they are still at this {@link checkpoint}, and nothing beyond is being written. */
  standsAt(checkpoint: Position): Promise<boolean>;
  /** Makes the read models durable; true where they are complete under this fingerprint: entries may be deleted. */
  settle(fingerprint: string): Promise<boolean>;
  /** Resolves true once the read models cover `position`, or false after `timeoutMs`. */
  caughtUp(position: Position, timeoutMs: number): Promise<boolean>;
}

/** Read models as the projection runner writes them. */
export interface ReadModelWriter {
  /** Where the read models are, under which definitions; null without any. It ends earlier writers' rights. */
  state(): Promise<{ readonly checkpoint: Position; readonly fingerprint: string } | null>;
  /** Starts again with empty collections; until {@link publish} the former ones may answer, but not to the writer. */
  reset(definitions: readonly CollectionDefinition[], fingerprint: string): Promise<void>;
  /** The new collections answer from now on. `alone`: the former ones are gone when the promise resolves. */
  publish(options?: { readonly alone?: boolean }): Promise<void>;
  /** Applies the changes and moves the checkpoint: a batch that is applied twice has the effect of one. */
  apply(batch: readonly PositionedChanges[], checkpoint: Position): Promise<void>;
  /** Applies changes that follow from documents, all or none, once; it may have happened although it throws. */
  amend(changes: readonly Change[]): Promise<void>;
  /** Removes the counters whose scope contains this text. Looks at every counter. */
  removeCounters(text: string): Promise<void>;
}

/** A {@link CollectionDefinition} that knows the shape of its documents. */
export interface Collection<Shape extends Document> extends CollectionDefinition {
  readonly key: keyof Shape & string;
  readonly fields: Readonly<Record<keyof Shape & string, FieldKind>>;
  readonly indexes: readonly (readonly (keyof Shape & string)[])[];
}

/** The scope whose one counter is the number of a tenant's documents in a collection. */
export function tenantCounter({ name }: Pick<CollectionDefinition, "name">, tenantId: string): string {
  return `${name}/${tenantId}`;
}
