import type { Answer } from "../../domain/event/events.ts";
import { viewsOf, type View } from "./escapes.ts";

const mask = "***";
/** Shorter ones would be found everywhere, and are guessed anyway. */
const leastLength = 4;

/**
 * An answer without the secrets that its receiver was shown: some receivers send back what they got, and answers are
 * kept in the log and shown to every role. Found as they are, in base64, and with UTF-8 and Latin-1 taken for each
 * other, each also with the escapes of JSON, URLs, forms and HTML; at the end of a body that was cut off, the beginning
 * of one too. Of an answer that would take long to read, each text that may hold a secret is masked as a whole.
 */
export function maskedAnswer(answer: Answer, secrets: readonly string[]): Answer {
  const texts = new Set(secrets.filter(({ length }) => length >= leastLength).flatMap(textsOf));
  if (texts.size === 0) return answer;
  const search = new Search([...texts]);
  const headers = Object.entries(answer.headers)
    .map(([name, value]) => [search.masked(name), search.masked(value)] as const);
  return { ...answer, headers: Object.fromEntries(headers), body: search.masked(answer.body, answer.truncated) };
}

function textsOf(secret: string): string[] {
  const bytes = Buffer.from(secret);
  const base64 = bytes.toString("base64");
  const texts = [
    secret, bytes.toString(), base64, base64.replace(/=+$/, ""), bytes.toString("base64url"),
    // As HTML forms write spaces.
    secret.replaceAll(" ", "+"),
    // UTF-8 that is read as Latin-1: as headers are here, and credentials by some receivers.
    bytes.toString("latin1"),
  ];
  // Latin-1 that is read as UTF-8, as bodies are here. Where hardly more than replacement characters remain, it tells
  // nothing, and would be found in whatever is no text.
  const misread = Buffer.from(secret, "latin1").toString();
  if (misread.replaceAll("\uFFFD", "").length >= leastLength) texts.push(misread);
  // HTTP/1.1 has names of headers in any case; they are kept in lower case.
  return [...texts, ...texts.map((text) => text.toLowerCase())];
}

/** A secret as it may be written but for escapes. */
interface Form {
  readonly text: string;
  /** The first of the longest parts of it that no encoding escapes: where it is not, the form is not. */
  readonly anchor: string;
  /** How many characters it has at most with escapes. */
  readonly room: number;
}

/** More characters than two encodings, one upon the other, make of one. */
const longestEscape = 24;
/** Longer ones would be no rarer, and may take the square of their length to search for. */
const longestAnchor = 16;

function formOf(text: string): Form {
  let [anchorAt, anchorLength, run, signs] = [0, 0, 0, 0];
  for (let at = 0; at < text.length; at += 1) {
    run = isUnescaped(text.charCodeAt(at)) ? run + 1 : 0;
    if (run === 0) signs += 1;
    if (run > anchorLength && run <= longestAnchor) {
      anchorLength = run;
      anchorAt = at + 1 - run;
    }
  }
  const anchor = text.slice(anchorAt, anchorAt + anchorLength);
  return { text, anchor, room: text.length - signs + longestEscape * signs };
}

/** Whether it is a letter or a digit of ASCII. */
function isUnescaped(char: number): boolean {
  const letter = char | 0x20;
  return (letter >= 0x61 && letter <= 0x7a) || (char >= 0x30 && char <= 0x39);
}

/**
 * How much of one answer is read, in characters of views and forms: who runs the receiver may make both the answer and
 * the secrets such as take long, and meanwhile nobody is served. A page that is full of escapes takes most of it.
 */
const mostEffort = 400_000;
/** What else takes time, in characters of views that are made and searched meanwhile. */
const effortOfView = ({ text, escapes }: View) => 256 + text.length + 32 * escapes;
const effortOfComparing = (form: string) => 8 + form.length / 8;

/** Hashes of so many bits; each of the {@link leastLength} characters hashed moves those before it up by its share. */
const hashBits = 12;
const hashOnto = (hash: number, char: number) => ((hash << (hashBits / leastLength)) ^ char) & ((1 << hashBits) - 1);

function hashOfStart({ text }: Form): number {
  let hash = 0;
  for (let at = 0; at < leastLength; at += 1) hash = hashOnto(hash, text.charCodeAt(at));
  return hash;
}

/** Looks for secrets in the texts of one answer. */
class Search {
  readonly #anchors: ReadonlySet<string>;
  readonly #mostRoom: number;
  /** Forms by the hash of their first characters; and which hashes those are, as every character asks. */
  readonly #forms: ReadonlyMap<number, readonly Form[]>;
  readonly #isStart = new Uint8Array(1 << hashBits);
  #effortLeft = mostEffort;

  constructor(texts: readonly string[]) {
    const forms = texts.map(formOf);
    for (const { text } of forms) this.#effortLeft -= text.length;
    this.#anchors = new Set(forms.map(({ anchor }) => anchor));
    this.#mostRoom = Math.max(...forms.map(({ room }) => room));
    this.#forms = Map.groupBy(forms, hashOfStart);
    for (const hash of this.#forms.keys()) this.#isStart[hash] = 1;
  }

  /** The text with each stretch of secrets masked, or all that would take too long to read. */
  masked(text: string, cutOff = false): string {
    const start = this.#suspectFrom(text, cutOff);
    const suspect = text.slice(start);
    const hidden = new Uint8Array(suspect.length);
    for (const view of suspect === "" ? [] : viewsOf(suspect)) {
      this.#effortLeft -= effortOfView(view);
      this.#hide(hidden, view, cutOff);
      if (this.#effortLeft < 0) return text.slice(0, start) + mask;
    }
    return text.slice(0, start) + without(suspect, hidden);
  }

  /** From where on there may be secrets. Reading escapes takes time, and few answers have any anchor. */
  #suspectFrom(text: string, cutOff: boolean): number {
    for (const anchor of this.#anchors) if (text.includes(anchor)) return 0;
    return cutOff ? Math.max(0, text.length - this.#mostRoom) : text.length;
  }

  /** Marks what a view shows of secrets: forms, and at the end of what is cut off the beginnings of forms. */
  #hide(hidden: Uint8Array, { text, origins }: View, cutOff: boolean): void {
    let hash = 0;
    for (let end = 0; end < text.length && this.#effortLeft >= 0; end += 1) {
      hash = hashOnto(hash, text.charCodeAt(end));
      const at = end + 1 - leastLength;
      if (at < 0 || this.#isStart[hash] === 0) continue;
      for (const { text: form } of this.#forms.get(hash) ?? []) {
        const shown = text.slice(at, at + form.length);
        this.#effortLeft -= effortOfComparing(shown);
        if ((cutOff || shown.length === form.length) && shown === form.slice(0, shown.length)) {
          hidden.fill(1, origins[at], origins[at + shown.length]);
        }
      }
    }
  }
}

/** The text with each stretch of what is hidden masked. */
function without(text: string, hidden: Uint8Array): string {
  let kept = "";
  let end = 0;
  for (let from = hidden.indexOf(1); from !== -1; from = hidden.indexOf(1, end)) {
    kept += text.slice(end, from) + mask;
    const next = hidden.indexOf(0, from);
    end = next === -1 ? text.length : next;
  }
  return kept + text.slice(end);
}
