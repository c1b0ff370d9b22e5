import { expect } from "chai";
import fc from "fast-check";
import { columnsOf, payloadMatcher } from "../../../../src/features/events/payload-condition.ts";
import { isPointer } from "../../../../src/kernel/domain/json-pointer.ts";

const payload =
  '{"a":{"b/c":[1,"x",null,true,{"~":"t"}]},"":"e","n":12345678901234567890,"d":1.50,"big":1e3,"dup":1,"dup":2}';
const short: Readonly<Record<string, string>> = {
  '"': '\\"', "\\": "\\\\", "/": "\\/", "\b": "\\b", "\f": "\\f", "\n": "\\n", "\r": "\\r", "\t": "\\t",
};
/** Texts with characters that encoders escape, and with pairs of surrogates. */
const characters = 'ab"\\/<&\'\n\u0000\u00eb\u2028\u{1f600}\u{1f601}u0e0';
const text = fc.string({ unit: fc.constantFrom(...characters), maxLength: 8 });

/** A document as its tokens: names and strings by their meaning, all else as written. */
type Token = { readonly string: string } | { readonly written: string };
const scalar: fc.Arbitrary<Token> = fc.oneof(
  text.map((string) => ({ string })),
  fc.oneof(fc.integer().map(String), fc.constantFrom("1.50", "1E+2", "-0", "true", "null"))
    .map((literal) => ({ written: literal })),
);
const fields = fc.uniqueArray(fc.tuple(text, scalar), { maxLength: 5, selector: ([name]) => name });
const documents = fields.map((named): Token[] => [
  ...named.flatMap(([name, value], at) =>
    [{ written: at === 0 ? "{" : "," }, { string: name }, { written: ":" }, value]),
  { written: named.length === 0 ? "{}" : "}" },
]);

/** Writes a document; each choice says how a code unit is escaped. */
function written(tokens: readonly Token[], choices: readonly number[]): string {
  let at = 0;
  return tokens.map((one) => {
    if ("written" in one) return one.written;
    const units = Array.from({ length: one.string.length }, (_, index) => {
      const [unit, choice] = [one.string.charAt(index), choices[at++ % choices.length]!];
      const hex = unit.charCodeAt(0).toString(16).padStart(4, "0");
      const isPlain = !['"', "\\"].includes(unit) && unit >= " ";
      if (choice === 0 && isPlain) return unit;
      if (choice === 1 && short[unit] !== undefined) return short[unit];
      return `\\u${choice === 2 ? hex : hex.toUpperCase()}`;
    });
    return `"${units.join("")}"`;
  }).join("");
}

/** Every name and string as it decodes, and all else as it is written. */
function walked(json: string): readonly string[] {
  const found: string[] = [];
  const reviver = (name: string, value: unknown, { source }: { readonly source?: string }) => {
    if (typeof value !== "object" || value === null) found.push(name, typeof value === "string" ? value : source!);
    return value;
  };
  (JSON.parse as (text: string, revived: typeof reviver) => unknown)(json, reviver);
  return found;
}

