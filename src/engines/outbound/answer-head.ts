/** An answer's head for undici's parser. */
export interface AnswerHead {
  /** Latin-1; unchanged if it was regular. */
  readonly text: string;
  /** 100, 102 or 103. */
  readonly interim: boolean;
  readonly chunked: boolean;
}

/** The reason, in the words of the log and the API. */
export interface HeadFault {
  readonly fault: string;
}

/** Longer heads are rewritten: undici's parser takes too much memory for very many headers. */
const tidyChars = 4_096;
/** Limits of the headers kept from an irregular or long head. */
const mostHeaders = 128;
const mostChars = 8_192;
/** Headers that the relay uses have their own limit. */
const heeded: ReadonlySet<string> = new Set(["connection", "keep-alive", "retry-after"]);
const mostHeededChars = 2_048;
const longestCodings = 256;

const tidyHead =
  /^HTTP\/1\.[01] [2-9]\d\d [\t -~\x80-\xff]*\r\n(?:[!#$%&'*+\-.^_`|~\dA-Za-z]+:[\t -~\x80-\xff]*\r\n)*\r\n$/;
const framing = /\n(?:content-length|transfer-encoding):[^\r]*/gi;
const tidyFraming = /^\n(?:content-length:[ \t]*\d{1,15}|transfer-encoding:[ \t]*chunked)[ \t]*$/i;
const statusLine = /^HTTP\/(\d)(?:\.(\d))?[ \t]+([1-9]\d\d)(?!\d)/i;
const token = /^[!#$%&'*+\-.^_`|~\dA-Za-z]+$/;

/**
 * Reads a head as leniently as curl: folded lines, bare line feeds, odd characters, contradicting lengths. Rewrites
 * heads that undici's parser refuses. If the body's length is in doubt, the connection is not reused.
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

/** A line that begins with a blank continues the one before. */
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

/** Null for a line without a header, or with a name that undici's parser refuses. */
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

/** The header of the body's end: chunks before a length, the first of several lengths. */
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
