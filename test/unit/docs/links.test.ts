import { existsSync, globSync, readFileSync, statSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { expect } from "chai";

const root = join(import.meta.dirname, "../../..");
const documents = globSync("{*,{docs,deploy,schemas,bench,demo,test,packages}/**/*}.md", { cwd: root });

/** A document without its code, in which nothing is a link or a heading. */
function proseOf(path: string): string {
  return readFileSync(join(root, path), "utf8").replace(/^```.*?^```$/gms, "").replace(/`[^`\n]*`/g, (code) =>
    code.replaceAll(/[[\]()]/g, ""));
}

/** The anchors that Markdown viewers make of its headings. */
function anchorsOf(path: string): readonly string[] {
  const headings = proseOf(path).matchAll(/^#+ (.+)$/gm);
  return [...headings].map(([, heading = ""]) =>
    heading.toLowerCase().replaceAll(/[^\p{L}\p{N}\s_-]/gu, "").replaceAll(" ", "-"));
}

describe("the documents", () => {
  for (const document of documents) {
    it(`${document} links to files and headings that exist`, () => {
      for (const [, target = ""] of proseOf(document).matchAll(/\]\(([^)\s]+)\)/g)) {
        if (/^[a-z]+:/.test(target)) continue;
        const [file = "", anchor] = target.split("#");
        const path = relative(root, file === "" ? join(root, document) : join(root, dirname(document), file));
        expect(existsSync(join(root, path)), target).to.equal(true);
        if (anchor === undefined || statSync(join(root, path)).isDirectory()) continue;
        expect(anchorsOf(path), target).to.include(anchor);
      }
    });
  }
});
