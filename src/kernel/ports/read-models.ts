import type { Position } from "./event-store.ts";

/**
 * The kinds of field: `id` a UUID in lower case, `time` an ISO 8601 timestamp with milliseconds,
 * `number` an integer, `json` anything that is never filtered or sorted by, `numbers` an object of integers by name,
 * which may have letters, digits, spaces, `:` and `-`.
 */
export type FieldKind = "id" | "text" | "number" | "boolean" | "time" | "json" | "numbers";

/** A collection of documents, all of one shape. Any field but the key may be null. */
export interface CollectionDefinition {
  readonly name: string;
  /** The field that identifies a document. */
  readonly key: string;
  readonly fields: Readonly<Record<string, FieldKind>>;
  /** Fields of each index, in order; the key is its last part where it is not named. */
  readonly indexes: readonly (readonly string[])[];
  /**
   * Holds data that people may ask to have erased: removed documents, and fields set to null, soon disappear from the
   * engine's files.
   */
  readonly personal?: true;
}

/** The value of a field, by its kind: a string for `id`, `text` and `time`, any JSON value for `json`. */
export type FieldValue = string | number | boolean | null | object;
/** A document by its fields. One that is read has every field of its collection, null where nothing was put. */
export type Document = Readonly<Record<string, FieldValue>>;

/** A change of a read model. Adapters may fold the changes of one key, if that comes to the same as all in order. */
export type Change =
  /**
   * Creates or replaces the document; a field left out is null. `fresh`: there was none before, so that
   * an adapter that applies whole batches may fold it with a later remove into nothing.
   */
  | {
      readonly op: "put";
      readonly collection: string;
      readonly key: string;
      readonly document: Document;
      readonly fresh?: true;
    }
  /** Changes fields of a document; nothing where there is none. */
  | { readonly op: "set"; readonly collection: string; readonly key: string; readonly fields: Document }
  /**
   * Changes those fields of a document that are null or have a smaller value; nothing where there is none.
   * For fields of kind `number` and `time`: in which order such changes come does not matter.
   */
  | { readonly op: "raise"; readonly collection: string; readonly key: string; readonly fields: Document }
  | { readonly op: "remove"; readonly collection: string; readonly key: string }
  | Tally
  /**
   * Adds to a counter; `bucket` orders the counters of a scope (0 where a scope has but one). `rollUps`
   * names coarser counters that follow along, each with the size of its buckets in buckets of this
   * scope: see {@link countersOf}.
   */
  | {
      readonly op: "add";
      readonly scope: string;
      readonly bucket: number;
      readonly by: number;
      readonly rollUps?: Readonly<Record<string, number>>;
    };

/**
 * Adds one to each of the named integers in a field of kind `numbers`, in several documents, and raises another one to
 * at least `peak.value`; integers that are not there begin at zero. A document that is not there begins as given. No
 * `set` or `raise` changes such a document. Adapters sum the tallies of a batch up, first by the very same array of
 * `rows`, so that the cost for each tally is small.
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

/** A condition on documents. */
export interface Selection {
  readonly collection: string;
  readonly where?: Readonly<Record<string, FieldValue>>;
  /**
   * The field has one of the values, few and different. With an index on it before the field ordered by,
   * an engine merges as many ranges: one index then serves queries with and without a condition on the field.
   */
  readonly anyOf?: { readonly field: string; readonly values: readonly FieldValue[] };
  /** Inclusive on both ends; null is in no range. */
  readonly range?: { readonly field: string; readonly from?: FieldValue; readonly to?: FieldValue };
}

/** A place in an order: that of a document, there or not, with this value in the field ordered by, and this key. */
export interface Place {
  readonly value: FieldValue;
  readonly key: FieldValue;
}

/** A page of the selected documents: `limit` of them, in order. */
export interface Query extends Selection {
  /** Nulls come first, ascending. Ties are broken by the key, in the same direction. */
  readonly order: { readonly field: string; readonly descending: boolean };
  /** The page begins after the first `offset` documents; 0 when left out. */
  readonly offset?: number;
  /** The page begins behind this place, which an engine seeks in an index. Not together with `offset`. */
  readonly after?: Place;
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
  /** The documents of one page, in the query's order. */
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
  /** The same counters one by one, in the order of their buckets, without zeros. */
  buckets(scope: string, from?: number, to?: number): Promise<readonly Bucket[]>;
}

/** Read models as the API and the workers see them, including how far they follow the log. */
export interface ReadModels extends ReadModelQuestions {
  /** The position up to which the log is projected. */
  checkpoint(): Promise<Position>;
  /**
   * Whether they are still at this {@link checkpoint}, with nothing beyond it being written. Then all answers since it
   * was read reflect the log exactly up to there.
   */
  standsAt(checkpoint: Position): Promise<boolean>;
  /**
   * Makes the read models durable, and tells whether they were built under this fingerprint and none are being built to
   * take their place. Only then may entries that they cover be deleted from the log: read models that are being built,
   * or that a loss of power set back, might have read some of these entries and then find the rest gone.
   */
  settle(fingerprint: string): Promise<boolean>;
  /** Resolves true once the read models cover `position`, or false after `timeoutMs`. */
  caughtUp(position: Position, timeoutMs: number): Promise<boolean>;
}

/** Read models as the projection runner writes them. */
export interface ReadModelWriter {
  /**
   * The position and definition fingerprint the stored read models were built under; null when there are none. A writer
   * begins with this call: shared read models then refuse writes of earlier writers (ReadModelsTakenOver).
   */
  state(): Promise<{ readonly checkpoint: Position; readonly fingerprint: string } | null>;
  /**
   * Starts again with empty collections for the definitions. Until {@link publish}, an adapter may answer the questions
   * of {@link ReadModels} from the former collections; the writer's own view, {@link ReadModelWriter.state} included,
   * is of the new ones at once, and a writer that starts after a crash carries on with them.
   */
  reset(definitions: readonly CollectionDefinition[], fingerprint: string): Promise<void>;
  /**
   * The collections of the last {@link reset} are caught up: they answer from now on, and the former ones may go.
   * `alone`: nobody asks meanwhile, so the former ones are gone when the promise resolves.
   */
  publish(options?: { readonly alone?: boolean }): Promise<void>;
  /**
   * Applies the changes and moves the checkpoint, such that a crash at any moment resumes exactly:
   * a batch applied twice from the same checkpoint has the effect of one.
   */
  apply(batch: readonly PositionedChanges[], checkpoint: Position): Promise<void>;
  /**
   * Applies changes that follow from documents and not from a log entry: all of them or none, once. The
   * checkpoint stays. When it throws they may have been applied all the same: the documents tell.
   */
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
