/**
 * Checks the language of comments, decisions and titles of tests: see "Language" in CONTRIBUTING.md. `--list` prints
 * every sentence that counts.
 */
import { execFileSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import process from "node:process";
import ts from "typescript";

/** The largest share of sentences in which a clause stands for a noun. */
const most = 0.02;

/** A clause that stands for a noun: "what waits", "whoever asks", "those that are", "where there is none". */
const clause = new RegExp([
  /\b(?:what|whatever|whoever|whomever|whichever)\b/,
  /(?:^|[,;:(]\s|\b(?:and|but|by|for|from|if|of|or|than|that|to|with|as|on|in)\s)who\b/,
  /\bwhere (?:there|none|nothing)\b|\bif there\b/,
  /\b(?:those|these|ones?) (?:that|who|which)\b/,
  /\b(?:all|anything|everything|much|nothing|something) (?:that|which) (?!a\b|an\b|the\b)/,
].map(({ source }) => source).join("|"), "i");

/** Coined words of earlier releases: the field has terms for them, see docs/glossary.md. */
const gone = new RegExp(
  "\\b(?:[Ll]anes?|[Tt]enures?|Outbox|PayloadRoom|StreamsAside|setAside|[Ww]holeAnswers|" +
  "Plain(?:Request|Connection|Server)|Scrubs|paceMs|[Hh]urry)\\b", "g",
);

let failed = false;
const kinds = { comments: [], decisions: [], titles: [] };
for (const path of execFileSync("git", ["ls-files"], { encoding: "utf8" }).trim().split("\n")) {
  if (!existsSync(path)) continue;
  if (/^(src|projections|packages|test|bench|demo)\/.*\.tsx?$/.test(path)) {
    for (const [word] of readFileSync(path, "utf8").matchAll(gone)) fail(`${path}: ${word} is a word that is gone`);
  }
  if (/^docs\/adr\/.*\.md$/.test(path)) add("decisions", path, decisionText(readFileSync(path, "utf8")));
  else if (/\.(tsx?|js|cjs)$/.test(path) && path !== "schemas/api.ts") {
    const text = readFileSync(path, "utf8");
    const source = ts.createSourceFile(path, text, ts.ScriptTarget.Latest, true);
    for (const comment of commentsOf(source, text)) add("comments", path, comment);
    if (path.startsWith("test/")) for (const title of titlesOf(source)) kinds.titles.push({ path, sentence: title });
  }
}

for (const [kind, sentences] of Object.entries(kinds)) {
  const found = sentences.filter(({ sentence }) => clause.test(sentence.replace(/"[^"]*"|`[^`]*`|\]\([^)]*\)/g, "it")));
  const share = found.length / sentences.length;
  if (process.argv.includes("--list")) for (const { path, sentence } of found) print(`${path}: ${sentence}`);
  const counted = `${kind}: ${found.length} of ${sentences.length} sentences, ${(100 * share).toFixed(1)} %`;
  if (share < most) print(`a clause stands for a noun in ${counted}`);
  else fail(`a clause stands for a noun in ${counted}: node scripts/prose.js --list names them`);
}
if (failed) process.exitCode = 1;

function print(line) {
  process.stdout.write(`${line}\n`);
}

function fail(line) {
  failed = true;
  print(line);
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
