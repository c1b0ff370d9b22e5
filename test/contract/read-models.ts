import { expect } from "chai";
import fc from "fast-check";
import type { Position } from "../../src/ports/event-store.ts";
import type {
  Change,
  CollectionDefinition,
  Document,
  FieldValue,
  Query,
  ReadModels,
  ReadModelWriter,
} from "../../src/ports/read-models.ts";
import { InMemoryReadModels } from "../support/in-memory-read-models.ts";

/** Read models on storage of their own, empty at first. */
export interface ReadModelsUnderTest {
  readonly reader: ReadModels;
  readonly writer: ReadModelWriter;
  /** Ends this handle; the same storage opens again. */
  reopen(): Promise<ReadModelsUnderTest>;
  /**
   * Starts the write, stops it somewhere in the middle as a crash would, and opens what a restart
   * finds. `moment` (0 to 1) says how far the write gets. Needed where `crashes` is true.
   */
  crashDuring?(write: () => Promise<unknown>, moment: number): Promise<ReadModelsUnderTest>;
  close(): Promise<void>;
}

export interface ReadModelsTraits {
  /** Whether a question never sees a part of a batch. */
  readonly wholeBatches: boolean;
  /** Whether crashes can be staged. */
  readonly crashes: boolean;
  /** Random cases of each property. */
  readonly runs: number;
}

const things: CollectionDefinition = {
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
  indexes: [["owner", "size"], ["owner", "label", "at"], ["at", "owner"], ["owner", "label", "id", "at"]],
};
const notes: CollectionDefinition = { name: "notes", key: "name", fields: { name: "text", text: "text" }, indexes: [] };

const position = (n: number): Position => String(n).padStart(16, "0");
const id = (n: number) => `00000000-0000-4000-8000-${n.toString(16).padStart(12, "0")}`;
const time = (n: number) => new Date(1_700_000_000_000 + n).toISOString();
const blank = { owner: null, label: null, size: null, on: null, at: null, extra: null };
const thing = (n: number, fields: Document = {}): Document => ({ ...blank, id: id(n), ...fields });
const put = (document: Document): Change => ({ op: "put", collection: "things", key: document["id"] as string, document });
const set = (n: number, fields: Document): Change => ({ op: "set", collection: "things", key: id(n), fields });
const remove = (n: number): Change => ({ op: "remove", collection: "things", key: id(n) });
const add = (scope: string, bucket: number, by: number): Change => ({ op: "add", scope, bucket, by });
const entriesOf = (changes: readonly Change[], first = 1) =>
  changes.map((change, at) => ({ position: position(first + at), changes: [change] }));