describe("a condition on payloads", () => {
  const at = (pointer: string, value: string) => payloadMatcher({ pointer, value })(payload) !== null;
  const inText = (wanted: string, json: string) => payloadMatcher({ text: wanted })(json);

  it("finds a text in the JSON as it is, case included, with the text around it", () => {
    expect(inText('"b/c":[1', payload)).to.equal(payload.slice(0, 74));
    expect(inText('"B/c"', payload)).to.equal(null);
    expect(inText("dup", `{"${"\u{1f600}".repeat(31)}-":"dup","${"\u{1f600}".repeat(30)}":0}`))
      .to.equal(`${"\u{1f600}".repeat(28)}-":"dup","${"\u{1f600}".repeat(28)}`);
    expect(payloadMatcher({ pointer: "/d", value: "1.5" })(payload)).to.equal("1.5");
  });

  it("finds a text as names and strings decode, however they are escaped", () => {
    const json = '{"na\\u006De":"No\\u00EBl \\/ \\u0026 \\"\\ud83d\\ude00\\" C:\\\\u0041","n":1}';
    const found = ["name", "No\u00ebl", " / & ", '"\u{1f600}"', "C:\\u0041", "l / & "];
    for (const wanted of found) expect(inText(wanted, json), wanted).to.include(wanted);
    for (const wanted of ["u00EB", "\\/", "u006D", "CA", "C:A", "\\\\u"]) {
      expect(inText(wanted, json), wanted).to.equal(null);
    }
  });

  it("finds the same as a plain walk over the parsed document, in every spelling of it", () => {
    const choices = fc.array(fc.nat({ max: 3 }), { minLength: 1, maxLength: 20 });
    const asked = fc.tuple(fc.nat(), fc.nat(), fc.nat({ max: 6 }), fc.boolean());
    fc.assert(fc.property(documents, choices, choices, text, asked, (tokens, one, other, random, asking) => {
      const [which, from, length, isPart] = asking;
      const json = written(tokens, one);
      const values = walked(json);
      const source = values[which % values.length] ?? "";
      const begin = source.length === 0 ? 0 : from % source.length;
      const wanted = isPart ? source.slice(begin, begin + 1 + length) : random;
      if (wanted === "") return;
      const match = inText(wanted, json);
      const isIn = values.some((value) => value.includes(wanted));
      if (isIn) expect(match, json).to.include(wanted);
      // Beyond single names and values a text may be found in the punctuation between them.
      if (!/["{}:,]/.test(wanted)) expect(match !== null, json).to.equal(isIn);
      expect(inText(wanted, written(tokens, other)), json).to.equal(match);
    }), { numRuns: 500 });
  });

  it("compares the scalar at a pointer with the value", () => {
    const found: [string, string][] = [
      ["/a/b~1c/0", "1"], ["/a/b~1c/1", "x"], ["/a/b~1c/2", "null"], ["/a/b~1c/3", "true"], ["/a/b~1c/4/~0", "t"],
      ["/", "e"], ["/dup", "2"],
    ];
    for (const [pointer, value] of found) expect(at(pointer, value), pointer).to.equal(true);
    const missed: [string, string][] = [
      ["/a", "[object Object]"], ["/a/b~1c/length", "5"], ["/a/b~1c/01", "x"], ["/zz", "undefined"], ["/zz", "null"],
      ["/a/b~1c/1", '"x"'], ["/toString", ""], ["/a/b~1c/-", "x"], ["/a/b~1c/2", ""],
    ];
    for (const [pointer, value] of missed) expect(at(pointer, value), `${pointer} ${value}`).to.equal(false);
  });

  it("compares numbers as they are written, or in a short shortest form", () => {
    expect(["1.50", "1.5", "1.500"].map((value) => at("/d", value))).to.deep.equal([true, true, false]);
    expect(["1e3", "1000"].map((value) => at("/big", value))).to.deep.equal([true, true]);
    const large = ["12345678901234567890", "12345678901234567891", "12345678901234567000", "12345678901234567168"];
    expect(large.map((value) => at("/n", value))).to.deep.equal([true, false, false, false]);
  });

  it("gives values as JSON texts, with every digit, cut at 200 characters", () => {
    const columns = (...pointers: readonly string[]) => columnsOf(pointers)(payload);
    expect(columns("/n", "/d", "/big")).to.deep.equal(["12345678901234567890", "1.50", "1e3"]);
    expect(columns("/a/b~1c/1", "/", "/dup")).to.deep.equal(['"x"', '"e"', "2"]);
    expect(columns("/a", "/a/b~1c/2", "/a/b~1c/length")).to.deep.equal(
      ['{"b/c":[1,"x",null,true,{"~":"t"}]}', "null", null]);
    expect(columns("/x", "/n/0", "/constructor")).to.deep.equal([null, null, null]);
    const long = JSON.stringify({ text: "\u{1f600}".repeat(300) });
    expect(columnsOf(["/text"])(long)).to.deep.equal([`"${"\u{1f600}".repeat(199)}`]);
  });

  it("knows JSON Pointers to something within the payload", () => {
    const texts = ["/a", "/", "/a//b", "/a~0~1", "/a/0", "", "a", "/a~2", "/a~", "#/a"];
    expect(texts.map(isPointer)).to.deep.equal([true, true, true, true, true, false, false, false, false, false]);
  });
});
