import type { Answer } from "../../domain/event/events.ts";
import { viewsOf, type View } from "./escapes.ts";

const mask = "***";
/** Shorter ones would be found everywhere, and are guessed anyway. */
const leastLength = 4;

/** A secret as it may be written but for escapes. */
interface Form {
  readonly text: string;
  /** The longest part of it that no encoding escapes, and where that begins: what to look for first. */
  readonly anchor: string;
  readonly anchorAt: number;
  /**
   * Whether no escape can stand for its first and last character, nor for any of its signs, and no other can begin
   * within it: as it is it is whole.
   */
  readonly whole: boolean;
  /** How many characters it has at most with escapes. */
  readonly room: number;
  /** See {@link bordersOf}. */
  readonly borders: Uint32Array;
}

/** From where to where in a text. */
type Span = readonly [from: number, to: number];

/**
 * An answer without the secrets that its receiver was shown: some receivers send back what they got, and answers are
 * kept in the log and shown to every role. Found as they are and in base64, each also with the escapes of JSON, URLs,
 * forms and HTML; at the end of a body that was cut off, the beginning of one too.
 */
export function maskedAnswer(answer: Answer, secrets: readonly string[]): Answer {
  const texts = new Set(secrets.filter(({ length }) => length >= leastLength).flatMap(textsOf));
  if (texts.size === 0) return answer;
  const forms = [...texts].map(formOf);
  const masked = (text: string) => without(text, spansIn(text, forms));
  const headers = Object.entries(answer.headers).map(([name, value]) => [masked(name), masked(value)] as const);
  const { body } = answer;
  const cut = answer.truncated ? beginningsAtEnd(body, forms) : [];
  return { ...answer, headers: Object.fromEntries(headers), body: without(body, [...spansIn(body, forms), ...cut]) };
}

function textsOf(secret: string): string[] {
  const bytes = Buffer.from(secret);
  const base64 = bytes.toString("base64");
  const texts = [
    secret, bytes.toString(), base64, base64.replace(/=+$/, ""), bytes.toString("base64url"),
    // As HTML forms write spaces.
    secret.replaceAll(" ", "+"),
  ];
  // HTTP/1.1 has names of headers in any case; they are kept in lower case.
  return [...texts, ...texts.map((text) => text.toLowerCase())];
}

/** More characters than two encodings, one upon the other, make of one. */
const longestEscape = 24;

function formOf(text: string): Form {
  const runs = text.match(/[A-Za-z0-9]+/g) ?? [];
  const anchor = runs.reduce((longest, run) => (run.length > longest.length ? run : longest), "");
  const unescaped = runs.reduce((sum, { length }) => sum + length, 0);
  const borders = bordersOf(text);
  return {
    text,
    anchor,
    anchorAt: text.indexOf(anchor),
    whole: /^[A-Za-z0-9][^\\%&]*[A-Za-z0-9]$/.test(text) && borders.at(-1) === 0,
    room: unescaped + longestEscape * (text.length - unescaped),
    borders,
  };
}

/** Where the forms are. Reading escapes takes time: it is done around anchors only, and few answers have any. */
function spansIn(text: string, forms: readonly Form[]): Span[] {
  const spans: Span[] = [];
  const suspect: Span[] = [];
  for (const { text: form, anchor, anchorAt, whole, room } of forms) {
    // Without an anchor (a secret of signs alone) it may be anywhere.
    if (anchor === "") suspect.push([0, text.length]);
    else {
      for (let at = text.indexOf(anchor); at !== -1; at = text.indexOf(anchor, at + anchor.length)) {
        const from = at - anchorAt;
        if (whole && text.startsWith(form, from)) spans.push([from, from + form.length]);
        // The next anchor may begin within this one.
        else suspect.push([Math.max(0, at - room), at + anchor.length + room]);
      }
    }
  }
  for (const [start, end] of united(suspect)) {
    const views = viewsOf(text.slice(start, end));
    for (const form of forms.filter((one) => one.text.length <= end - start)) {
      for (const view of views) spans.push(...occurrences(view, form, start));
    }
  }
  return spans;
}

function occurrences({ text, origins }: View, form: Form, start: number): Span[] {
  const spans: Span[] = [];
  let length = 0;
  for (let at = 0; at < text.length; at += 1) {
    length = extended(length, text.charCodeAt(at), form);
    if (length < form.text.length) continue;
    spans.push([start + (origins[at + 1 - length] ?? 0), start + (origins[at + 1] ?? 0)]);
    length = form.borders[length - 1] ?? 0;
  }
  return spans;
}

/**
 * For each beginning of a form: how much of its end is a shorter one. With that, after Knuth, Morris and Pratt, a text
 * is searched in one pass: otherwise some forms take the square of their length, and both they and the text are whoever
 * runs the receiver's to choose.
 */
function bordersOf(text: string): Uint32Array {
  const borders = new Uint32Array(text.length);
  for (let at = 1; at < text.length; at += 1) {
    borders[at] = extended(borders[at - 1] ?? 0, text.charCodeAt(at), { text, borders });
  }
  return borders;
}

/** How long a beginning of the form ends with this character, where one of `length` ends before it. */
function extended(length: number, char: number, { text, borders }: Pick<Form, "text" | "borders">): number {
  let before = length;
  while (before > 0 && text.charCodeAt(before) !== char) before = borders[before - 1] ?? 0;
  return text.charCodeAt(before) === char ? before + 1 : 0;
}

/** The beginnings of forms at a text's very end, with or without escapes. */
function beginningsAtEnd(text: string, forms: readonly Form[]): Span[] {
  const start = Math.max(0, text.length - Math.max(...forms.map(({ room }) => room)));
  return viewsOf(text.slice(start)).flatMap((view) => {
    const most = Math.max(...forms.map((form) => beginningAtEnd(view.text, form)));
    const from = start + (view.origins[view.text.length - most] ?? 0);
    return most === 0 ? [] : [[from, text.length] as const];
  });
}

/** How many characters at a text's very end are the beginning of a form. */
function beginningAtEnd(text: string, form: Form): number {
  let length = 0;
  for (let at = 0; at < text.length; at += 1) length = extended(length, text.charCodeAt(at), form);
  return length < leastLength ? 0 : length;
}

/** The text with each stretch of spans masked. */
function without(text: string, spans: readonly Span[]): string {
  let kept = "";
  let end = 0;
  for (const [from, to] of united(spans)) {
    kept += text.slice(end, from) + mask;
    end = to;
  }
  return kept + text.slice(end);
}

/** The spans in their order, those that touch or overlap as one. */
function united(spans: readonly Span[]): Span[] {
  const apart: Span[] = [];
  for (const [from, to] of spans.toSorted((a, b) => a[0] - b[0])) {
    const last = apart.at(-1);
    if (last && from <= last[1]) apart[apart.length - 1] = [last[0], Math.max(last[1], to)];
    else apart.push([from, to]);
  }
  return apart;
}