/** What every adapter of ReadModels and ReadModelWriter keeps to. */
export function readModelsContract(
  name: string,
  open: () => Promise<ReadModelsUnderTest>,
  { wholeBatches, crashes, runs }: ReadModelsTraits,
): void {
  describe(`${name} as read models`, () => {
    let models: ReadModelsUnderTest;

    beforeEach(async () => {
      models = await open();
    });

    afterEach(() => models.close());

    const prepare = () => models.writer.reset([things, notes], "first");
    /** Applies changes as entries 1, 2, … in one batch. */
    const apply = (changes: readonly Change[], first = 1) =>
      models.writer.apply(entriesOf(changes, first), position(first + changes.length - 1));
    const all = (query: Partial<Query> = {}) =>
      models.reader.find({ collection: "things", order: { field: "id", descending: false }, limit: 1000, ...query });
    const idsOf = (documents: readonly Document[]) => documents.map((document) => document["id"]);

    describe("documents", () => {
      beforeEach(prepare);

      it("come back as they were put, whatever their kinds, in a get and in a list", async () => {
        const full = thing(1, { owner: id(9), label: "ü\u{1f600} '\"", size: -3, on: true, at: time(1), extra: { a: [1, null] } });
        const empty = thing(2);
        await apply([put(full), put(empty), put(thing(3, { on: false, size: 0, label: "", extra: [] }))]);
        expect(await models.reader.get("things", id(1))).to.deep.equal(full);
        expect(await models.reader.get("things", id(2))).to.deep.equal(empty);
        expect((await all())[0]).to.deep.equal(full);
        expect(await models.reader.get("things", id(3))).to.deep.equal(
          thing(3, { on: false, size: 0, label: "", extra: [] }),
        );
      });

      it("have null in the fields that were left out", async () => {
        await apply([put({ id: id(1), label: "a" })]);
        expect(await models.reader.get("things", id(1))).to.deep.equal(thing(1, { label: "a" }));
      });

      it("are replaced whole by a put, in part by a set, and gone after a remove", async () => {
        await apply([put(thing(1, { label: "a", size: 1 }))]);
        await apply([put(thing(1, { size: 2 }))], 2);
        expect(await models.reader.get("things", id(1))).to.deep.equal(thing(1, { size: 2 }));
        await apply([set(1, { label: "b", at: time(5) })], 3);
        expect(await models.reader.get("things", id(1))).to.deep.equal(thing(1, { label: "b", size: 2, at: time(5) }));
        await apply([set(1, { label: null })], 4);
        expect(await models.reader.get("things", id(1))).to.deep.equal(thing(1, { size: 2, at: time(5) }));
        await apply([remove(1)], 5);
        expect(await models.reader.get("things", id(1))).to.equal(null);
      });

      it("do not come into being by a set", async () => {
        await apply([set(1, { label: "a" }), put(thing(2)), remove(2), set(2, { label: "b" })]);
        expect(await all()).to.deep.equal([]);
      });

      it("are kept apart by collection", async () => {
        await apply([
          put(thing(1)),
          { op: "put", collection: "notes", key: "a/b c", document: { name: "a/b c", text: "x" } },
          remove(1),
        ]);
        expect(await models.reader.get("notes", "a/b c")).to.deep.equal({ name: "a/b c", text: "x" });
        expect(await models.reader.get("things", id(1))).to.equal(null);
      });

      it("have a fresh one that comes and goes within a batch leave nothing behind", async () => {
        const fresh = (n: number) => ({ ...put(thing(n, { label: "fresh" })), fresh: true as const });
        await apply([fresh(1), remove(1), fresh(2), remove(2), fresh(2), set(2, { size: 1 }), put(thing(3)), remove(3)]);
        expect(await all()).to.deep.equal([thing(2, { label: "fresh", size: 1 })]);
        await apply([remove(2), fresh(2), remove(2)], 20);
        expect(await all()).to.deep.equal([]);
      });

      it("are not found under what is no key of theirs", async () => {
        await apply([put(thing(1))]);
        for (const key of ["", "x", id(2), id(1).toUpperCase() + " ", `${id(1)}0`]) {
          expect(await models.reader.get("things", key), key).to.equal(null);
        }
        expect(await all({ where: { owner: "no id" } })).to.deep.equal([]);
        expect(await models.reader.count({ collection: "things", where: { id: "no id" } })).to.equal(0);
      });
    });

    describe("lists", () => {
      beforeEach(prepare);

      it("are ordered either way, null first, ties by key in the same direction", async () => {
        const sizes = [3, null, 1, 3, null, 2, 3];
        await apply(sizes.map((size, n) => put(thing(n, { owner: id(9), size }))));
        const ascending = [1, 4, 2, 5, 0, 3, 6].map(id);
        const order = (descending: boolean) => ({ where: { owner: id(9) }, order: { field: "size", descending } });
        expect(idsOf(await all(order(false)))).to.deep.equal(ascending);
        expect(idsOf(await all(order(true)))).to.deep.equal(ascending.toReversed());
      });

      it("order texts by code point and times by time", async () => {
        const labels = ["b", "a", "B", "\u{1f600}", "\uffee", "ä", ""];
        await apply(labels.map((label, n) => put(thing(n, { label, at: time(-n * 1e9) }))));
        const byLabel = await all({ order: { field: "label", descending: false } });
        expect(byLabel.map(({ label }) => label)).to.deep.equal(["", "B", "a", "b", "ä", "\uffee", "\u{1f600}"]);
        const byTime = await all({ order: { field: "at", descending: false } });
        expect(idsOf(byTime)).to.deep.equal([6, 5, 4, 3, 2, 1, 0].map(id));
      });

      it("include both ends of a range, and never null", async () => {
        await apply([0, 1, 2, 3, 4].map((n) => put(thing(n, { at: n === 4 ? null : time(n) }))));
        const within = async (from?: string, to?: string) => idsOf(await all({
          range: { field: "at", ...(from !== undefined && { from }), ...(to !== undefined && { to }) },
          order: { field: "at", descending: false },
        }));
        expect(await within(time(1), time(2))).to.deep.equal([1, 2].map(id));
        expect(await within(time(2))).to.deep.equal([2, 3].map(id));
        expect(await within(undefined, time(1))).to.deep.equal([0, 1].map(id));
        expect(await within()).to.deep.equal([0, 1, 2, 3].map(id));
        expect(await within(time(3), time(0))).to.deep.equal([]);
      });

      it("page without gap or repetition", async () => {
        await apply(Array.from({ length: 25 }, (_, n) => put(thing(n, { owner: id(9), size: n % 3 }))));
        const pages: Document[] = [];
        for (let offset = 0; offset < 30; offset += 7) {
          pages.push(...await all({ where: { owner: id(9) }, order: { field: "size", descending: true }, offset, limit: 7 }));
        }
        const whole = await all({ where: { owner: id(9) }, order: { field: "size", descending: true } });
        expect(whole).to.have.length(25);
        expect(pages).to.deep.equal(whole);
      });

      it("select by null", async () => {
        await apply([put(thing(1, { label: "a" })), put(thing(2)), put(thing(3, { label: "b" }))]);
        expect(idsOf(await all({ where: { label: null } }))).to.deep.equal([id(2)]);
        expect(idsOf(await all({ anyOf: { field: "label", values: [null, "b"] } }))).to.deep.equal([2, 3].map(id));
        expect(await all({ anyOf: { field: "label", values: [] } })).to.deep.equal([]);
      });
    });

    it("answers random questions about random documents as the plain model does", async () => {
      const small = fc.nat(4);
      const nullable = <T>(value: fc.Arbitrary<T>) => fc.option(value, { nil: null, freq: 5 });
      const documents = fc.uniqueArray(
        fc.record({
          id: fc.nat(200).map(id),
          owner: fc.nat(1).map(id),
          label: nullable(fc.constantFrom("a", "b", "c")),
          size: nullable(small),
          on: nullable(fc.boolean()),
          at: nullable(fc.nat(10).map(time)),
          extra: fc.constant(null),
        }),
        { selector: (document) => document.id, maxLength: 40 },
      );
      const values: Record<string, fc.Arbitrary<FieldValue>> = {
        id: fc.nat(200).map(id), label: fc.constantFrom("a", "b", "c"), size: small, at: fc.nat(10).map(time),
      };
      const sortField = fc.constantFrom("id", "label", "size", "at");
      const range = sortField.chain((field) =>
        fc.record({ field: fc.constant(field), from: values[field]!, to: values[field]! }, { requiredKeys: ["field"] }));
      const query = fc.record(
        {
          collection: fc.constant("things"),
          where: fc.record(
            { owner: fc.nat(1).map(id), label: nullable(fc.constantFrom("a", "b")), on: nullable(fc.boolean()) },
            { requiredKeys: [] },
          ),
          anyOf: fc.record({
            field: fc.constant("label"),
            values: fc.uniqueArray(nullable(fc.constantFrom("a", "b", "c")), { selector: (value) => value ?? "null" }),
          }),
          range,
          order: fc.record({ field: sortField, descending: fc.boolean() }),
          offset: fc.nat(10),
          limit: fc.nat({ max: 10 }).map((n) => n + 1),
        },
        { requiredKeys: ["collection", "order", "limit"] },
      );
      await fc.assert(
        fc.asyncProperty(documents, fc.array(query, { minLength: 1, maxLength: 8 }), async (docs, queries) => {
          const plain = new InMemoryReadModels();
          for (const writer of [models.writer, plain]) {
            await writer.reset([things], "any");
            await writer.apply(entriesOf(docs.map(put)), position(docs.length));
          }
          for (const asked of queries as unknown as Query[]) {
            const { order, offset: _offset, limit, ...selection } = asked;
            expect(await models.reader.find(asked), "find").to.deep.equal(await plain.find(asked));
            expect(await models.reader.count(selection), "count").to.equal(await plain.count(selection));
            expect(await models.reader.distinct(selection, order.field, { limit }), "distinct").to.deep.equal(
              await plain.distinct(selection, order.field, { limit }),
            );
          }
        }),
        { numRuns: runs },
      );
    });

    describe("different values", () => {
      beforeEach(async () => {
        await prepare();
        const owners = [3, 1, 2, 1, 3, 5, 4, null];
        await apply(owners.map((owner, n) => put(thing(n, { owner: owner === null ? null : id(owner), at: time(n) }))));
      });

      const owners = (options: { after?: string; limit: number }, range?: Query["range"]) =>
        models.reader.distinct({ collection: "things", ...(range && { range }) }, "owner", options);

      it("come ascending, each once, without null", async () => {
        expect(await owners({ limit: 10 })).to.deep.equal([1, 2, 3, 4, 5].map(id));
      });

      it("come in pages, each after the last value of the one before", async () => {
        expect(await owners({ limit: 2 })).to.deep.equal([1, 2].map(id));
        expect(await owners({ after: id(2), limit: 2 })).to.deep.equal([3, 4].map(id));
        expect(await owners({ after: id(5), limit: 2 })).to.deep.equal([]);
      });

      it("come from the selected documents only", async () => {
        expect(await owners({ limit: 10 }, { field: "at", from: time(2), to: time(4) })).to.deep.equal([1, 2, 3].map(id));
        expect(await owners({ limit: 10 }, { field: "at", to: time(2) })).to.deep.equal([1, 2, 3].map(id));
        expect(await owners({ limit: 10 }, { field: "at", from: time(5) })).to.deep.equal([4, 5].map(id));
        expect(await owners({ after: id(1), limit: 1 }, { field: "at", to: time(2) })).to.deep.equal([id(2)]);
      });
    });

    describe("counters", () => {
      beforeEach(prepare);

      it("sum up by scope and by range of buckets, both ends included", async () => {
        await apply([add("a", 1, 1), add("a", 2, 10), add("a", 3, 100), add("b", 2, 7), add("a", 2, -3)]);
        await apply([add("a", 3, 100)], 10);
        const sums = await Promise.all([
          models.reader.sum("a"), models.reader.sum("a", 2), models.reader.sum("a", 2, 2), models.reader.sum("a", undefined, 2),
          models.reader.sum("b"), models.reader.sum("c"), models.reader.sum("a", 4, 9),
        ]);
        expect(sums).to.deep.equal([208, 207, 7, 8, 7, 0, 0]);
      });

      it("carry coarser ones along", async () => {
        const rollUps = { ten: 10, all: Infinity };
        await apply([[19, 1], [20, 10], [29, 100], [30, 1000], [20, -10]].map(([bucket = 0, by = 0]) =>
          ({ op: "add" as const, scope: "a", bucket, by, rollUps })));
        await apply([{ op: "add", scope: "a", bucket: 25, by: 5, rollUps }], 9);
        const sums = await Promise.all([
          models.reader.sum("a"),
          models.reader.sum("a", 20, 29),
          models.reader.sum("a/ten", 2, 2),
          models.reader.sum("a/ten", 1, 2),
          models.reader.sum("a/all", 0, 0),
          models.reader.sum("a/all"),
        ]);
        expect(sums).to.deep.equal([1106, 105, 105, 106, 1106, 1106]);
      });

      it("may pass below nothing and come back", async () => {
        await apply([add("a", 0, -2)]);
        expect(await models.reader.sum("a")).to.equal(-2);
        await apply([add("a", 0, 2)], 2);
        expect(await models.reader.sum("a")).to.equal(0);
        await apply([add("a", 0, 5)], 3);
        expect(await models.reader.sum("a")).to.equal(5);
      });
    });

    const change: fc.Arbitrary<Change> = fc.oneof(
      fc.tuple(fc.nat(3), fc.nat(9)).map(([n, size]) => put(thing(n, { size }))),
      fc.tuple(fc.nat(3), fc.nat(9)).map(([n, size]) => set(n, { size })),
      fc.tuple(fc.nat(3), fc.nat(9)).map(([n, on]) => set(n, { on: on > 4 })),
      fc.nat(3).map(remove),
      fc.tuple(fc.nat(1), fc.nat(2), fc.integer({ min: -2, max: 2 })).map(([s, bucket, by]) => add(`s${s}`, bucket, by)),
    );
    const summary = async (reader: ReadModels) => ({
      documents: await reader.find({ collection: "things", order: { field: "id", descending: false }, limit: 5000 }),
      counters: await Promise.all(["s0", "s1"].flatMap((scope) => [0, 1, 2].map((bucket) => reader.sum(scope, bucket, bucket)))),
    });

    it("comes to the same, however changes are cut into batches", async () => {
      await fc.assert(
        fc.asyncProperty(fc.array(change, { maxLength: 40 }), fc.integer({ min: 1, max: 12 }), async (changes, cut) => {
          const plain = new InMemoryReadModels();
          for (const [writer, size] of [[models.writer, cut], [plain, 1]] as const) {
            await writer.reset([things], "any");
            for (let at = 0; at < changes.length; at += size) {
              const batch = entriesOf(changes.slice(at, at + size), at + 1);
              await writer.apply(batch, position(at + batch.length));
            }
          }
          expect(await summary(models.reader)).to.deep.equal(await summary(plain));
        }),
        { numRuns: runs },
      );
    });

    describe("checkpoint", () => {
      it("is nothing before the first reset, the log's start after it, and follows what is applied", async () => {
        expect(await models.writer.state()).to.equal(null);
        await prepare();
        expect(await models.writer.state()).to.deep.equal({ checkpoint: "", fingerprint: "first" });
        expect(await models.reader.checkpoint()).to.equal("");
        await models.writer.apply([], position(7));
        expect(await models.reader.checkpoint()).to.equal(position(7));
        expect(await models.writer.state()).to.deep.equal({ checkpoint: position(7), fingerprint: "first" });
      });

      it("lets a batch that comes again change nothing", async () => {
        await prepare();
        const changes = [put(thing(1, { size: 1 })), add("s0", 0, 1), set(1, { size: 2 }), add("s0", 0, 1)];
        await apply(changes);
        await apply(changes);
        expect(await models.reader.sum("s0")).to.equal(2);
        await apply([remove(1)], 5);
        await apply(changes);
        expect(await models.reader.get("things", id(1))).to.equal(null);
        expect(await models.reader.sum("s0")).to.equal(2);
        expect(await models.reader.checkpoint()).to.equal(position(5));
      });

      it("lets a longer batch that overlaps what was applied change only what is new", async () => {
        await prepare();
        const changes = [add("s0", 0, 1), put(thing(1, { size: 1 })), add("s0", 0, 1), set(1, { size: 2 }), add("s0", 0, 1)];
        await apply(changes.slice(0, 3));
        await apply(changes);
        expect(await models.reader.sum("s0")).to.equal(3);
        expect(await models.reader.get("things", id(1))).to.deep.equal(thing(1, { size: 2 }));
      });

      it("is there with everything else when the storage is opened again", async () => {
        await prepare();
        await apply([put(thing(1, { label: "a" })), add("s0", 3, 4)]);
        models = await models.reopen();
        expect(await models.writer.state()).to.deep.equal({ checkpoint: position(2), fingerprint: "first" });
        expect(await models.reader.get("things", id(1))).to.deep.equal(thing(1, { label: "a" }));
        expect(await models.reader.sum("s0", 3, 3)).to.equal(4);
        await apply([set(1, { label: "b" })], 3);
        expect(await all({ where: { label: "b" } })).to.have.length(1);
      });

      it("begins anew, with nothing left, at a reset", async () => {
        await prepare();
        await apply([put(thing(1)), add("s0", 0, 4)]);
        const smaller = { ...things, fields: { id: "id", colour: "text" }, indexes: [["colour"]] } as const;
        await models.writer.reset([smaller], "second");
        expect(await models.writer.state()).to.deep.equal({ checkpoint: "", fingerprint: "second" });
        expect(await all()).to.deep.equal([]);
        expect(await models.reader.sum("s0")).to.equal(0);
        await apply([{ op: "put", collection: "things", key: id(1), document: { id: id(1), colour: "red" } }]);
        expect(await all()).to.deep.equal([{ id: id(1), colour: "red" }]);
      });
    });

    describe("catching up", () => {
      beforeEach(prepare);

      it("is true at once for what is covered, and after a while false for what is not", async () => {
        await models.writer.apply([], position(5));
        expect(await models.reader.caughtUp(position(5), 0)).to.equal(true);
        expect(await models.reader.caughtUp("", 0)).to.equal(true);
        expect(await models.reader.caughtUp(position(6), 20)).to.equal(false);
      });

      it("tells everyone who waits as soon as the position is reached, and nobody else", async () => {
        const told: number[] = [];
        const waiting = [3, 1, 2, 4].map(async (n) => {
          if (await models.reader.caughtUp(position(n), n === 4 ? 300 : 20_000)) told.push(n);
        });
        await models.writer.apply([], position(3));
        await Promise.all(waiting.slice(0, 3));
        expect(told.toSorted()).to.deep.equal([1, 2, 3]);
        await waiting[3];
        expect(told).to.have.length(3);
      });

      it("comes with the documents", async () => {
        const waiting = models.reader.caughtUp(position(1), 20_000);
        await apply([put(thing(1))]);
        expect(await waiting).to.equal(true);
        expect(await models.reader.get("things", id(1))).to.deep.equal(thing(1));
      });
    });

    describe("a crash in the middle of a batch", () => {
      const count = 600;
      const batchOf = (version: number) =>
        Array.from({ length: count }, (_, n) => [
          n % 3 === 2 && version === 2 ? remove(n) : put(thing(n, { size: version })),
          add("s0", n % 3, 1),
          ...(n % 2 ? [set(n, { on: true })] : []),
        ]).flat();

      for (const moment of crashes ? [0, 0.2, 0.5, 0.8, 1] : []) {
        it(`is made up for exactly, by a longer batch, when it comes at ${moment} of the way`, async () => {
          await prepare();
          const [one, two] = [batchOf(1), batchOf(2)];
          await apply(one);
          const crashed = models;
          models = await crashed.crashDuring!(() => apply(two, one.length + 1), moment);
          await crashed.close();
          const done = (await models.writer.state())?.checkpoint ?? "";
          // What a runner does: it reads on from the checkpoint, this time further.
          const rest = [...entriesOf(one), ...entriesOf(two, one.length + 1),
            { position: position(one.length + two.length + 1), changes: [add("s1", 0, 1), set(1, { size: 3 })] }];
          await models.writer.apply(rest.filter((entry) => entry.position > done), rest.at(-1)!.position);
          const plain = new InMemoryReadModels();
          await plain.reset([things], "any");
          await plain.apply(rest, rest.at(-1)!.position);
          expect(await summary(models.reader)).to.deep.equal(await summary(plain));
        });
      }
    });

    if (wholeBatches) it("shows a batch whole or not at all", async () => {
      await prepare();
      const versions = (version: number) => Array.from({ length: 900 }, (_, n) => put(thing(n, { size: version })));
      await apply(versions(0));
      let asked = 0;
      for (let version = 1; version <= 3; version += 1) {
        const applying = apply([...versions(version), add("s0", 0, 900)], 1 + version * 1000);
        const state = { done: false };
        void applying.finally(() => { state.done = true; });
        while (!state.done) {
          const [documents, total] = await Promise.all([all(), models.reader.sum("s0")]);
          const seen = new Set(documents.map(({ size }) => size));
          expect(seen.size).to.equal(1);
          expect([...seen][0]).to.equal(total / 900);
          asked += 1;
          await new Promise((resolve) => setImmediate(resolve));
        }
        await applying;
      }
      expect(asked).to.be.greaterThan(3);
    });
  });
}
