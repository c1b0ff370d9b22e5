import { expect } from "chai";
import { shownText } from "../../../packages/dashboard/src/parts/shown-text.ts";

describe("a text of somebody else", () => {
  it("shows control characters, and those that turn its direction, as symbols", () => {
    expect(shownText("a\u202Eb\u2066c\u2069\u200Ed")).to.equal("a⟨202E⟩b⟨2066⟩c⟨2069⟩⟨200E⟩d");
    expect(shownText("\0a\tb\nc\x7F\x85\u2028\uFEFF")).to.equal("␀a␉b␊c␡⟨0085⟩⟨2028⟩⟨FEFF⟩");
  });

  it("keeps letters of every script, and what joins them", () => {
    for (const text of ["shop ✓", "سلام", "می\u200Cخواهم", "👩\u200D💻", "日本語"]) expect(shownText(text)).to.equal(text);
  });
});
