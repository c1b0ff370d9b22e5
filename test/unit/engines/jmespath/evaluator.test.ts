import { expect } from "chai";
import { Evaluator } from "../../../../src/engines/jmespath/evaluator.ts";
import { asProblem } from "../../../../src/engines/jmespath/expression.ts";
import { MappingProblem } from "../../../../src/engines/jmespath/protocol.ts";

// Far more time than in production: these tests do not specify time.
const evaluator = new Evaluator({ timeoutMs: 5_000, patienceMs: 5_000, maxBytes: 10_000 });

/** The result of an expression, wrapped in an object, so that it may be of any type. */
const evaluated = (expression: string, payload: string): unknown =>
  (JSON.parse(evaluator.apply(`{x: ${expression}}`, payload)) as { x: unknown }).x;
const refused = (run: () => unknown, mention: string) => expect(run).to.throw(MappingProblem, mention);

const order =
  '{"id":7,"name":"Ada","tags":["b","a"],"lines":[{"sku":"a","price":2.5,"qty":2},{"sku":"b","price":1,"qty":9}],' +
  '"who":{"first":"Ada","last":"L","age":36},"empty":{},"none":null,"yes":true,"no":false,"nested":[[1,2],[3,[4]]]}';

describe("mapping expressions", () => {
  const table: [string, unknown][] = [
    ["name", "Ada"],
    ["who.first", "Ada"],
    ['"who"."first"', "Ada"],
    ["missing", null],
    ["missing.deeper", null],
    ["name.deeper", null],
    ["tags[0]", "b"],
    ["tags[-1]", "a"],
    ["tags[5]", null],
    ["nested[]", [1, 2, 3, [4]]],
    ["nested[][]", [1, 2, 3, 4]],
    ["nested[0][::-1]", [2, 1]],
    ["lines[*].sku", ["a", "b"]],
    ["lines[*].missing", []],
    ["lines[?qty > `5`].sku", ["b"]],
    ["lines[?sku == 'a'] | [0].price", 2.5],
    ["lines[*].{s: sku, n: qty}", [{ s: "a", n: 2 }, { s: "b", n: 9 }]],
    ["lines[].[sku, qty]", [["a", 2], ["b", 9]]],
    ["who.*", ["Ada", "L", 36]],
    ["none || name", "Ada"],
    ["empty || name", "Ada"],
    ["who && name", "Ada"],
    ["!yes", false],
    ["!missing", true],
    ["yes && !no", true],
    ["`{\"a\":[1,2]}`", { a: [1, 2] }],
    ["'it\\'s'", "it's"],
    ["@.name", "Ada"],
    ["length(lines)", 2],
    ["length(name)", 3],
    ["sum(lines[*].price)", 3.5],
    ["avg(lines[*].qty)", 5.5],
    ["max_by(lines, &qty).sku", "b"],
    ["sort_by(lines, &price)[*].sku", ["b", "a"]],
    ["sort(tags)", ["a", "b"]],
    ["reverse(tags)", ["a", "b"]],
    ["join('-', tags)", "b-a"],
    ["keys(empty)", []],
    ["merge(who, {age: `37`})", { first: "Ada", last: "L", age: 37 }],
    ["not_null(none, missing, name)", "Ada"],
    ["to_string(id)", "7"],
    ["to_number('7.5')", 7.5],
    ["type(tags)", "array"],
    ["contains(tags, 'a')", true],
    ["starts_with(name, 'A')", true],
    ["map(&price, lines)", [2.5, 1]],
    ["lower(name)", "ada"],
    ["split('a,b', ',')", ["a", "b"]],
    ["replace('a-b', '-', '+')", "a+b"],
    ["pad_left('7', `3`, '0')", "007"],
    ["items({a: `1`})", [["a", 1]]],
    ["lines[0].price * lines[0].qty", 5],
  ];
  for (const [expression, result] of table) {
    it(`evaluate ${expression} to ${JSON.stringify(result)}`, () => {
      expect(evaluated(expression, order)).to.deep.equal(result);
    });
  }

  it("keep the digits of integers beyond 2^53 and of numbers beyond a double", () => {
    const payload = '{"big":12345678901234567890,"neg":-9007199254740993,"huge":1e400,"safe":9007199254740991}';
    expect(evaluator.apply("{b: big, n: neg, h: huge, s: safe}", payload)).to.equal(
      '{"b":12345678901234567890,"n":-9007199254740993,"h":1e400,"s":9007199254740991}',
    );
    expect(evaluated("to_string(big)", payload)).to.equal("12345678901234567890");
    expect(evaluated("big == big", payload)).to.equal(true);
    expect(evaluated("big == neg", payload)).to.equal(false);
    for (const name of ["abs", "keys", "values", "items", "length"]) {
      refused(() => evaluated(`${name}(big)`, payload), `${name}()`);
    }
    expect(evaluated("[type(big), type(@), type(`1`)]", payload)).to.deep.equal(["number", "object", "number"]);
    expect(evaluated("[big.rawJSON, big.*, (big).*[], *.rawJSON]", payload)).to.deep.equal([null, null, null, []]);
    expect(evaluator.apply("{x: x, y: y}", '{"x":1.0,"y":0.30000000000000004}')).to.equal(
      '{"x":1,"y":0.30000000000000004}',
    );
  });

  it("keep the digits of decimals that a double rounds, and compute with the double", () => {
    const payload = '{"a":1234567890123456.78,"b":0.12345678901234567890,"c":-12345678901234.5678e-3,"d":0.1}';
    expect(evaluator.apply("{a: a, all: [@], d: d}", payload)).to.equal(
      `{"a":1234567890123456.78,"all":[${payload}],"d":0.1}`,
    );
    expect(evaluator.apply("{twice: a * `2`, sum: sum([b, d]), first: sort([b, d])[0]}", payload)).to.equal(
      '{"twice":2469135780246913.5,"sum":0.22345678901234567,"first":0.1}',
    );
    expect(evaluated("a > b && type(a) == 'number'", payload)).to.equal(true);
    expect(evaluated("to_string(a)", payload)).to.equal("1234567890123456.8");
  });

  it("never write the digits of another number that has the same double", () => {
    const spellings = ["0.1", "0.10000000000000000555", "0.1000000000000000055"];
    for (const one of spellings) {
      for (const other of spellings.filter((spelling) => spelling !== one)) {
        expect(evaluator.apply("{x: x, y: y}", `{"x":${one},"y":${other}}`)).to.equal('{"x":0.1,"y":0.1}');
      }
    }
    const payload = '{"n":1.0,"one":1.0000000000000000,"m":100000000000000000000.0,"l":9007199254740990.3}';
    expect(evaluator.apply("{n: n, one: one, count: length(`[0]`), m: m, l: l}", payload)).to.equal(
      '{"n":1,"one":1,"count":1,"m":100000000000000000000.0,"l":9007199254740990.3}',
    );
  });

  it("count every digit of a number that is written in many places", () => {
    const long = `0.${"1234567890".repeat(50)}`;
    expect(evaluator.apply("{x: [x, x]}", `{"x":${long}}`)).to.equal(`{"x":[${long},${long}]}`);
    refused(() => evaluator.apply(`{x: [${Array(20).fill("x").join()}]}`, `{"x":${long}}`), "more than 10000 bytes");
  });

  it("write fields whose names are integers first, by size, and others in the order of the expression", () => {
    expect(evaluator.apply('{b: b, "2": a, all: @, "1": a}', '{"b":1,"2":2,"1":3,"a":4,"01":5,"-1":6}')).to.equal(
      '{"1":4,"2":4,"b":1,"all":{"1":3,"2":2,"b":1,"a":4,"01":5,"-1":6}}',
    );
    expect(evaluator.apply("@", '{"2":true,"1":false}')).to.equal('{"1":false,"2":true}');
    expect(evaluator.apply("@", '{"4294967295":1,"4294967294":2}')).to.equal('{"4294967294":2,"4294967295":1}');
  });

  it("see only an object's own fields, no properties inherited in JavaScript", () => {
    const inherited = ["constructor", "toString", "__proto__", "hasOwnProperty", "valueOf"];
    for (const name of inherited) {
      expect(evaluated(`"${name}"`, order), name).to.equal(null);
      expect(evaluated(`who."${name}"`, order), name).to.equal(null);
      expect(evaluated(`"${name}"`, `{"${name}":{"a":1}}`), name).to.deep.equal({ a: 1 });
      for (const made of ["{id: id}", "merge(who, {id: id})", "`{}`", "from_items(items(who))"]) {
        expect(evaluated(`${made}."${name}"`, order), `${made}.${name}`).to.equal(null);
      }
    }
    const items = inherited.map((k) => ({ k }));
    const groups = Object.fromEntries(inherited.map((k) => [k, [{ k }]]));
    expect(evaluated("group_by(@.items, &k)", JSON.stringify({ items }))).to.deep.equal(groups);
    expect(evaluator.apply("{c: constructor}", '{"constructor":9007199254740993}')).to.equal('{"c":9007199254740993}');
  });

  it("take no object for an expression reference, even with the fields of one", () => {
    const payload = '{"o":{"expref":true,"type":"Literal","value":1},"l":[{"expref":1}]}';
    expect(evaluated("[type(o), length(o), type(l[0])]", payload)).to.deep.equal(["object", 3, "object"]);
    expect(evaluated("merge(l[0], {a: `2`})", payload)).to.deep.equal({ expref: 1, a: 2 });
    expect(evaluated("map(&expref, l)", payload)).to.deep.equal([1]);
    expect(evaluated("let $a = o in keys($a)", payload)).to.deep.equal(["expref", "type", "value"]);
    for (const call of ["map(o, l)", "sort_by(l, o)", "group_by(l, o)"]) {
      refused(() => evaluated(call, payload), "to be type (expression) but received type object");
    }
  });

  it("find a value in an array by deep equality", () => {
    const items = '{"items":[{"k":1},[2],"3",null,12345678901234567890]}';
    for (const wanted of ["{k: `1`}", "items[0]", "[`2`]", "'3'", "`null`", "items[4]"]) {
      expect(evaluated(`contains(items, ${wanted})`, items), wanted).to.equal(true);
    }
    for (const wanted of ["{k: `2`}", "`{}`", "[`1`]", "`3`", "`false`", "items"]) {
      expect(evaluated(`contains(items, ${wanted})`, items), wanted).to.equal(false);
    }
  });

  it("convert a text to a number only if it is a JSON number, with all its digits", () => {
    for (const text of ["0", "-0.5", "1000", "9007199254740993", "-12345678901234567890", "1e400"]) {
      expect(evaluator.apply("{n: to_number(text)}", JSON.stringify({ text }))).to.equal(`{"n":${text}}`);
    }
    expect(evaluated("to_number(' 5 ')", "{}")).to.equal(5);
    expect(evaluated("to_number(`5`)", "{}")).to.equal(5);
    expect(evaluator.apply("{n: to_number(n)}", '{"n":12345678901234567890}')).to.equal('{"n":12345678901234567890}');
    for (const text of ["", " ", "0x10", "1_000", "5 kg", "Infinity", "01", "."]) {
      expect(evaluated("to_number(text)", JSON.stringify({ text })), text).to.equal(null);
    }
    for (const other of ["`true`", "`null`", "`[1]`", "`{}`"]) {
      expect(evaluated(`to_number(${other})`, "{}"), other).to.equal(null);
    }
  });

  it("pad any text to a length in characters, with one character", () => {
    const table: [string, string][] = [
      ["'7', `3`, '0'", "007|700"],
      ["'', `3`, '0'", "000|000"],
      ["'', `0`, '0'", "|"],
      ["'abc', `2`", "abc|abc"],
      ["'a', `3`", "  a|a  "],
      ["'\u{1f600}', `2`, '\u{1f601}'", "\u{1f601}\u{1f600}|\u{1f600}\u{1f601}"],
    ];
    for (const [given, result] of table) {
      expect(evaluated(`join('|', [pad_left(${given}), pad_right(${given})])`, "{}"), given).to.equal(result);
    }
    for (const given of ["'a', `-1`", "'a', `1.5`", "'', `3`, 'ab'"]) {
      refused(() => evaluated(`pad_left(${given})`, "{}"), "pad_left() pads");
      refused(() => evaluated(`pad_right(${given})`, "{}"), "pad_right() pads");
    }
  });

  it("cut and count texts by characters, beyond U+FFFF too, however long they are", () => {
    const [gap, dots] = [`x${" ".repeat(100_000)}y`, ".".repeat(200_000)];
    const payload = JSON.stringify({ s: "\u{1f600}a\u{1f601}a", gap, dots });
    const table: [string, unknown][] = [
      ["split(s, '')", ["\u{1f600}", "a", "\u{1f601}", "a"]],
      ["split(s, '', `1`)", ["\u{1f600}", "a\u{1f601}a"]],
      ["split(s, 'a', `1`)", ["\u{1f600}", "\u{1f601}a"]],
      ["trim(s, '\u{1f601}a')", "\u{1f600}"],
      ["trim(s, '\u{1f602}')", "\u{1f600}a\u{1f601}a"],
      ["[trim_left(' \t]a '), trim_right(' \t]a '), trim(']a]', ']')]", ["]a ", " \t]a", "a"]],
      ["length(trim_right(gap))", 100_002],
      ["reverse(s)", "a\u{1f601}a\u{1f600}"],
      ["length(reverse(dots))", 200_000],
      ["[find_first(s, 'a'), find_last(s, 'a')]", [1, 3]],
      ["[find_first(s, 'a', `2`), find_last(s, 'a', `0`, `3`), find_first(s, 'a', `-1`, `-1`)]", [3, 1, 1]],
      ["[find_first(s, 'a', `4`), find_last(s, 'b')]", [null, null]],
      ["[find_first('', 'a'), find_last(s, '')]", [null, null]],
    ];
    for (const [expression, result] of table) expect(evaluated(expression, payload), expression).to.deep.equal(result);
    refused(() => evaluated("find_first(s, 'a', `0.5`)", payload), "find_first() searches between whole numbers");
    refused(() => evaluated("split(s, 'a', `-1`)", payload), "split() takes a whole number");
  });

  it("take little time for calls that leave a long text as it is", () => {
    const brief = new Evaluator({ timeoutMs: 200, patienceMs: 5_000, maxBytes: 10_000 });
    const payload = JSON.stringify({ s: `${"word ".repeat(50_000)}.` });
    for (const call of ["trim(s)", "trim(s, '\u{1f600}')", "pad_left(s, `9`)", "find_first(s, '.', `1`)"]) {
      expect(brief.apply(`{x: length([${Array(80).fill(call).join(",")}])}`, payload), call).to.equal('{"x":80}');
    }
  });

  it("replace up to the given count, by any text, and not within the replacement", () => {
    const table: [string, string][] = [
      ["'aaa', 'a', 'b'", "bbb"],
      ["'aaa', 'a', 'b', `0`", "aaa"],
      ["'aaa', 'a', 'b', `2`", "bba"],
      ["'aaa', 'a', 'b', `3`", "bbb"],
      ["'aaa', 'a', 'b', `4000000000`", "bbb"],
      ["'aa', 'a', 'ab', `2`", "abab"],
      ["'x1', '1', '$$5', `1`", "x$$5"],
      ["'x1', '1', '[$&]'", "x[$&]"],
      ["'x1', '1', '[$&]', `1`", "x[$&]"],
      ["'abc', 'x', 'y', `1`", "abc"],
    ];
    for (const [given, result] of table) expect(evaluated(`replace(${given})`, "{}"), given).to.equal(result);
    const spaced = JSON.stringify({ spaced: " ".repeat(100_000), wide: "w".repeat(50) });
    expect(evaluated("length(replace(spaced, ' ', wide, `2`))", spaced)).to.equal(100_098);
    refused(() => evaluated("replace(spaced, ' ', wide, `20000`)", spaced), "replace() makes too long a text");
    for (const count of ["`-1`", "`0.5`"]) {
      refused(() => evaluated(`replace('a', 'a', 'b', ${count})`, "{}"), "replace() takes a whole number");
    }
  });

  it("order numbers by size and texts by code points, and keep the order of equal items", () => {
    const ordered = (items: unknown[], least: unknown, greatest: unknown, sorted: unknown[]) => {
      const payload = JSON.stringify({ items, records: items.map((k, at) => ({ k, at })) });
      expect(evaluated("[min(items), max(items)]", payload)).to.deep.equal([least, greatest]);
      expect(evaluated("[min_by(items, &@), max_by(items, &@)]", payload)).to.deep.equal([least, greatest]);
      expect(evaluated("[min_by(records, &k).k, max_by(records, &k).k]", payload)).to.deep.equal([least, greatest]);
      expect(evaluated("sort(items)", payload)).to.deep.equal(sorted);
      expect(evaluated("sort_by(records, &k)[*].k", payload)).to.deep.equal(sorted);
    };
    ordered([10, 9, 100, -1, 0.5], -1, 100, [-1, 0.5, 9, 10, 100]);
    ordered([0, -0.5, -2], -2, 0, [-2, -0.5, 0]);
    ordered(["a", "B", "ab", "", "ä"], "", "ä", ["", "B", "a", "ab", "ä"]);
    ordered(["\u{1f600}", "\uffee", "\u{1f601}"], "\uffee", "\u{1f601}", ["\uffee", "\u{1f600}", "\u{1f601}"]);
    ordered([0], 0, 0, [0]);
    ordered([""], "", "", [""]);
    const equals = JSON.stringify({ r: ["b", "a", "b", "a", "b"].map((k, at) => ({ k, at })) });
    expect(evaluated("sort_by(r, &k)[*].at", equals)).to.deep.equal([1, 3, 0, 2, 4]);
    expect(evaluated("[min_by(r, &k).at, max_by(r, &k).at]", equals)).to.deep.equal([1, 0]);
    expect(evaluated("[sort(e), sort_by(e, &k)]", '{"e":[]}')).to.deep.equal([[], []]);
    expect(evaluated("[max(e), min_by(e, &k)]", '{"e":[]}')).to.deep.equal([null, null]);
    const many = JSON.stringify({ many: Array.from({ length: 130_000 }, (_, n) => n % 10) });
    expect(evaluated("[min(many), max(many)]", many)).to.deep.equal([0, 9]);
    for (const name of ["sort_by", "max_by", "min_by"]) {
      refused(() => evaluated(`${name}(r, &missing)`, equals), `${name}() orders by numbers only`);
      refused(() => evaluated(`${name}([{k: \`1\`}, {k: 'a'}], &k)`, "{}"), `${name}() orders by numbers only`);
    }
  });

  it("know the variables of every enclosing let, with any value", () => {
    for (const value of [null, false, 0, "", 1, []]) {
      const payload = JSON.stringify({ a: value, b: 2 });
      expect(evaluated("let $a = a in let $b = b in [$a, $b]", payload)).to.deep.equal([value, 2]);
      expect(evaluated("let $a = b in let $a = a in let $b = b in $a", payload)).to.deep.equal(value);
    }
    for (const inner of ["$b", "$toString", "$constructor"]) {
      refused(() => evaluated(`let $a = a in let $c = a in ${inner}`, "{}"), `undefined variable: ${inner}`);
    }
  });

  it("are refused when saved if they can never work", () => {
    const bad = ["", " ", "{", "a..b", "a b", "#", "{a: }", "`{`", "a[", "@@", "$x y"];
    for (const expression of bad) refused(() => evaluator.compile(expression), "is not a JMESPath expression");
    refused(() => evaluator.compile("nope(@)"), "nope: there is no such function");
    refused(() => evaluator.compile("a[?hasOwnProperty(@)]"), "hasOwnProperty: there is no such function");
    for (const expression of ["&a", "{a: &b}", "[&a]", "not_null(&a)", "a || &b"]) {
      refused(() => evaluator.compile(expression), "&:");
    }
    refused(() => evaluator.compile("a".repeat(4_097)), "at most 4096 characters");
    refused(() => evaluator.compile(`${"!".repeat(4_000)}a`), "nested too deep");
    expect(() => evaluator.compile("a".repeat(4_096))).not.to.throw();
    expect(() => evaluator.compile("map(&(a[?b > `1`]), c)")).not.to.throw();
    expect(() => evaluator.compile('`{"type":"ExpressionReference"}`')).not.to.throw();
  });

  it("are compiled once", () => {
    expect(evaluator.compile("{once: a}")).to.equal(evaluator.compile("{once: a}"));
    expect(evaluator.compile("{once: a}")).not.to.equal(evaluator.compile("{once: b}"));
  });

  it("must yield an object", () => {
    const others = { id: "a number", name: "a string", tags: "an array", missing: "null", yes: "a boolean" };
    for (const [expression, kind] of Object.entries(others)) {
      refused(() => evaluator.apply(expression, order), `yields ${kind}, not an object`);
    }
    refused(() => evaluator.apply("big", '{"big":12345678901234567890}'), "yields a number, not an object");
    expect(evaluator.apply("empty", order)).to.equal("{}");
  });

  it("fail on a payload that they do not fit, without V8's error messages", () => {
    refused(() => evaluated("sum(tags)", order), "cannot be evaluated on this payload: Invalid type: sum()");
    refused(() => evaluated("$nope", order), "nope");
    refused(() => evaluated("id / none", order), "not-a-number");
    refused(() => evaluated("id * `1e308` * `1e308`", order), "a number that JSON cannot hold");
    refused(() => evaluated("tags[::0]", order), "slice step cannot be 0");
    const fault = () => {
      throw new TypeError("x is not a function");
    };
    expect(() => asProblem(fault, "cannot be evaluated")).to.throw(MappingProblem, /^cannot be evaluated$/);
  });

  it("are bounded in the size and depth of their results, even if they are cheap to evaluate", () => {
    const doubled = (times: number) => `{x: ${Array(times).fill("[@,@]").join("|")}}`;
    expect(evaluator.apply(doubled(8), "{}")).to.have.length.greaterThan(512);
    refused(() => evaluator.apply(doubled(20), "{}"), "yields more than 10000 bytes");
    refused(() => evaluator.apply(doubled(140), "{}"), "yields");
    const nested = (depth: number) => `${"{a:".repeat(depth - 1)}\`{}\`${"}".repeat(depth - 1)}`;
    expect(evaluator.apply(nested(128), "{}")).to.have.length(5 * 127 + 2 + 127);
    refused(() => evaluator.apply(nested(129), "{}"), "nested deeper than 128");
    const text = (length: number) => JSON.stringify({ a: "ü".repeat(length) });
    expect(Buffer.byteLength(evaluator.apply("{a: a}", text(4_996)))).to.equal(10_000);
    refused(() => evaluator.apply("{a: a}", text(4_997)), "yields more than 10000 bytes");
  });

  it("cannot make a text too long for V8", () => {
    const payload = JSON.stringify({ a: "x".repeat(100_000), l: Array(1_000).fill("y".repeat(100)) });
    const bombs = [
      "pad_left(a, `500000000`)", "pad_right(a, `500000000`)", "replace(a, 'x', a)", "replace(a, '', a)",
      `join('', [${Array(11).fill("a").join(",")}])`, "join(a, l)",
      `to_string([${Array(11).fill("a").join(",")}])`,
    ];
    for (const bomb of bombs) {
      refused(() => evaluated(`length(${bomb})`, payload), "makes too long a text");
    }
    expect(evaluated("length(pad_left(a, `500000`))", payload)).to.equal(500_000);
    expect(evaluated("length(let $a = a in join('', [$a, $a]))", payload)).to.equal(200_000);
    refused(() => evaluated("length(let $a = a in pad_left($a, `500000000`))", payload), "makes too long a text");
  });

  it("cannot start a search in which V8 would block for minutes", () => {
    const payload = JSON.stringify({ a: "x".repeat(200_000), b: "y".repeat(1_000) });
    for (const name of ["contains", "find_first", "find_last", "split"]) {
      refused(() => evaluated(`${name}(a, b)`, payload), `${name}() searches for too long a text`);
      expect(evaluated(`type(${name}(a, 'xxy'))`, payload)).to.be.a("string");
    }
    refused(() => evaluated("replace(a, b, 'c')", payload), "replace() searches for too long a text");
    expect(evaluated("contains([a, b], b)", payload)).to.equal(true);
  });

  it("are ended by the watchdog, and the next one runs normally", () => {
    const hasty = new Evaluator({ timeoutMs: 30, patienceMs: 1_000, maxBytes: 10_000 });
    const list = JSON.stringify({ l: Array.from({ length: 2_000 }, (_, n) => n) });
    const endless = "{x: l[?length($.l[?length($.l[?length($.l) > `1`]) > `1`]) > `1`]}";
    refused(() => hasty.apply(endless, list), "takes longer than 30 ms");
    expect(hasty.apply("{x: l[1]}", list)).to.equal('{"x":1}');
  });
});
