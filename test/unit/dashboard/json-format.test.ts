import { expect } from "chai";
import { indented } from "../../../packages/dashboard/src/parts/editor/format.ts";

describe("JSON with a line for each member", () => {
  it("keeps every digit, every escape and the order of names", () => {
    const digits = "1234567890".repeat(20);
    const text = `{"2":${digits},"1":1.0,"a":"</script>\\u0000\\/","a":[],"e":1E400}`;
    const shown = indented(text);
    expect(shown.split("\n")).to.have.length(7);
    expect(shown.replace(/\s/g, "")).to.equal(text);
  });

  it("leaves a text that is not JSON as it is", () => {
    for (const text of ["", "<html>", '{"a":1', "{a: 1}", "{} // no JSON", "NaN"]) {
      expect(indented(text)).to.equal(text);
    }
  });
});
