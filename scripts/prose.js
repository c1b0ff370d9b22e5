/**
 * Checks the language of comments, decisions and titles of tests: see "Language" in CONTRIBUTING.md. `--list` prints
 * every sentence that counts.
 */
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import ts from "typescript";

/** The largest share of sentences in which a relative clause stands for a noun. */
const mostRelative = 0.03;

/** A relative clause that stands for a noun: "what waits", "whoever asks", "for who reads". */
const relative = new RegExp(
  "\\b(?:what|whatever|whoever|whomever|whichever)\\b|" +
  "(?:^|[,;:(]\\s|\\b(?:and|but|by|for|from|if|of|or|than|that|to|with|as|on|in)\\s)who\\b", "i",
);

const kinds = { comments: [], decisions: [], titles: [] };
for (const path of execFileSync("git", ["ls-files"], { encoding: "utf8" }).trim().split("\n")) {
  if (/^docs\/adr\/.*\.md$/.test(path)) add("decisions", path, decisionText(readFileSync(path, "utf8")));
  else if (/\.(ts|js|cjs)$/.test(path) && path !== "schemas/api.ts") {
    const text = readFileSync(path, "utf8");
    const source = ts.createSourceFile(path, text, ts.ScriptTarget.Latest, true);
    for (const comment of commentsOf(source, text)) add("comments", path, comment);
    if (path.startsWith("test/")) for (const title of titlesOf(source)) kinds.titles.push({ path, sentence: title });
  }
}

let failed = false;
for (const [kind, sentences] of Object.entries(kinds)) {
  const found = sentences.filter(({ sentence }) => relative.test(sentence.replace(/"[^"]*"|`[^`]*`/g, "it")));
  const share = found.length / sentences.length;
  if (process.argv.includes("--list")) for (const { path, sentence } of found) console.log(`${path}: ${sentence}`);
  console.log(`${kind}: ${found.length} of ${sentences.length} sentences, ${(100 * share).toFixed(1)} %`);
  if (share >= mostRelative) failed = true;
}
if (failed) {
  console.error(`A relative clause may stand for a noun in less than ${100 * mostRelative} % of each.`);
  process.exitCode = 1;
}

function add(kind, path, text) {
  for (const sentence of text.split(/(?<=[.!?:])\s+/)) if (/\w/.test(sentence)) kinds[kind].push({ path, sentence });
}

/** Without code and the marks of a list. */
function decisionText(text) {
  return text.replace(/^```[^]*?^```/gm, "").replace(/^(#+|-)\s/gm, ". ").replace(/\s+/g, " ");
}

/** The text of each comment; lines of `//` right below each other are one. */
function commentsOf(source, text) {
  const found = [];
  const seen = new Set();
  const visit = (node) => {
    for (const range of ts.getLeadingCommentRanges(text, node.pos) ?? []) {
      if (seen.has(range.pos)) continue;
      seen.add(range.pos);
      found.push(text.slice(range.pos, range.end));
    }
    node.getChildren(source).forEach(visit);
  };
  visit(source);
  return found.map((comment) => comment.replace(/^\/\*+|\*\/$|^\s*(?:\*|\/\/)\s?/gm, "").replace(/\s+/g, " ").trim());
}

function titlesOf(source) {
  const found = [];
  const visit = (node) => {
    if (ts.isCallExpression(node) && /^(describe|it|context)(\.only|\.skip)?$/.test(node.expression.getText(source))) {
      const [title] = node.arguments;
      if (title && ts.isStringLiteralLike(title)) found.push(title.text);
      else if (title && ts.isTemplateExpression(title)) {
        found.push(title.head.text + title.templateSpans.map(({ literal }) => `it${literal.text}`).join(""));
      }
    }
    ts.forEachChild(node, visit);
  };
  visit(source);
  return found;
}
