import { expect } from "chai";
import {
  mostCharacters, mostConditions, mostDepth, mostValues, passes, problemOfFilter, type Filter, type FilteredMessage,
} from "../../../../src/features/subscriptions/filter.ts";
import { chanceFrom } from "../../../support/chance.ts";
import { sized } from "../../../support/size.ts";

const message = (data: unknown, more: Partial<FilteredMessage> = {}): FilteredMessage => ({ ...more, data });

type Row = readonly [condition: unknown, passing: readonly unknown[], failing: readonly unknown[]];

/** Of each operator: conditions on the field `a`, and values of it that pass and fail; undefined is missing. */
const cases: Readonly<Record<string, readonly Row[]>> = {
  "a literal": [
    ["x", ["x"], ["X", "", "xx", null, undefined, ["x"], { x: "x" }]],
    [1, [1, 1.0], [1.5, "1", true, null, undefined, [1]]],
    [0, [0, -0], ["", false, null, "0", undefined]],
    [true, [true], ["true", 1, false, null, undefined]],
    [null, [null], [undefined, "null", 0, false, ""]],
  ],
  $eq: [
    [{ $eq: "x" }, ["x"], ["X", null, undefined, ["x"]]],
    [{ $eq: 1 }, [1], ["1", true, undefined]],
    [{ $eq: null }, [null], [undefined, 0]],
  ],
  $neq: [
    [{ $neq: "x" }, ["y", 1, null, undefined, ["x"], {}], ["x"]],
    [{ $neq: null }, ["null", 0, undefined], [null]],
  ],
  $gt: [
    [{ $gt: 1 }, [2, 1.5, 1e300], [1, 0, -2, "2", true, null, undefined, [2]]],
    [{ $gt: "b" }, ["c", "ba"], ["b", "a", "B", 3, null, undefined]],
  ],
  $gte: [
    [{ $gte: 1 }, [1, 2], [0.9, "1", true, null, undefined]],
    [{ $gte: "2026-01-31" }, ["2026-01-31", "2026-02-01T00:00:00Z"], ["2026-01-30", "2025", 2027]],
  ],
  $lt: [
    [{ $lt: 1 }, [0, -1], [1, 2, "0", false, null, undefined]],
    [{ $lt: "b" }, ["a", "", "B"], ["b", "c", 1, undefined]],
  ],
  $lte: [
    [{ $lte: 1 }, [1, 0], [1.1, "1", null, undefined]],
    [{ $lte: "b" }, ["b", "a"], ["ba", "c", undefined]],
  ],
  $in: [
    [{ $in: ["x", 1, null] }, ["x", 1, null], ["1", "y", true, undefined, ["x"]]],
    [{ $in: [] }, [], ["x", null, undefined]],
  ],
  $nin: [
    [{ $nin: ["x", 1, null] }, ["1", "y", true, undefined, ["x"]], ["x", 1, null]],
    [{ $nin: [] }, ["x", null, undefined], []],
  ],
  $startsWith: [[{ $startsWith: "ab" }, ["ab", "abc"], ["a", "Abc", "cab", 1, null, undefined, ["ab"]]]],
  $endsWith: [[{ $endsWith: "bc" }, ["bc", "abc"], ["c", "abC", "bcd", 1, null, undefined]]],
  $exist: [
    [{ $exist: true }, ["x", null, 0, false, [], {}], [undefined]],
    [{ $exist: false }, [undefined], ["x", null, 0, false, [], {}]],
  ],
  $and: [
    [{ $and: [{ $gt: 1 }, { $lt: 5 }] }, [2, 4.9], [1, 5, "2", undefined]],
    [{ $gt: 1, $lt: 5 }, [2], [1, 5]],
  ],
  $or: [
    [{ $or: ["x", { $gt: 5 }] }, ["x", 6], ["y", 5, undefined]],
    [{ $or: [{ b: 1 }, { c: 2 }] }, [{ b: 1 }, { c: 2, b: 3 }], [{ b: 2 }, {}, undefined]],
  ],
  $not: [
    [{ $not: { $gt: 1 } }, [1, 0, "2", null, undefined], [2]],
    [{ $not: "x" }, ["y", undefined, null], ["x"]],
    [{ $not: { $not: { $exist: true } } }, [null, 1], [undefined]],
  ],
  "nested objects": [
    [
      { b: { c: 1 } }, [{ b: { c: 1, d: 2 } }],
      [{ b: { c: 2 } }, { b: 1 }, { b: null }, { b: [{ c: 1 }] }, {}, undefined, "b"],
    ],
    [{ b: { c: { $neq: 1 } } }, [{ b: { c: 2 } }, { b: 1 }, {}, undefined, null], [{ b: { c: 1 } }]],
    [{ b: { $exist: true, c: 1 } }, [{ b: { c: 1 } }], [{ b: {} }, {}]],
    [{ length: 2 }, [{ length: 2 }], [[1, 2], "ab"]],
    [{ toString: { $exist: true } }, [JSON.parse('{"toString":1}')], [{}, "x"]],
    [JSON.parse('{"__proto__":{"x":1}}'), [JSON.parse('{"__proto__":{"x":1}}')], [{}, { x: 1 }]],
  ],
};

