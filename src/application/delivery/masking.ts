import type { Answer } from "../../domain/event/events.ts";

const mask = "***";
/** Shorter ones would be found everywhere, and are guessed anyway. */
const leastLength = 4;

/**
 * An answer without the secrets that its receiver was shown: some receivers send back what they got, and answers are
 * kept in the log and shown to every role. Found as they are, and as JSON, URLs and base64 would hold them; at the end
 * of a body that was cut off, the beginning of one too.
 */
export function maskedAnswer(answer: Answer, secrets: readonly string[]): Answer {
  const forms = [...new Set(secrets.filter(({ length }) => length >= leastLength).flatMap(formsOf))]
    // Longest first, so that one that holds another is not left half masked.
    .sort((a, b) => b.length - a.length);
  if (forms.length === 0) return answer;
  const masked = (text: string) => forms.reduce((rest, form) => rest.replaceAll(form, mask), text);
  const headers = Object.entries(answer.headers).map(([name, value]) => [masked(name), masked(value)] as const);
  const whole = masked(answer.body);
  const body = answer.truncated ? withoutBeginning(whole, forms) : whole;
  return { ...answer, headers: Object.fromEntries(headers), body };
}

function formsOf(secret: string): string[] {
  const bytes = Buffer.from(secret);
  const base64 = bytes.toString("base64");
  const forms = [
    secret, JSON.stringify(secret).slice(1, -1), encodeURIComponent(secret.toWellFormed()),
    base64, base64.replace(/=+$/, ""), bytes.toString("base64url"),
  ];
  // HTTP/1.1 has names of headers in any case; they are kept in lower case.
  return [...forms, ...forms.map((form) => form.toLowerCase())];
}

/** The text without the longest beginning of any form at its very end. */
function withoutBeginning(text: string, forms: readonly string[]): string {
  const most = Math.max(...forms.map((form) => beginningAtEnd(text, form)));
  return most === 0 ? text : text.slice(0, -most) + mask;
}

/** How many characters at a text's very end are the beginning of a form. */
function beginningAtEnd(text: string, form: string): number {
  for (let length = Math.min(form.length - 1, text.length); length >= leastLength; length -= 1) {
    if (text.endsWith(form.slice(0, length))) return length;
  }
  return 0;
}
