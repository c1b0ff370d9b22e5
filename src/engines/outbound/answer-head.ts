/** The head of an answer as undici's parser reads it. */
export interface AnswerHead {
  /** Latin-1; the text as it came if that was regular. */
  readonly text: string;
  /** Whether it is an interim answer: 100, 102, 103. */
  readonly interim: boolean;
  /** Whether the body comes in chunks. */
  readonly chunked: boolean;
}

/** Why a head cannot be read, in the words that the log and the API show. */
export interface HeadFault {
  readonly fault: string;
}

/** Longer heads are rewritten: undici's parser takes too much memory for very many headers. */
const tidyChars = 4_096;
/** The most headers, and characters of headers, that are handed on from an irregular or long head. */
const mostHeaders = 128;
const mostChars = 8_192;
/** Headers that the relay acts on are handed on beyond these limits, up to `mostHeededChars`. */
const heeded: ReadonlySet<string> = new Set(["connection", "keep-alive", "retry-after"]);
const mostHeededChars = 2_048;
/** Longer lists of codings are not handed on: no receiver needs them. */
const longestCodings = 256;

const tidyHead =
  /^HTTP\/1\.[01] [2-9]\d\d [\t -~\x80-\xff]*\r\n(?:[!#$%&'*+\-.^_`|~\dA-Za-z]+:[\t -~\x80-\xff]*\r\n)*\r\n$/;
const framing = /\n(?:content-length|transfer-encoding):[^\r]*/gi;
const tidyFraming = /^\n(?:content-length:[ \t]*\d{1,15}|transfer-encoding:[ \t]*chunked)[ \t]*$/i;
const statusLine = /^HTTP\/(\d)(?:\.(\d))?[ \t]+([1-9]\d\d)(?!\d)/i;
const token = /^[!#$%&'*+\-.^_`|~\dA-Za-z]+$/;

/**
 * Reads a head, to its empty line, as leniently as curl does: folded lines, bare line feeds, blanks before a colon,
 * names and values with odd characters, lines that are no headers, repeated and contradicting lengths, any version of
 * HTTP. A head that undici's parser would refuse is rewritten. If the body's length is in doubt, the connection is not
 * used again.
 */
export function readHead(text: string): AnswerHead | HeadFault {
  if (text.length <= tidyChars && tidyHead.test(text)) {
    const frames = text.match(framing);
    const [frame = ""] = frames ?? [];
    if (frames === null || (frames.length === 1 && tidyFraming.test(frame))) {
      return { text, interim: false, chunked: /^\nt/i.test(frame) };
    }
  }
  return rewritten(text);
}

function rewritten(text: string): AnswerHead | HeadFault {
  const [first = "", ...lines] = unfolded(text);
  const [, major, minor, status] = statusLine.exec(first) ?? [];
  if (status === undefined) return { fault: faultOf(first) };
  if (status === "101") return { fault: "the answer changes to another protocol, which was not asked for" };
  const interim = status.startsWith("1");
  if (interim) return { text: "", interim, chunked: false };
  const headers = lines.map(headerOf).filter((header) => header !== null);
  const { frame, chunked, doubtful } = frameOf(headers);
  const closes = doubtful || major !== "1";
  const kept = keptOf(headers).filter(([name]) => !closes || name.toLowerCase() !== "connection");
  const all = [...kept, ...frame, ...(closes ? [["Connection", "close"] as const] : [])];
  const version = minor === "0" ? "1.0" : "1.1";
  const written = all.map(([name, value]) => `${name}: ${value}\r\n`).join("");
  return { text: `HTTP/${version} ${status} \r\n${written}\r\n`, interim, chunked };
}

/** The lines of a head. A line that begins with a blank continues the line before. */
function unfolded(text: string): string[] {
  const lines: string[] = [];
  for (const line of text.split("\n")) {
    const before = /^[ \t]/.test(line) ? lines.pop() : undefined;
    lines.push(before === undefined ? line.trimEnd() : `${before} ${line.trim()}`);
  }
  return lines;
}

function faultOf(first: string): string {
  return /^HTTP\//i.test(first)
    ? "the answer is not HTTP/1.1: its status line has no status from 100 to 999"
    : "the answer is not HTTP/1.1: it does not begin with a status line";
}

type Header = readonly [name: string, value: string];

/** Null for a line that is no header, or whose name undici's parser would refuse. */
function headerOf(line: string): Header | null {
  const colon = line.indexOf(":");
  const name = line.slice(0, Math.max(0, colon)).trim();
  if (!token.test(name)) return null;
  return [name, line.slice(colon + 1).replace(/[^\t -~\x80-\xff]/g, " ").trim()];
}

function valuesOf(headers: readonly Header[], wanted: string): string[] {
  const values = headers.filter(([name]) => name.toLowerCase() === wanted).flatMap(([, value]) => value.split(","));
  return values.map((value) => value.trim());
}

/** The header that tells where the body ends: chunks before a length, the first of several lengths. */
function frameOf(headers: readonly Header[]): { frame: readonly Header[]; chunked: boolean; doubtful: boolean } {
  const codings = valuesOf(headers, "transfer-encoding").filter((coding) => !/^(?:identity)?$/i.test(coding));
  const lengths = valuesOf(headers, "content-length");
  if (codings.at(-1)?.toLowerCase() === "chunked") {
    const all = codings.join(", ");
    const shown = all.length > longestCodings ? "chunked" : all;
    return { frame: [["Transfer-Encoding", shown]], chunked: true, doubtful: lengths.length > 0 };
  }
  const numbers = lengths.map((length) => /^\+?(\d{1,15})(?!\d)/.exec(length)?.[1]);
  const [length] = numbers.filter((number) => number !== undefined);
  const doubtful = codings.length > 0 || numbers.some((number) => number !== length);
  return { frame: length === undefined ? [] : [["Content-Length", length]], chunked: false, doubtful };
}

/** The headers that are handed on besides the frame, in their order. */
function keptOf(headers: readonly Header[]): Header[] {
  let room = mostChars;
  let heededRoom = mostHeededChars;
  let left = mostHeaders;
  return headers.filter(([name, value]) => {
    const known = name.toLowerCase();
    if (known === "content-length" || known === "transfer-encoding") return false;
    const chars = name.length + value.length;
    if (heeded.has(known)) return (heededRoom -= chars) >= 0;
    if (left === 0 || chars > room) return false;
    left -= 1;
    room -= chars;
    return true;
  });
}
