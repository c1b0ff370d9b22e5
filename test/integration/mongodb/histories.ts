import fc from "fast-check";
import type { Change, PositionedChanges, ReadModels } from "../../../src/kernel/ports/read-models.ts";
import { id, notes, position, things, time } from "../../contract/read-models-things.ts";
import { InMemoryReadModels } from "../../support/in-memory-read-models.ts";

/** The work of a projection runner: a batch of the log, then an amendment. */
export interface Step {
  readonly entries: readonly (readonly Change[])[];
  readonly amendment: readonly Change[];
}

export const definitions = [things, notes];

const keys = 4;
const scopes = ["a", "b"];
const buckets = 3;
const amended = "amended";

const thingKey = fc.nat(keys - 1).map(id);
const fields = fc.record(
  { size: fc.option(fc.nat(9), { nil: null }), on: fc.boolean(), at: fc.nat(9).map(time) },
  { requiredKeys: [] },
);
const change: fc.Arbitrary<Change> = fc.oneof(
  fc.record({ key: thingKey, fields, fresh: fc.boolean() }).map(({ key, fields: given, fresh }) => ({
    op: "put" as const,
    collection: "things",
    key,
    document: { id: key, ...given },
    ...(fresh && { fresh: true as const }),
  })),
  fc.record({ op: fc.constant("set" as const), collection: fc.constant("things"), key: thingKey, fields }),
  fc
    .record({ key: thingKey, size: fc.nat(9) })
    .map(({ key, size }) => ({ op: "raise" as const, collection: "things", key, fields: { size } })),
  fc.record({ op: fc.constant("remove" as const), collection: fc.constant("things"), key: thingKey }),
  fc
    .record({ key: fc.constantFrom("x", "y"), text: fc.string({ maxLength: 3 }) })
    .map(({ key, text }) => ({
      op: "put" as const,
      collection: "notes",
      key,
      document: { name: key, text },
    })),
  fc.record({
    op: fc.constant("add" as const),
    scope: fc.constantFrom(...scopes),
    bucket: fc.nat(buckets - 1),
    by: fc.integer({ min: -2, max: 3 }),
    rollUps: fc.constant({ pairs: 2, all: Infinity }),
  }),
);

/** Random work. A change is marked as fresh only if its document does not exist, as it would be by the log. */
export const histories: fc.Arbitrary<readonly Step[]> = fc
  .array(
    fc.record({
      entries: fc.array(fc.array(change, { maxLength: 3 }), { maxLength: 6 }),
      amendment: fc.array(change, { maxLength: 3 }),
    }),
    { minLength: 1, maxLength: 3 },
  )
  .map((steps) => {
    const there = new Set<string>();
    const truthful = (one: Change): Change => {
      if (one.op === "remove") there.delete(one.key);
      if (one.op !== "put") return one;
      const { fresh, ...others } = one;
      const isFresh = fresh && !there.has(one.key);
      there.add(one.key);
      return isFresh ? { ...others, fresh } : others;
    };
    return steps.map(({ entries, amendment }) => ({
      entries: entries.map((changes) => changes.map(truthful)),
      amendment: amendment.map(truthful),
    }));
  });

/** The part of a history that is done. */
interface Done {
  readonly checkpoint: string;
  readonly amendments: number;
}

/** The part of read models that a runner needs. */
interface Target {
  state(): Promise<{ readonly checkpoint: string } | null>;
  reset(all: typeof definitions, fingerprint: string): Promise<void>;
  apply(batch: readonly PositionedChanges[], checkpoint: string): Promise<void>;
  amend(changes: readonly Change[]): Promise<void>;
  get: ReadModels["get"];
}

/**
 * Runs the rest of a history, as a runner does after a start: it reads on from the checkpoint, in batches of `cut`
 * entries at most, and reads the number of the last amendment from a document.
 */
export async function carryOn(target: Target, steps: readonly Step[], cut: number): Promise<void> {
  if ((await target.state()) === null) await target.reset(definitions, "any");
  let done: Done = {
    checkpoint: (await target.state())?.checkpoint ?? "",
    amendments: Number((await target.get("notes", amended))?.["text"] ?? 0),
  };
  let first = 1;
  for (const [at, { entries, amendment }] of steps.entries()) {
    const positioned = entries.map((changes, n) => ({ position: position(first + n), changes }));
    first += entries.length;
    // An amendment follows the entries of its step.
    if (at >= done.amendments) {
      const rest = positioned.filter((entry) => entry.position > done.checkpoint);
      for (let from = 0; from < rest.length; from += cut) {
        const batch = rest.slice(from, from + cut);
        await target.apply(batch, batch.at(-1)!.position);
      }
      const mark: Change = {
        op: "put",
        collection: "notes",
        key: amended,
        document: { name: amended, text: String(at + 1) },
      };
      await target.amend([...amendment, mark]);
      done = { ...done, amendments: at + 1 };
    }
  }
}

/** Everything that a history can have changed. */
export async function contentsOf(reader: Pick<ReadModels, "find" | "sum">) {
  const allOf = (collection: string, field: string) =>
    reader.find({ collection, order: { field, descending: false }, limit: 1000 });
  const counters = scopes.flatMap((scope) => [
    ...Array.from({ length: buckets }, (_, bucket) => ({ scope, from: bucket, to: bucket })),
    { scope: `${scope}/pairs`, from: 1, to: 1 },
    { scope: `${scope}/all`, from: 0, to: 0 },
  ]);
  return {
    things: await allOf("things", "id"),
    notes: await allOf("notes", "name"),
    counters: await Promise.all(counters.map(({ scope, from, to }) => reader.sum(scope, from, to))),
  };
}

/** The contents after a history without faults. */
export async function expectedOf(steps: readonly Step[]) {
  const plain = new InMemoryReadModels();
  await carryOn(plain, steps, 1);
  return contentsOf(plain);
}