describe("a subscription's filter", () => {
  for (const [operator, rows] of Object.entries(cases)) {
    it(`tells by ${operator} which values pass`, () => {
      for (const [condition, passing, failing] of rows) {
        const filter = { data: { a: condition } };
        expect(problemOfFilter(filter)).to.equal(null);
        const told = (value: unknown) => passes(filter, message(value === undefined ? {} : { a: value }));
        for (const value of passing) expect(told(value), `${JSON.stringify([condition, value])} passes`).to.equal(true);
        for (const value of failing) expect(told(value), `${JSON.stringify([condition, value])} fails`).to.equal(false);
      }
    });
  }

  it("looks at type, owner, tags and data of a message, of which all but the data may be missing", () => {
    const whole = message({ n: 1 }, { type: "invoice.paid", ownerId: "acme", tags: { region: "eu" } });
    const rows: readonly (readonly [Filter, boolean, boolean])[] = [
      [{ type: "invoice.paid" }, true, false],
      [{ type: { $startsWith: "invoice." }, ownerId: "acme" }, true, false],
      [{ tags: { region: { $in: ["eu", "uk"] } } }, true, false],
      [{ tags: { zone: { $neq: "x" } } }, true, true],
      [{ type: { $exist: false } }, false, true],
      [{ ownerId: null }, false, false],
      [{ $or: [{ type: "x" }, { data: { n: 1 } }] }, true, true],
      [{ $not: { tags: { region: "eu" } } }, false, true],
    ];
    for (const [filter, ofWhole, ofBare] of rows) {
      expect(problemOfFilter(filter)).to.equal(null);
      expect([passes(filter, whole), passes(filter, message({ n: 1 }))], JSON.stringify(filter))
        .to.deep.equal([ofWhole, ofBare]);
    }
  });

  it("reads the data only where it has a condition on it", () => {
    const untouched = { type: "a", get data(): never { throw new Error("read"); } };
    expect(passes({ type: "a", $not: { tags: { x: 1 } } }, untouched)).to.equal(true);
    expect(passes({ type: "b", data: { n: 1 } }, untouched)).to.equal(false);
    expect(() => passes({ type: "a", data: { n: 1 } }, untouched)).to.throw("read");
  });

  const nested = (levels: number): unknown => (levels === 0 ? 1 : { a: nested(levels - 1) });
  it("is refused with the name of the field that is wrong", () => {
    const wrong: readonly (readonly [Filter, string])[] = [
      [{}, "filter: must have a condition"],
      [{ data: {} }, "filter.data: must have a condition"],
      [{ amount: 1 }, "filter.amount: must be type, ownerId, tags or data"],
      [{ $or: [{ data: { a: 1 } }, { b: 1 }] }, "filter.$or.1.b: must be type, ownerId, tags or data"],
      [{ $and: ["x"] }, "filter.$and.0: must be an object of conditions"],
      [{ $exist: true }, "filter.$exist: must be within type, ownerId, tags or data"],
      [{ data: { a: [1] } }, "filter.data.a: must be a string, a number, a boolean, null or an object of conditions"],
      [{ data: { a: { $regex: "x" } } }, "filter.data.a.$regex: must be one of $eq, $neq, $gt, $gte, $lt, $lte, $in, "
        + "$nin, $startsWith, $endsWith, $exist, $and, $or, $not"],
      [{ data: { $constructor: 1 } }, "filter.data.$constructor: must be one of"],
      [{ data: { a: { $eq: { b: 1 } } } }, "filter.data.a.$eq: must be a string, a number, a boolean or null"],
      [{ data: { a: { $gt: true } } }, "filter.data.a.$gt: must be a string or a number"],
      [{ data: { a: { $lte: null } } }, "filter.data.a.$lte: must be a string or a number"],
      [{ data: { a: { $in: "x" } } }, "filter.data.a.$in: must be a list of up to 100"],
      [{ data: { a: { $nin: [[1]] } } }, "filter.data.a.$nin: must be a list of up to 100"],
      [{ data: { a: { $startsWith: 1 } } }, "filter.data.a.$startsWith: must be a string"],
      [{ data: { a: { $exist: 1 } } }, "filter.data.a.$exist: must be true or false"],
      [{ data: { a: { $and: {} } } }, "filter.data.a.$and: must be a list of conditions"],
      [{ data: { a: { $or: [] } } }, "filter.data.a.$or: must be a list of conditions"],
      [{ data: { a: { $or: [1, [2]] } } }, "filter.data.a.$or.1: must be"],
      [{ data: { a: { $not: [] } } }, "filter.data.a.$not: must be"],
    ];
    for (const [filter, text] of wrong) expect(problemOfFilter(filter), JSON.stringify(filter)).to.include(text);
  });

  it("has limits of conditions, depth, values and characters", () => {
    const many = (count: number): Filter => ({
      data: Object.fromEntries(Array.from({ length: count }, (_, at) => [`a${at}`, at % 2 ? at : { $gt: at }])),
    });
    const values = (count: number): Filter => ({ data: { a: { $in: Array.from({ length: count }, (_, at) => at) } } });
    const long = (length: number): Filter => ({ data: { a: "x".repeat(length) } });
    const rest = JSON.stringify(long(0)).length;
    const atMost: readonly (readonly [Filter, Filter, string])[] = [
      [many(mostConditions), many(mostConditions + 1), `filter: must have at most ${mostConditions} conditions`],
      [{ data: nested(mostDepth - 1) }, { data: nested(mostDepth) }, `must be at most ${mostDepth} objects deep`],
      [values(mostValues), values(mostValues + 1), `must be a list of up to ${mostValues}`],
      [long(mostCharacters - rest), long(mostCharacters - rest + 1), `must be at most ${mostCharacters} characters`],
    ];
    for (const [most, more, text] of atMost) {
      expect(problemOfFilter(most)).to.equal(null);
      expect(problemOfFilter(more)).to.include(text);
    }
  });

  it("passes the messages that a plain model lets pass, for random filters and messages", () => {
    const random = randomFrom(50);
    const met = { pass: 0, fail: 0, refused: 0 };
    for (let round = 0; round < sized(10_000, 100_000); round += 1) {
      const filter = random.filter();
      const one = random.message();
      if (problemOfFilter(filter) !== null) {
        met.refused += 1;
        continue;
      }
      const expected = holds(filter, one);
      expect(passes(filter, one), `${JSON.stringify(filter)} ${JSON.stringify(one)}`).to.equal(expected);
      met[expected ? "pass" : "fail"] += 1;
    }
    const rounds = sized(10_000, 100_000);
    expect(met.pass, JSON.stringify(met)).to.be.greaterThan(rounds / 10);
    expect(met.fail, JSON.stringify(met)).to.be.greaterThan(rounds / 10);
    expect(met.refused, JSON.stringify(met)).to.be.lessThan(rounds / 10);
  });

  it("takes less than a millisecond, also where filter and payload are hostile", () => {
    const long = "x".repeat(250_000);
    const deep = (levels: number): unknown => (levels === 0 ? { a: long.slice(0, 100_000) } : { a: deep(levels - 1) });
    const wide = Object.fromEntries(Array.from({ length: 20_000 }, (_, at) => [`k${at}`, at]));
    const items = Array.from({ length: 100_000 }, (_, at) => at);
    const payloads: Readonly<Record<string, unknown>> = {
      "a long text": { a: long }, "deep objects": deep(120), "many fields": { a: wide, ...wide },
      "a long list": { a: items }, "a number of many digits": JSON.parse(`{"a":${"9".repeat(100_000)}}`) as unknown,
    };
    const each = (condition: (at: number) => unknown): Filter => ({
      data: { a: { $or: Array.from({ length: mostConditions }, (_, at) => condition(at)) } },
    });
    const filters: Readonly<Record<string, Filter>> = {
      equality: each((at) => `${"x".repeat(40)}${at}`),
      order: each((at) => ({ $gt: `${"x".repeat(40)}${at}` })),
      beginnings: each((at) => ({ $startsWith: `${"x".repeat(40)}${at}` })),
      ends: each((at) => ({ $endsWith: `${"y".repeat(40)}${at}` })),
      lists: each((at) => ({ $in: ["x".repeat(10), at] })),
      negations: { data: { a: { $not: { $not: { $not: each((at) => ({ $neq: at }))["data"] } } } } },
      paths: { data: { $or: Array.from({ length: mostConditions }, () => ({ a: { a: { a: { a: 1 } } } })) } },
    };
    for (const [kind, filter] of Object.entries(filters)) {
      expect(problemOfFilter(filter), kind).to.equal(null);
      for (const [payload, data] of Object.entries(payloads)) {
        const took = Array.from({ length: 5 }, () => {
          const fresh = structuredClone(filter);
          const begun = performance.now();
          problemOfFilter(fresh);
          passes(fresh, { data });
          return performance.now() - begun;
        });
        expect(Math.min(...took), `${kind}, ${payload}`).to.be.lessThan(1);
      }
    }
  });
});

