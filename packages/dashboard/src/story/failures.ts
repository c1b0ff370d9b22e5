import { isBinary } from "../parts/hex.ts";
import type { Attempt } from "./attempts.ts";
import { counted, linked, type Reference, type Words } from "./words.ts";

/** So many characters of a receiver's words are quoted. */
const quoted = 120;
/** Members of an answer in JSON that have its message, the most telling first. */
const messageMembers = ["message", "detail", "error_description", "error", "title", "reason"];

/** The words of a receiver's answer, in one line cut at 120 characters; undefined for an empty or a binary one. */
export function receiverWords(body: string): string | undefined {
  if (isBinary(body)) return undefined;
  const text = (messageIn(body) ?? withoutMarkup(body)).replace(/\s+/g, " ").trim();
  if (text === "") return undefined;
  const letters = [...text];
  return letters.length <= quoted ? text : `${letters.slice(0, quoted).join("")}…`;
}

function messageIn(body: string): string | undefined {
  try {
    return messageOf(JSON.parse(body));
  } catch {
    return undefined;
  }
}

function messageOf(value: unknown): string | undefined {
  if (typeof value === "string") return value;
  if (typeof value !== "object" || value === null) return undefined;
  const members = value as Readonly<Record<string, unknown>>;
  return messageMembers.map((name) => messageOf(members[name])).find((text) => text !== undefined && text !== "");
}

/** The text of a page that an error answers with; any other text as it is. */
function withoutMarkup(body: string): string {
  if (!/^\s*<(!doctype|html|head|body|h1)/i.test(body)) return body;
  return body.replace(/<(script|style|title)\b[^>]*>.*?<\/\1>/gis, " ").replace(/<[^>]*>/g, " ");
}

const numerals = ["", "", " twice", " three times", " four times", " five times", " six times", " seven times",
  " eight times", " nine times"];

function times(count: number): string {
  return numerals[count] ?? ` ${count} times`;
}

/**
 * How the failed attempts came out: `the receiver answered 404 three times (“It moved”)`. They are at least one.
 * `said` are the receiver's words at the last one.
 */
export function failureWords(failed: readonly Attempt[], { tense, entry = null, said }: {
  readonly tense: "now" | "then"; readonly entry?: Reference | null; readonly said: string | undefined;
}): Words {
  const last = failed.at(-1);
  const quote: Words = said === undefined ? [] : [" (", { quote: said }, ")"];
  const had = tense === "now" ? "" : "had ";
  const areSame = failed.every(({ reason, statusCode }) =>
    reason === last?.reason && statusCode === last.statusCode);
  const isAnswer = last?.reason === "status" && last.statusCode !== null;
  if (isAnswer && areSame) {
    return [`the receiver ${had}answered `, linked(`${last.statusCode}${times(failed.length)}`, entry), ...quote];
  }
  const text = linked(`${counted(failed.length, "attempt")} ${had}failed`, entry);
  if (isAnswer) return [text, `, the last was answered ${last.statusCode}`, ...quote];
  if (last?.error == null) return [text];
  return [text, areSame ? ` (${last.error})` : `, the last: ${last.error}`];
}
