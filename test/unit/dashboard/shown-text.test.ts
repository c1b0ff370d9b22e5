import { expect } from "chai";
import { renderToStaticMarkup } from "react-dom/server";
import { jsx, jsxs } from "../../../packages/dashboard/src/parts/shown-jsx.ts";
import { shownText } from "../../../packages/dashboard/src/parts/shown-text.ts";

describe("a text of somebody else", () => {
  it("shows control characters, and characters that turn its direction, as symbols", () => {
    expect(shownText("a\u202Eb\u2066c\u2069\u200Ed")).to.equal("a⟨202E⟩b⟨2066⟩c⟨2069⟩⟨200E⟩d");
    expect(shownText("\0a\tb\nc\x7F\x85\u2028\uFEFF")).to.equal("␀a␉b␊c␡⟨0085⟩⟨2028⟩⟨FEFF⟩");
  });

  it("keeps letters of every script, and their joiners", () => {
    for (const text of ["shop ✓", "سلام", "می\u200Cخواهم", "👩\u200D💻", "日本語"]) expect(shownText(text)).to.equal(text);
  });
});

describe("an element of the pages", () => {
  const html = (element: ReturnType<typeof jsx>) => renderToStaticMarkup(element);

  it("shows such characters as symbols in its texts and names, at any depth, and keeps the lines of code", () => {
    const children = ["Delete ", "a\u202Eb", [" c\u2066", 1]];
    expect(html(jsxs("p", { title: "\u202Et", "aria-label": "\u200Fl", children })))
      .to.equal('<p title="⟨202E⟩t" aria-label="⟨200F⟩l">Delete a⟨202E⟩b c⟨2066⟩1</p>');
    expect(html(jsx("p", { children: "a\nb" }))).to.equal("<p>a␊b</p>");
    expect(html(jsx("pre", { children: "a\nb\u202E" }))).to.equal("<pre>a\nb⟨202E⟩</pre>");
  });

  it("isolates letters from right to left from their surroundings, where it may have elements", () => {
    expect(html(jsx("p", { children: "for אבג 2 דה 3 events of سلام" })))
      .to.equal("<p>for <bdi>אבג 2 דה</bdi> 3 events of <bdi>سلام</bdi></p>");
    expect(html(jsx("option", { children: "אבג 3" }))).to.equal("<option>אבג 3</option>");
  });

  it("leaves the values of fields as they are", () => {
    expect(html(jsx("input", { defaultValue: "a\u202Eb" }))).to.equal('<input value="a\u202Eb"/>');
    expect(html(jsx("textarea", { defaultValue: "a\u202Eb" }))).to.equal("<textarea>a\u202Eb</textarea>");
  });
});
