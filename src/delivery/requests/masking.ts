import { decodeHTMLStrict } from "entities";
import type { ReceiverAnswer } from "../../features/events/facts.ts";

const mask = "***";
/** A shorter secret would match in many texts by chance, and can be guessed anyway. */
const leastLength = 4;

/** One way to write a secret, folded. */
export interface SecretForm {
  readonly text: string;
  /** How much of its beginning is masked where another text follows, in UTF-16 units. */
  readonly least: number;
  /** Whether it is found in a text as it stands, or in the decoded text. */
  readonly in: "source" | "decoded";
}

/** The ways to write these secrets that {@link maskedAnswer} looks for; none of a secret of less than 4 characters. */
export function secretForms(secrets: readonly string[]): readonly SecretForm[] {
  const forms = secrets.flatMap((secret) => (secret.length < leastLength ? [] : formsOf(secret)));
  return forms.filter(({ least }) => least >= leastLength);
}

function formsOf(secret: string): SecretForm[] {
  const bytes = Buffer.from(secret);
  // UTF-8 that is read as Latin-1, as headers are, and Latin-1 that is read as UTF-8, as bodies are.
  const texts = new Set([secret, bytes.toString("latin1"), Buffer.from(secret, "latin1").toString()]);
  // A form of little more than replacement characters would match in any binary data.
  const telling = [...texts].filter((text) => text.replaceAll("\uFFFD", "").length >= leastLength);
  const forms = telling.map((text) => formOf(decoded(text, false).text, "decoded"));
  return [formOf(secret, "source"), ...forms, ...base64Forms(bytes)];
}

function formOf(text: string, where: SecretForm["in"]): SecretForm {
  return { text: folded(text), least: text.length, in: where };
}

function base64Forms(bytes: Uint8Array): SecretForm[] {
  return [0, 1, 2].map((before) => {
    const base64 = Buffer.concat([Buffer.alloc(before), bytes]).toString("base64");
    const start = Math.ceil((before * 8) / 6);
    const end = Math.floor(((before + bytes.length) * 8) / 6);
    return { text: folded(base64.slice(start)), least: end - start, in: "decoded" };
  });
}

/** Masks the receiver's secrets in an answer, plain, in base64 or escaped: some receivers send the request back. */
export function maskedAnswer(answer: ReceiverAnswer, forms: readonly SecretForm[]): ReceiverAnswer {
  const texts = [...Object.entries(answer.headers).flat(), answer.body];
  const hidden = hiddenIn(texts.join("\0"), forms, answer.truncated);
  if (!hidden) return answer;
  let end = -1;
  const shown = texts.map((text) => {
    const start = end + 1;
    end = start + text.length;
    return without(text, hidden.subarray(start, end));
  });
  const body = shown.pop() ?? "";
  const headers = Object.keys(answer.headers).map((_, index) => shown.slice(index * 2, index * 2 + 2));
  return { ...answer, headers: Object.fromEntries(headers) as ReceiverAnswer["headers"], body };
}

/** Marks the UTF-16 units of a text that belong to a secret, in the text or in the decoded text; null if none does. */
function hiddenIn(source: string, forms: readonly SecretForm[], cutOff: boolean): Uint8Array | null {
  const plain = folded(source);
  const { text, origins } = decoded(source, cutOff);
  const read = origins ? folded(text) : plain;
  let hidden: Uint8Array | null = null;
  for (const form of forms) {
    const places = form.in === "source" ? null : origins;
    find(form, form.in === "source" ? plain : read, cutOff, (from, to) => {
      hidden = (hidden ?? new Uint8Array(source.length)).fill(1, places?.[from] ?? from, places?.[to] ?? to);
    });
  }
  return hidden;
}

/** Calls `found` for each place of a form, and for its beginning at the end of a cut text (Knuth, Morris and Pratt). */
function find(
  { text: form, least }: SecretForm, text: string, cutOff: boolean, found: (from: number, to: number) => unknown,
): void {
  const start = text.indexOf(form.slice(0, leastLength));
  if (start === -1) return;
  const borders = bordersOf(form);
  let length = 0;
  let from = 0;
  let to = 0;
  for (let at = start; at < text.length; at += 1) {
    length = longer(form, borders, length, text.charCodeAt(at));
    const enough = cutOff && at === text.length - 1 ? leastLength : least;
    if (length < enough) continue;
    if (at + 1 - length > to) {
      if (to > 0) found(from, to);
      from = at + 1 - length;
    }
    to = at + 1;
  }
  if (to > 0) found(from, to);
}

/** `length`: of the longest beginning of the form that a text ends with. Returns that length after one more `unit`. */
function longer(form: string, borders: Uint16Array, length: number, unit: number): number {
  let next = length;
  while (next > 0 && (next === form.length || form.charCodeAt(next) !== unit)) next = borders[next - 1] ?? 0;
  return form.charCodeAt(next) === unit ? next + 1 : next;
}

/** For each beginning of a form, its longest ending that is a shorter beginning. */
function bordersOf(form: string): Uint16Array {
  const borders = new Uint16Array(form.length);
  for (let at = 1; at < form.length; at += 1) {
    borders[at] = longer(form, borders, borders[at - 1] ?? 0, form.charCodeAt(at));
  }
  return borders;
}