/** What a filter says, without any preparation. */
function holds(condition: unknown, value: unknown): boolean {
  if (typeof condition !== "object" || condition === null) return value === condition;
  return Object.entries(condition).every(([name, operand]: [string, unknown]) => {
    const list = operand as readonly unknown[];
    const isAlike = typeof value === typeof operand;
    const [one, other] = [value, operand] as [number, number];
    switch (name) {
      case "$eq": return value === operand;
      case "$neq": return value !== operand;
      case "$gt": return isAlike && one > other;
      case "$gte": return isAlike && one >= other;
      case "$lt": return isAlike && one < other;
      case "$lte": return isAlike && one <= other;
      case "$in": return list.some((item) => item === value);
      case "$nin": return !list.some((item) => item === value);
      case "$startsWith": return typeof value === "string" && value.indexOf(operand as string) === 0;
      case "$endsWith": {
        const { length } = operand as string;
        return typeof value === "string" && value.slice(Math.max(0, value.length - length)) === operand;
      }
      case "$exist": return operand === (value !== undefined);
      case "$and": return list.every((item) => holds(item, value));
      case "$or": return list.some((item) => holds(item, value));
      case "$not": return !holds(operand, value);
      default: {
        const isObject = typeof value === "object" && value !== null && !Array.isArray(value);
        return holds(operand, isObject ? new Map(Object.entries(value)).get(name) : undefined);
      }
    }
  });
}

