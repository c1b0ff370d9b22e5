import { expect } from "chai";
import { isPointer, payloadCheck } from "../../../src/domain/event/payload-condition.ts";

const payload =
  '{"a":{"b/c":[1,"x",null,true,{"~":"t"}]},"":"e","n":12345678901234567890,"d":1.50,"big":1e3,"dup":1,"dup":2}';

describe("a condition on payloads", () => {
  const at = (pointer: string, value: string) => payloadCheck({ pointer, value })(payload);

  it("finds a text in the JSON as it is, case included", () => {
    expect(payloadCheck({ text: '"b/c":[1' })(payload)).to.equal(true);
    expect(payloadCheck({ text: '"B/c"' })(payload)).to.equal(false);
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

  it("knows JSON Pointers to something within the payload", () => {
    const texts = ["/a", "/", "/a//b", "/a~0~1", "/a/0", "", "a", "/a~2", "/a~", "#/a"];
    expect(texts.map(isPointer)).to.deep.equal([true, true, true, true, true, false, false, false, false, false]);
  });
});
