import { expect } from "chai";
import { event as viewed } from "../../../../src/features/examples.ts";
import type { Naming } from "../../../../src/features/names.ts";
import { storyMarkdown, type StoryText } from "../../../../src/features/story/markdown.ts";
import { causeCodes, type Cause, type Chapter } from "../../../../src/features/story/story.ts";
import { timestamp } from "../../../../src/kernel/domain/time.ts";

const at = timestamp(Date.UTC(2026, 0, 31, 12));
const later = timestamp(Date.UTC(2026, 0, 31, 12, 1, 2));
const byUser = { type: "user", id: "u1", role: "Owner" } as const;
const entry = {
  position: "1", type: "EventAccepted", subject: { type: "event", id: viewed.id }, time: at, actor: byUser,
} as const;
const named: Naming = (one) => ({ ...one, name: "Ada" });

const textOf = (more: Partial<StoryText>, fields: object = {}) => storyMarkdown({
  asOf: { time: at, position: "9" }, event: { ...viewed, ...fields } as StoryText["event"], named, url: undefined,
  answer: "", waiting: null, chapters: [], ...more,
});
const chapter = (kind: Chapter["kind"], more: Partial<Chapter> = {}): Chapter =>
  ({ kind, from: at, to: later, entries: [entry], because: [], ...more });
const lineOf = (one: Chapter) => textOf({ chapters: [one] }).trimEnd().split("\n").at(-1);

describe("the text of a story", () => {
  it("has words for each cause, without a gap where a value is not known", () => {
    for (const code of causeCodes) {
      const because: Cause[] = [{ code, entry: null, values: {} }];
      expect(lineOf(chapter("wait", { because })), code).to.match(/^- \S+ \*\*Waited 1 min 2 s\*\*, \S/)
        .and.not.match(/undefined|null| {2}/);
    }
  });

  it("names the authors of requests, attempts and their outcomes, and changed settings", () => {
    expect(lineOf(chapter("cancelled", { because: [{ code: "requested", entry, values: {} }] })))
      .to.equal(`- ${at} **Cancelled**, requested by user \`Ada\``);
    const attempt = {
      number: 2, outcome: "failed", durationMs: 15_004, statusCode: null, reason: "timeout", error: "no answer",
    } as const;
    expect(lineOf(chapter("attempt", { attempt }))).to.equal(`- ${at} **Attempt 2**, failed in 15 s: \`no answer\``);
    const changed = { ...entry, type: "DestinationUrlChanged" };
    expect(lineOf(chapter("setting", { entries: [changed] })))
      .to.equal(`- ${at} **Setting changed**, the destination's URL`);
  });

  it("says why an event waits, and until when", () => {
    const because: Cause[] = [{ code: "circuit-open", entry: null, values: { failures: 4 } }];
    const waiting = { reason: "circuit-open", since: at, until: later, ahead: 0, because } as const;
    expect(textOf({ waiting }, { status: "WaitingRetry" })).to.include(
      `: Retrying\n\nIt waits: held by the open circuit, after 4 failures in a row, until ${later}.\n`);
  });

  it("keeps foreign text in code spans of one line, however it is fenced and whatever it hides", () => {
    const text = textOf({ url: "https://r.example/`x`", answer: "``<b>\n\n# @all\u202E" }, {
      eventType: "`", ownerId: "[x](https://evil.example)\u0000", idempotencyKey: "a``b", tags: { order: "*4711*" },
    });
    const lines = text.split("\n");
    expect(lines).to.include("> ``` ``<b> # @all⟨202E⟩ ```");
    expect(lines).to.include("- Event type: `` ` ``");
    expect(lines).to.include("- Owner: `[x](https://evil.example)⟨0000⟩`");
    expect(lines).to.include("- Idempotency key: ```a``b```");
    expect(lines).to.include("- Tags: `order:*4711*`");
    expect(lines.filter((line) => line.startsWith("#"))).to.have.length(2);
  });

  it("cuts the receiver's answer at 120 characters, and leaves a binary one out", () => {
    expect(textOf({ answer: "é".repeat(200) })).to.include(`> \`${"é".repeat(120)}…\`\n`);
    expect(textOf({ answer: "\uFFFD\u0000" })).not.to.include("answer");
  });
});