/** Random filters and messages of few names and values, so that many filters match. */
function randomFrom(seed: number) {
  const chance = chanceFrom(seed);
  const pick = <Item>(items: readonly Item[]): Item => items[Math.floor(chance() * items.length)]!;
  const times = <Item>(most: number, make: () => Item): Item[] =>
    Array.from({ length: 1 + Math.floor(chance() * most) }, make);
  const names = ["a", "b", "c"];
  const scalar = () => pick<unknown>([0, 1, -1, 1.5, "", "a", "ab", "b", "1", true, false, null]);
  const text = () => pick(["", "a", "b", "ab", "1"]);
  const operator = (depth: number): readonly [string, unknown] => {
    const name = pick([
      "$eq", "$neq", "$gt", "$gte", "$lt", "$lte", "$in", "$nin", "$startsWith", "$endsWith", "$exist",
      ...(depth > 0 ? ["$and", "$or", "$not"] : []),
    ]);
    if (["$gt", "$gte", "$lt", "$lte"].includes(name)) return [name, pick<unknown>([0, 1, -1, "a", "", "b"])];
    if (name === "$in" || name === "$nin") return [name, times(3, scalar)];
    if (name === "$startsWith" || name === "$endsWith") return [name, text()];
    if (name === "$exist") return [name, chance() < 0.5];
    if (name === "$and" || name === "$or") return [name, times(3, () => condition(depth - 1))];
    return name === "$not" ? [name, condition(depth - 1)] : [name, scalar()];
  };
  const condition = (depth: number): unknown => {
    const kind = chance();
    if (kind < 0.2) return scalar();
    if (depth === 0 || kind < 0.6) return Object.fromEntries(times(2, () => operator(depth)));
    return Object.fromEntries(times(2, () => (chance() < 0.2 ? operator(depth) : [pick(names), condition(depth - 1)])));
  };
  const filter = (depth = 1): Filter => Object.fromEntries(times(2, (): readonly [string, unknown] => {
    const operators = depth > 0 ? ["$or", "$not", "$and"] : [];
    const root = pick(["type", "ownerId", "tags", "data", "data", "data", ...operators]);
    if (root === "$not") return [root, filter(depth - 1)];
    if (root === "$or" || root === "$and") return [root, times(2, () => filter(depth - 1))];
    if (root === "type" || root === "ownerId") return [root, condition(0)];
    return [root, Object.fromEntries(times(2, () => [pick(names), condition(root === "tags" ? 1 : 2)]))];
  }));
  const value = (depth: number): unknown => {
    const kind = chance();
    if (depth === 0 || kind < 0.5) return scalar();
    if (kind < 0.6) return times(2, () => value(depth - 1));
    return Object.fromEntries(times(3, () => [pick(names), value(depth - 1)]));
  };
  const message = (): FilteredMessage => ({
    ...(chance() < 0.7 && { type: text() }), ...(chance() < 0.7 && { ownerId: text() }),
    ...(chance() < 0.7 && { tags: Object.fromEntries(times(2, () => [pick(names), text()])) }),
    data: Object.fromEntries(times(3, () => [pick(names), value(2)])),
  });
  return { filter: () => filter(), message };
}