/** Units of ASCII that some encoding replaces, each with the unit that stands for both. */
const same: Readonly<Record<string, string>> = {
  "+": " ", "-": " ", _: "/", "\b": "b", "\f": "f", "\n": "n", "\r": "r", "\t": "t",
};
const fold = Uint8Array.from({ length: 0x100 }, (_, unit) => {
  const char = String.fromCharCode(unit);
  return unit < 0x80 ? (same[char] ?? char.toLowerCase()).charCodeAt(0) : unit;
});

/** A text of the same length in lower case, with base64 for base64url and spaces, and escapes for line breaks. */
function folded(text: string): string {
  const units = Buffer.from(text, "utf16le");
  for (let at = 0; at < units.length; at += 2) if (units[at + 1] === 0) units[at] = fold[units[at] ?? 0] ?? 0;
  return units.toString("utf16le");
}

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

/** A text with its escapes decoded. */
export interface Decoded {
  readonly text: string;
  /** Where in the source each UTF-16 unit of the text begins; last, the length of the source. Null: they are equal. */
  readonly origins: Uint32Array | null;
}

/** How many different kinds of escapes are decoded within each other, such as a form in JSON on a page. */
const layers = 4;

/** Decodes the escapes of JSON, JavaScript, URLs and HTML, however often a text was encoded. */
export function decoded(source: string, cutOff: boolean): Decoded {
  const pattern = cutOff ? cutOffEscapes : escapes;
  let last: Decoded = { text: source, origins: null };
  if (!beginning.test(source)) return last;
  for (let layer = 0; layer < layers; layer += 1) {
    const next = decodedOnce(last, pattern);
    if (!next) break;
    last = next;
  }
  return last;
}

const beginning = /[\\%&]/;

const hex = "[0-9a-fA-F]";

/** The first character of an escape, itself escaped any number of times. */
const [backslash, percent, ampersand] = ["\\\\+", "%(?:25)*", "&(?:amp;)*"];

const bytes = [percent, `${backslash}x`] as const;

const byte = `(?:${bytes.join("|")})`;

const laterDigits = `[89abAB]${hex}`;

/** A character in UTF-8, all its bytes in one kind of escape. */
const utf8 = bytes.map((byte) => {
  const later = `${byte}${laterDigits}`;
  return `${byte}(?:[cCdD]${hex}|[eE]${hex}${later}|[fF][0-7](?:${later}){2})${later}`;
}).join("|");

const codes = `${byte}(${hex}{2})|${backslash}(?:u(${hex}{4})|([^])|$)`;

const references = `${ampersand}(?:#[xX]0*(${hex}{1,6})|#0*(\\d{1,7})|([a-zA-Z][a-zA-Z0-9]{1,31}));`;

const incomplete = [
  `${byte}[c-fC-F]${hex}(?:${byte}${laterDigits}){0,2}(?:${percent}${hex}?|${backslash}(?:x${hex}?)?)?`,
  `${percent}${hex}?`, `${backslash}(?:u${hex}{0,3}|x${hex}?)?`, `${ampersand}[#\\w]{0,32}`,
];

const allButBytes = new RegExp(byte, "g");

const escapes = new RegExp(`(${utf8})|${codes}|${references}`, "g");

const cutOffEscapes = new RegExp(`(${utf8})|(?:${incomplete.join("|")})$|${codes}|${references}`, "g");

function decodedOnce({ text: source, origins: before }: Decoded, pattern: RegExp): Decoded | null {
  if (source.search(pattern) === -1) return null;
  const origins = new Uint32Array(source.length + 1);
  const originOf = (at: number) => before?.[at] ?? at;
  let from = 0;
  let to = 0;
  const keepUpTo = (end: number) => {
    for (; from < end; from += 1, to += 1) origins[to] = originOf(from);
  };
  const read = (
    escape: string, bytes: Group, one: Group, unit: Group, itself: Group, code: Group, decimal: Group, name: Group,
    at: number,
  ) => {
    const meaning = meaningOf(bytes, one ?? unit ?? code, decimal, name) ?? itself ?? "";
    keepUpTo(at);
    for (const end = to + meaning.length; to < end; to += 1) origins[to] = originOf(at);
    from += escape.length;
    return meaning;
  };
  const text = source.replace(pattern, read);
  keepUpTo(source.length + 1);
  return { text, origins: origins.subarray(0, to) };
}

type Group = string | undefined;

function meaningOf(bytes: Group, digits: Group, decimal: Group, name: Group): string | undefined {
  if (bytes !== undefined) return Buffer.from(bytes.replaceAll(allButBytes, ""), "hex").toString();
  if (digits !== undefined) return characterOf(Number.parseInt(digits, 16));
  if (decimal !== undefined) return characterOf(Number(decimal));
  return name === undefined ? undefined : namedCharacter(name);
}

function characterOf(code: number): string {
  return code <= 0x10_ff_ff ? String.fromCodePoint(code) : "";
}

/** The character of a name that HTML knows, in lower case where it knows it so only; else the reference itself. */
function namedCharacter(name: string): string {
  const reference = `&${name};`;
  const exact = decodeHTMLStrict(reference);
  if (exact !== reference) return exact;
  const small = reference.toLowerCase();
  const character = decodeHTMLStrict(small);
  return character === small ? reference : character;
}
