import { decodeHTMLStrict } from "entities";

/** A text with its escapes decoded. */
export interface Decoded {
  readonly text: string;
  /** Where in the source each UTF-16 unit of the text begins; last, the length of the source. Null: they are equal. */
  readonly origins: Uint32Array | null;
}

/** How many different kinds of escapes are decoded within each other, such as a form in JSON on a page. */
const layers = 4;

/**
 * Decodes the escapes of JSON and JavaScript, of URLs and of HTML. Backslashes that begin no code of a character are
 * left out, so `\n` becomes `n`. A text decodes to the same whether it was encoded before or not, and however often. At
 * the end of a text that was cut off, an incomplete escape is left out.
 */
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

/** How every escape begins. Most answers have none. */
const beginning = /[\\%&]/;
const hex = "[0-9a-fA-F]";
/** The first character of an escape, itself escaped any number of times. */
const [backslash, percent, ampersand] = ["\\\\+", "%(?:25)*", "&(?:amp;)*"];
const byte = `(?:${percent}|${backslash}x)`;
const laterByte = `${byte}[89abAB]${hex}`;
/** UTF-8 of two to four bytes. */
const utf8 = `${byte}(?:[cCdD]${hex}|[eE]${hex}${laterByte}|[fF][0-7](?:${laterByte}){2})${laterByte}`;
const codes = `${byte}(${hex}{2})|${backslash}(?:u(${hex}{4})|([^])|$)`;
const references = `${ampersand}(?:#[xX]0*(${hex}{1,6})|#0*(\\d{1,7})|([a-zA-Z][a-zA-Z0-9]{1,31}));`;
const incomplete = [
  `${byte}[c-fC-F]${hex}(?:${laterByte}){0,2}(?:${percent}${hex}?|${backslash}(?:x${hex}?)?)?`,
  `${percent}${hex}?`, `${backslash}(?:u${hex}{0,3}|x${hex}?)?`, `${ampersand}[#\\w]{0,32}`,
];
const allButBytes = new RegExp(byte, "g");
const escapes = new RegExp(`(${utf8})|${codes}|${references}`, "g");
const cutOffEscapes = new RegExp(`(${utf8})|(?:${incomplete.join("|")})$|${codes}|${references}`, "g");

/** Null where there is nothing to decode. */
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
