import { expect } from "chai";
import fc from "fast-check";
import type { Change, ReadModels } from "../../src/kernel/ports/read-models.ts";
import { InMemoryReadModels } from "../support/in-memory-read-models.ts";
import {
  add, entriesOf, id, position, put, raise, remove, set, tallies, tally, thing, things, time, type ReadModelsTraits,
  type Tested,
} from "./read-models-things.ts";

/** Counters, checkpoints and batches: each entry counts once, even across crashes and repetitions. */
export function batchesContract(tested: Tested, { wholeBatches, crashes, runs }: ReadModelsTraits): void {
  const { prepare, apply, all } = tested;

  describe("counters", () => {
    beforeEach(prepare);

    it("sum up by scope and by range of buckets, both ends included", async () => {
      await apply([add("a", 1, 1), add("a", 2, 10), add("a", 3, 100), add("b", 2, 7), add("a", 2, -3)]);
      await apply([add("a", 3, 100)], 10);
      const sums = await Promise.all([
        tested.models.reader.sum("a"),
        tested.models.reader.sum("a", 2),
        tested.models.reader.sum("a", 2, 2),
        tested.models.reader.sum("a", undefined, 2),
        tested.models.reader.sum("b"),
        tested.models.reader.sum("c"),
        tested.models.reader.sum("a", 4, 9),
      ]);
      expect(sums).to.deep.equal([208, 207, 7, 8, 7, 0, 0]);
    });

    it("are listed one by one, in the order of their buckets, without those of zero", async () => {
      await apply([add("a", 30, 1), add("a", -2, 4), add("a", 7, 10), add("a", 9, 5), add("b", 8, 7), add("a", 7, 1)]);
      await apply([add("a", 9, -5)], 9);
      const { reader } = tested.models;
      const every = [{ bucket: -2, total: 4 }, { bucket: 7, total: 11 }, { bucket: 30, total: 1 }];
      expect(await reader.buckets("a")).to.deep.equal(every);
      expect(await reader.buckets("a", 7)).to.deep.equal(every.slice(1));
      expect(await reader.buckets("a", -2, 29)).to.deep.equal(every.slice(0, 2));
      expect(await reader.buckets("a", undefined, -3)).to.deep.equal([]);
      expect(await reader.buckets("c")).to.deep.equal([]);
    });

    it("update coarser ones, too", async () => {
      const rollUps = { ten: 10, all: Infinity };
      await apply(
        [
          [19, 1],
          [20, 10],
          [29, 100],
          [30, 1000],
          [20, -10],
        ].map(([bucket = 0, by = 0]) => ({ op: "add" as const, scope: "a", bucket, by, rollUps })),
      );
      await apply([{ op: "add", scope: "a", bucket: 25, by: 5, rollUps }], 9);
      const sums = await Promise.all([
        tested.models.reader.sum("a"),
        tested.models.reader.sum("a", 20, 29),
        tested.models.reader.sum("a/ten", 2, 2),
        tested.models.reader.sum("a/ten", 1, 2),
        tested.models.reader.sum("a/all", 0, 0),
        tested.models.reader.sum("a/all"),
      ]);
      expect(sums).to.deep.equal([1106, 105, 105, 106, 1106, 1106]);
    });

    it("may go below zero and come back", async () => {
      await apply([add("a", 0, -2)]);
      expect(await tested.models.reader.sum("a")).to.equal(-2);
      await apply([add("a", 0, 2)], 2);
      expect(await tested.models.reader.sum("a")).to.equal(0);
      await apply([add("a", 0, 5)], 3);
      expect(await tested.models.reader.sum("a")).to.equal(5);
    });
  });

  describe("tallies", () => {
    beforeEach(() => tested.models.writer.reset([tallies], "any"));
    const found = () => tested.models.reader.find(
      { collection: "tallies", order: { field: "name", descending: false }, limit: 10 },
    );

    it("add to integers of several documents, raise their peaks, and begin absent ones", async () => {
      await apply([tally("a", ["x"]), tally("ab", ["x", "y 1", "x"], 5), tally("ab", ["l:-1"], 3), tally("bc", [])]);
      await apply([tally("a", ["x"], 4), tally("bc", ["x"], 9)], 5);
      expect(await found()).to.deep.equal([
        { name: "a", until: 7, numbers: { x: 4, "y 1": 1, "l:-1": 1, peak: 5 } },
        { name: "b", until: 7, numbers: { x: 3, "y 1": 1, "l:-1": 1, peak: 9 } },
        { name: "c", until: 7, numbers: { x: 1, peak: 9 } },
      ]);
      expect(await tested.models.reader.get("tallies", "a")).to.deep.equal((await found())[0]);
    });

    it("go with their documents, and begin again", async () => {
      const removed = { op: "remove", collection: "tallies", key: "a" } as const;
      await apply([tally("ab", ["x"], 5)]);
      await apply([tally("a", ["x"]), removed, tally("a", ["y"])], 2);
      expect((await found()).map(({ numbers }) => numbers)).to.deep.equal([{ y: 1 }, { x: 1, peak: 5 }]);
      await tested.models.writer.amend([removed]);
      expect((await found()).map(({ name }) => name)).to.deep.equal(["b"]);
    });

    it("that add nothing begin documents without numbers, and change none", async () => {
      const numbers = async () => (await found()).map((document) => document["numbers"]);
      await apply([tally("a", [])]);
      expect(await found()).to.deep.equal([{ name: "a", until: 7, numbers: {} }]);
      await apply([tally("a", []), tally("bc", [], 3)], 2);
      expect(await numbers()).to.deep.equal([{}, { peak: 3 }, { peak: 3 }]);
      await apply([tally("a", ["x"]), tally("bc", ["x"])], 4);
      await apply([tally("a", []), tally("bc", [])], 6);
      expect(await numbers()).to.deep.equal([{ x: 1 }, { x: 1, peak: 3 }, { x: 1, peak: 3 }]);
    });

    it("that are applied twice count once", async () => {
      await apply([tally("ab", ["x"]), tally("a", ["x"])]);
      await apply([tally("ab", ["x"]), tally("a", ["x"]), tally("a", ["x"])]);
      expect((await found()).map(({ numbers }) => numbers)).to.deep.equal([{ x: 3 }, { x: 1 }]);
    });
  });

  const change: fc.Arbitrary<Change> = fc.oneof(
    fc.tuple(fc.nat(3), fc.nat(9)).map(([n, size]) => put(thing(n, { size }))),
    fc.tuple(fc.nat(3), fc.nat(9)).map(([n, size]) => set(n, { size })),
    fc.tuple(fc.nat(3), fc.nat(9)).map(([n, on]) => set(n, { on: on > 4 })),
    fc.tuple(fc.nat(3), fc.nat(9)).map(([n, size]) => raise(n, { size })),
    fc.tuple(fc.nat(3), fc.nat(9), fc.nat(9)).map(([n, size, ms]) => raise(n, { size, at: time(ms) })),
    fc.nat(3).map(remove),
    fc.tuple(fc.constantFrom("a", "ab", "bc"), fc.subarray(["x", "y"]), fc.option(fc.nat(9), { nil: undefined }))
      .map(([rows, names, peak]) => tally(rows, names, peak)),
    fc.constantFrom("a", "b").map((key): Change => ({ op: "remove", collection: "tallies", key })),
    fc.tuple(fc.nat(1), fc.nat(2), fc.integer({ min: -2, max: 2 })).map(([s, bucket, by]) => add(`s${s}`, bucket, by)),
  );
  const summary = async (reader: ReadModels) => ({
    documents: await reader.find({ collection: "things", order: { field: "id", descending: false }, limit: 5000 }),
    tallies: await reader.find({ collection: "tallies", order: { field: "name", descending: false }, limit: 10 }),
    counters: await Promise.all(
      ["s0", "s1"].flatMap((scope) => [0, 1, 2].map((bucket) => reader.sum(scope, bucket, bucket))),
    ),
  });

  it("are the same for every division into batches", async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(change, { maxLength: 40 }), fc.integer({ min: 1, max: 12 }), async (changes, cut) => {
        const plain = new InMemoryReadModels();
        for (const [writer, size] of [
          [tested.models.writer, cut],
          [plain, 1],
        ] as const) {
          await writer.reset([things, tallies], "any");
          for (let at = 0; at < changes.length; at += size) {
            const batch = entriesOf(changes.slice(at, at + size), at + 1);
            await writer.apply(batch, position(at + batch.length));
          }
        }
        expect(await summary(tested.models.reader)).to.deep.equal(await summary(plain));
      }),
      { numRuns: runs },
    );
  });

  describe("raised fields", () => {
    beforeEach(prepare);

    it("never decrease, in any order of changes, and do not create documents", async () => {
      await apply([put(thing(1)), raise(1, { size: 3, at: time(7) }), raise(2, { size: 3 })]);
      const sizes = [5, 4, -1];
      for (const [step, size] of sizes.entries()) await apply([raise(1, { size, at: time(size) })], 10 + step);
      expect(await all()).to.deep.equal([thing(1, { size: 5, at: time(7) })]);
      await apply([set(1, { size: 1 }), raise(1, { size: 2 }), raise(1, { at: time(8) })], 20);
      expect(await all()).to.deep.equal([thing(1, { size: 2, at: time(8) })]);
      await apply([set(1, { size: null }), raise(1, { size: -4 })], 30);
      expect(await all()).to.deep.equal([thing(1, { size: -4, at: time(8) })]);
    });
  });

  describe("amendments", () => {
    beforeEach(prepare);

    it("change documents and counters once, and leave the checkpoint where it is", async () => {
      await apply([put(thing(1, { size: 1 })), put(thing(2)), add("a", 0, 5)]);
      await tested.models.writer.amend([set(1, { size: 2 }), remove(2), put(thing(3)), add("a", 0, -2)]);
      await tested.models.writer.amend([add("a", 0, -2)]);
      await tested.models.writer.amend([]);
      expect(await all()).to.deep.equal([thing(1, { size: 2 }), thing(3)]);
      expect(await tested.models.reader.sum("a")).to.equal(1);
      expect(await tested.models.reader.checkpoint()).to.equal(position(3));
      await apply([add("a", 0, 10)], 4);
      tested.models = await tested.models.reopen();
      expect(await tested.models.reader.sum("a")).to.equal(11);
      expect(await all()).to.deep.equal([thing(1, { size: 2 }), thing(3)]);
    });

    it("that fail change nothing", async () => {
      await apply([put(thing(1, { size: 1 })), add("a", 0, 5)]);
      const nowhere = { op: "remove", collection: "nowhere", key: id(1) } as const;
      const changes = [set(1, { size: 2 }), add("a", 0, 1), nowhere];
      const failed = await tested.models.writer.amend(changes).then(
        () => false,
        () => true,
      );
      expect(failed).to.equal(true);
      expect(await all()).to.deep.equal([thing(1, { size: 1 })]);
      expect(await tested.models.reader.sum("a")).to.equal(5);
    });
  });

  describe("checkpoint", () => {
    it("is null before the first reset, the log's start after it, and follows applied batches", async () => {
      expect(await tested.models.writer.state()).to.equal(null);
      await prepare();
      expect(await tested.models.writer.state()).to.deep.equal({ checkpoint: "", fingerprint: "first" });
      expect(await tested.models.reader.checkpoint()).to.equal("");
      await tested.models.writer.apply([], position(7));
      expect(await tested.models.reader.checkpoint()).to.equal(position(7));
      expect(await tested.models.writer.state()).to.deep.equal({ checkpoint: position(7), fingerprint: "first" });
    });

    it("is the only position at which the read models stand", async () => {
      expect(await tested.models.reader.standsAt("")).to.equal(true);
      await prepare();
      expect(await tested.models.reader.standsAt("")).to.equal(true);
      await apply([add("s0", 0, 1), add("s0", 0, 1)]);
      const [before, at, after] = [position(1), position(2), position(3)];
      const stands = [];
      for (const place of ["", before, at, after]) stands.push(await tested.models.reader.standsAt(place));
      expect(stands).to.deep.equal([false, false, true, false]);
      await tested.models.writer.amend([add("s0", 0, 1)]);
      expect(await tested.models.reader.standsAt(at)).to.equal(true);
    });

    it("is settled under the fingerprint of its read models, and under no other", async () => {
      const settled = () =>
        Promise.all(["first", "second"].map((fingerprint) => tested.models.reader.settle(fingerprint)));
      expect(await settled()).to.deep.equal([false, false]);
      await prepare();
      expect(await settled()).to.deep.equal([true, false]);
      await tested.models.writer.reset([things, tallies], "second");
      tested.models = await tested.models.reopen();
      expect(await settled()).to.deep.equal([false, true]);
    });

    it("lets a repeated batch change nothing", async () => {
      await prepare();
      const changes = [put(thing(1, { size: 1 })), add("s0", 0, 1), set(1, { size: 2 }), add("s0", 0, 1)];
      await apply(changes);
      await apply(changes);
      expect(await tested.models.reader.sum("s0")).to.equal(2);
      await apply([remove(1)], 5);
      await apply(changes);
      expect(await tested.models.reader.get("things", id(1))).to.equal(null);
      expect(await tested.models.reader.sum("s0")).to.equal(2);
      expect(await tested.models.reader.checkpoint()).to.equal(position(5));
    });

    it("lets a longer batch that overlaps an applied one add only its new entries", async () => {
      await prepare();
      const changes = [
        add("s0", 0, 1),
        put(thing(1, { size: 1 })),
        add("s0", 0, 1),
        set(1, { size: 2 }),
        add("s0", 0, 1),
      ];
      await apply(changes.slice(0, 3));
      await apply(changes);
      expect(await tested.models.reader.sum("s0")).to.equal(3);
      expect(await tested.models.reader.get("things", id(1))).to.deep.equal(thing(1, { size: 2 }));
    });

    it("is kept with all data when the storage is opened again", async () => {
      await prepare();
      await apply([put(thing(1, { label: "a" })), add("s0", 3, 4)]);
      tested.models = await tested.models.reopen();
      expect(await tested.models.writer.state()).to.deep.equal({ checkpoint: position(2), fingerprint: "first" });
      expect(await tested.models.reader.get("things", id(1))).to.deep.equal(thing(1, { label: "a" }));
      expect(await tested.models.reader.sum("s0", 3, 3)).to.equal(4);
      await apply([set(1, { label: "b" })], 3);
      expect(await all({ where: { label: "b" } })).to.have.length(1);
    });

    it("begins again at a reset, with all data deleted", async () => {
      await prepare();
      await apply([put(thing(1)), add("s0", 0, 4)]);
      const smaller = { ...things, fields: { id: "id", colour: "text" }, indexes: [["colour"]] } as const;
      await tested.models.writer.reset([smaller], "second");
      expect(await tested.models.writer.state()).to.deep.equal({ checkpoint: "", fingerprint: "second" });
      expect(await all()).to.deep.equal([]);
      expect(await tested.models.reader.sum("s0")).to.equal(0);
      await apply([{ op: "put", collection: "things", key: id(1), document: { id: id(1), colour: "red" } }]);
      expect(await all()).to.deep.equal([{ id: id(1), colour: "red" }]);
    });
  });

  describe("catching up", () => {
    beforeEach(prepare);

    it("is true at once for a covered position, and false after the timeout for a later one", async () => {
      await tested.models.writer.apply([], position(5));
      expect(await tested.models.reader.caughtUp(position(5), 0)).to.equal(true);
      expect(await tested.models.reader.caughtUp("", 0)).to.equal(true);
      expect(await tested.models.reader.caughtUp(position(6), 20)).to.equal(false);
    });

    it("answers all waiting callers whose position is reached, and no others", async () => {
      const told: number[] = [];
      const waiting = [3, 1, 2, 4].map(async (n) => {
        if (await tested.models.reader.caughtUp(position(n), n === 4 ? 300 : 20_000)) told.push(n);
      });
      await tested.models.writer.apply([], position(3));
      await Promise.all(waiting.slice(0, 3));
      expect(told.toSorted()).to.deep.equal([1, 2, 3]);
      await waiting[3];
      expect(told).to.have.length(3);
    });

    it("is reported only once the documents are readable", async () => {
      const waiting = tested.models.reader.caughtUp(position(1), 20_000);
      await apply([put(thing(1))]);
      expect(await waiting).to.equal(true);
      expect(await tested.models.reader.get("things", id(1))).to.deep.equal(thing(1));
    });
  });

  describe("a crash in the middle of a batch", () => {
    const count = 600;
    const batchOf = (version: number) =>
      Array.from({ length: count }, (_, n) => [
        n % 3 === 2 && version === 2 ? remove(n) : put(thing(n, { size: version })),
        add("s0", n % 3, 1),
        tally(n % 5 === 0 ? "ab" : "bc", ["x"], n),
        ...(n % 2 ? [set(n, { on: true })] : []),
      ]).flat();

    for (const moment of crashes ? [0, 0.2, 0.5, 0.8, 1] : []) {
      it(`after ${moment} of it is repaired exactly by a longer batch`, async () => {
        await prepare();
        const [one, two] = [batchOf(1), batchOf(2)];
        await apply(one);
        const crashed = tested.models;
        tested.models = await crashed.crashDuring!(() => apply(two, one.length + 1), moment);
        await crashed.close();
        const done = (await tested.models.writer.state())?.checkpoint ?? "";
        // Like a projection run: it reads on from the checkpoint, this time further.
        const rest = [
          ...entriesOf(one),
          ...entriesOf(two, one.length + 1),
          { position: position(one.length + two.length + 1), changes: [add("s1", 0, 1), set(1, { size: 3 })] },
        ];
        await tested.models.writer.apply(
          rest.filter((entry) => entry.position > done),
          rest.at(-1)!.position,
        );
        const plain = new InMemoryReadModels();
        await plain.reset([things, tallies], "any");
        await plain.apply(rest, rest.at(-1)!.position);
        expect(await summary(tested.models.reader)).to.deep.equal(await summary(plain));
      });
    }
  });

  it("removes the counters whose scope contains a text, and counts them anew", async () => {
    await prepare();
    await apply([add("kept/10", 0, 1), add("s/1.0/a", 1, 2), add("s/1.0", 0, 3), add("s/1x0", 0, 4)]);
    await tested.models.writer.removeCounters("/1.0");
    const sums = async () => Promise.all(
      ["kept/10", "s/1.0/a", "s/1.0", "s/1x0"].map((scope) => tested.models.reader.sum(scope)));
    expect(await sums()).to.deep.equal([1, 0, 0, 4]);
    await apply([add("s/1.0", 0, 5)], 5);
    expect(await sums()).to.deep.equal([1, 0, 5, 4]);
  });

  if (wholeBatches)
    it("shows a batch whole or not at all", async () => {
      await prepare();
      const versions = (version: number) => Array.from({ length: 900 }, (_, n) => put(thing(n, { size: version })));
      await apply(versions(0));
      let asked = 0;
      for (let version = 1; version <= 3; version += 1) {
        const applying = apply([...versions(version), add("s0", 0, 900)], 1 + version * 1000);
        const state = { done: false };
        void applying.finally(() => {
          state.done = true;
        });
        while (!state.done) {
          const [documents, total] = await Promise.all([all(), tested.models.reader.sum("s0")]);
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
}
