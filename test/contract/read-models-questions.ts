import { expect } from "chai";
import fc from "fast-check";
import type { Document, FieldValue, Query } from "../../src/kernel/ports/read-models.ts";
import { InMemoryReadModels } from "../support/in-memory-read-models.ts";
import {
  entriesOf, id, position, put, remove, set, thing, things, time, type ReadModelsTraits, type Tested,
} from "./read-models-things.ts";

const idsOf = (documents: readonly Document[]) => documents.map((document) => document["id"]);

/** The query from a place on, with a value that a document can have there. */
function behind({ offset: _, ...query }: Query, { key, isNull, ...values }: Document): Query {
  const { order: { field }, where = {} } = query;
  const value = field === "id" ? key : where[field] ?? (isNull || field in where ? null : values[field]);
  return { ...query, after: { value: value ?? null, key: key ?? null } };
}

/** Documents come back as put, and queries about them are answered correctly. */
export function questionsContract(tested: Tested, { runs }: ReadModelsTraits): void {
  const { prepare, apply, all } = tested;

  describe("documents", () => {
    beforeEach(prepare);

    it("come back as they were put, with fields of all kinds, in a get and in a list", async () => {
      const full = thing(1, {
        owner: id(9),
        label: "ü\u{1f600} '\"",
        size: -3,
        on: true,
        at: time(1),
        extra: { a: [1, null] },
      });
      const empty = thing(2);
      await apply([put(full), put(empty), put(thing(3, { on: false, size: 0, label: "", extra: [] }))]);
      expect(await tested.models.reader.get("things", id(1))).to.deep.equal(full);
      expect(await tested.models.reader.get("things", id(2))).to.deep.equal(empty);
      expect((await all())[0]).to.deep.equal(full);
      expect(await tested.models.reader.get("things", id(3))).to.deep.equal(
        thing(3, { on: false, size: 0, label: "", extra: [] }),
      );
    });

    it("have null in omitted fields", async () => {
      await apply([put({ id: id(1), label: "a" })]);
      expect(await tested.models.reader.get("things", id(1))).to.deep.equal(thing(1, { label: "a" }));
    });

    it("are replaced whole by a put, in part by a set, and gone after a remove", async () => {
      await apply([put(thing(1, { label: "a", size: 1 }))]);
      await apply([put(thing(1, { size: 2 }))], 2);
      expect(await tested.models.reader.get("things", id(1))).to.deep.equal(thing(1, { size: 2 }));
      await apply([set(1, { label: "b", at: time(5) })], 3);
      expect(await tested.models.reader.get("things", id(1))).to.deep.equal(
        thing(1, { label: "b", size: 2, at: time(5) }),
      );
      await apply([set(1, { label: null })], 4);
      expect(await tested.models.reader.get("things", id(1))).to.deep.equal(thing(1, { size: 2, at: time(5) }));
      await apply([remove(1)], 5);
      expect(await tested.models.reader.get("things", id(1))).to.equal(null);
    });

    it("are not created by a set", async () => {
      await apply([set(1, { label: "a" }), put(thing(2)), remove(2), set(2, { label: "b" })]);
      expect(await all()).to.deep.equal([]);
    });

    it("are separate for each collection", async () => {
      await apply([
        put(thing(1)),
        { op: "put", collection: "notes", key: "a/b c", document: { name: "a/b c", text: "x" } },
        remove(1),
      ]);
      expect(await tested.models.reader.get("notes", "a/b c")).to.deep.equal({ name: "a/b c", text: "x" });
      expect(await tested.models.reader.get("things", id(1))).to.equal(null);
    });

    it("leave nothing behind if a batch creates and removes them", async () => {
      const fresh = (n: number) => ({ ...put(thing(n, { label: "fresh" })), fresh: true as const });
      await apply([fresh(1), remove(1), fresh(2), remove(2), fresh(2), set(2, { size: 1 }), put(thing(3)), remove(3)]);
      expect(await all()).to.deep.equal([thing(2, { label: "fresh", size: 1 })]);
      await apply([remove(2), fresh(2), remove(2)], 20);
      expect(await all()).to.deep.equal([]);
    });

    it("are not found under other or invalid keys", async () => {
      await apply([put(thing(1))]);
      for (const key of ["", "x", id(2), id(1).toUpperCase() + " ", `${id(1)}0`]) {
        expect(await tested.models.reader.get("things", key), key).to.equal(null);
      }
      expect(await all({ where: { owner: "no id" } })).to.deep.equal([]);
      expect(await tested.models.reader.count({ collection: "things", where: { id: "no id" } })).to.equal(0);
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
      const within = async (from?: string, to?: string) =>
        idsOf(
          await all({
            range: { field: "at", ...(from !== undefined && { from }), ...(to !== undefined && { to }) },
            order: { field: "at", descending: false },
          }),
        );
      expect(await within(time(1), time(2))).to.deep.equal([1, 2].map(id));
      expect(await within(time(2))).to.deep.equal([2, 3].map(id));
      expect(await within(undefined, time(1))).to.deep.equal([0, 1].map(id));
      expect(await within()).to.deep.equal([0, 1, 2, 3].map(id));
      expect(await within(time(3), time(0))).to.deep.equal([]);
    });

    it("narrow a range by one of a second field, whichever gives the order", async () => {
      await apply([0, 1, 2, 3, 4].map((n) =>
        put(thing(n, { owner: id(9), size: n, at: n === 3 ? null : time(4 - n) }))));
      const [size, at] = [{ field: "size", from: 1, to: 4 }, { field: "at", from: time(0), to: time(2) }];
      for (const [range, within] of [[size, at], [at, size]] as const) {
        for (const field of ["id", "size", "at"]) {
          const order = { field, descending: false };
          const found = idsOf(await all({ where: { owner: id(9) }, range, within, order }));
          expect(found, field).to.deep.equal((field === "at" ? [4, 2] : [2, 4]).map(id));
        }
      }
    });

    it("page without gap or repetition", async () => {
      await apply(Array.from({ length: 25 }, (_, n) => put(thing(n, { owner: id(9), size: n % 3 }))));
      const pages: Document[] = [];
      for (let offset = 0; offset < 30; offset += 7) {
        pages.push(
          ...(await all({ where: { owner: id(9) }, order: { field: "size", descending: true }, offset, limit: 7 })),
        );
      }
      const whole = await all({ where: { owner: id(9) }, order: { field: "size", descending: true } });
      expect(whole).to.have.length(25);
      expect(pages).to.deep.equal(whole);
    });

    it("begin behind a place, there or not, and end without gap or repetition, either way", async () => {
      const sizes = [3, null, 1, 3, null, 2, 3];
      await apply(sizes.map((size, n) => put(thing(2 * n, { owner: id(9), size }))));
      for (const descending of [false, true]) {
        const order = { where: { owner: id(9) }, order: { field: "size", descending } };
        const whole = await all(order);
        for (const [at, { size, id: key }] of whole.entries()) {
          const after = { value: size ?? null, key: key ?? null };
          expect(await all({ ...order, after, limit: 2 })).to.deep.equal(whole.slice(at + 1, at + 3));
        }
      }
      const after = { value: 3, key: id(5) };
      const order = { field: "size", descending: false };
      expect(idsOf(await all({ where: { owner: id(9) }, order, after }))).to.deep.equal([6, 12].map(id));
    });

    it("select by many keys", async () => {
      await apply([1, 2, 3, 4].map((n) => put(thing(n))));
      const values = ["no id", ...[4, 9, 2, ...Array.from({ length: 96 }, (_, n) => n + 10)].map(id)];
      const anyOf = { field: "id", values };
      expect(idsOf(await all({ anyOf, limit: 100 }))).to.deep.equal([2, 4].map(id));
      expect(await tested.models.reader.count({ collection: "things", anyOf })).to.equal(2);
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
      id: fc.nat(200).map(id),
      label: fc.constantFrom("a", "b", "c"),
      size: small,
      at: fc.nat(10).map(time),
    };
    const sortField = fc.constantFrom("id", "label", "size", "at");
    const range = sortField.chain((field) =>
      fc.record({ field: fc.constant(field), from: values[field]!, to: values[field]! }, { requiredKeys: ["field"] }),
    );
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
        within: range,
        order: fc.record({ field: sortField, descending: fc.boolean() }),
        offset: fc.nat(10),
        place: fc.record({ key: fc.nat(200).map(id), isNull: fc.boolean(), ...values }),
        limit: fc.nat({ max: 10 }).map((n) => n + 1),
      },
      { requiredKeys: ["collection", "order", "limit"] },
    );
    await fc.assert(
      fc.asyncProperty(documents, fc.array(query, { minLength: 1, maxLength: 8 }), async (docs, queries) => {
        const plain = new InMemoryReadModels();
        for (const writer of [tested.models.writer, plain]) {
          await writer.reset([things], "any");
          await writer.apply(entriesOf(docs.map(put)), position(docs.length));
        }
        for (const { place, ...query } of queries as unknown as (Query & { readonly place?: Document })[]) {
          const asked = place ? behind(query, place) : query;
          const { order, offset: _offset, after: _after, limit, ...selection } = asked;
          expect(await tested.models.reader.find(asked), "find").to.deep.equal(await plain.find(asked));
          expect(await tested.models.reader.keys(asked), "keys").to.deep.equal(await plain.keys(asked));
          expect(await tested.models.reader.count(selection), "count").to.equal(await plain.count(selection));
          expect(await tested.models.reader.distinct(selection, order.field, { limit }), "distinct").to.deep.equal(
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
      tested.models.reader.distinct({ collection: "things", ...(range && { range }) }, "owner", options);

    it("come ascending, each once, without null", async () => {
      expect(await owners({ limit: 10 })).to.deep.equal([1, 2, 3, 4, 5].map(id));
    });

    it("come in pages, each after the last value of the one before", async () => {
      expect(await owners({ limit: 2 })).to.deep.equal([1, 2].map(id));
      expect(await owners({ after: id(2), limit: 2 })).to.deep.equal([3, 4].map(id));
      expect(await owners({ after: id(5), limit: 2 })).to.deep.equal([]);
      expect(await owners({ after: "no id", limit: 2 })).to.deep.equal([]);
    });

    it("come from the selected documents only", async () => {
      expect(await owners({ limit: 10 }, { field: "at", from: time(2), to: time(4) })).to.deep.equal([1, 2, 3].map(id));
      expect(await owners({ limit: 10 }, { field: "at", to: time(2) })).to.deep.equal([1, 2, 3].map(id));
      expect(await owners({ limit: 10 }, { field: "at", from: time(5) })).to.deep.equal([4, 5].map(id));
      expect(await owners({ after: id(1), limit: 1 }, { field: "at", to: time(2) })).to.deep.equal([id(2)]);
    });
  });
}
