/** An answer that is not quite HTTP/1.1, and the result of reading it. */
export interface OddAnswer {
  readonly name: string;
  /** Latin-1. */
  readonly text: string;
  /** Whether the receiver then closes the connection. */
  readonly closes: boolean;
  /** The status that it is read as, or the beginning of the error. */
  readonly reads: number | string;
  readonly headers: Readonly<Record<string, string>>;
  /** Null where the test does not check it. */
  readonly body: string | null;
}

const ok = "HTTP/1.1 200 OK\r\n";
const length = "Content-Length: 2\r\n";
const chunked = "Transfer-Encoding: chunked\r\n";
const chunks = "2\r\nok\r\n0\r\n\r\n";
const noStatusLine = "the answer is not HTTP/1.1: it does not begin with a status line";
const noStatus = "the answer is not HTTP/1.1: its status line has no status from 100 to 999";

interface More {
  readonly reads?: number | string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | null;
  readonly closes?: boolean;
}

function odd(name: string, text: string, more: More = {}): OddAnswer {
  const { reads = 200, headers = {}, closes = false } = more;
  const body = more.body === undefined && typeof reads === "number" ? "ok" : more.body ?? null;
  return { name, text, reads, headers, closes, body };
}

/** With a header line of this kind among good ones. */
const line = (name: string, header: string, more: More = {}) =>
  odd(name, `${ok}${header}\r\n${length}X-B: b\r\n\r\nok`, { ...more, headers: { "x-b": "b", ...more.headers } });
/** With such a first line. */
const status = (name: string, first: string, more: More = {}) => odd(name, `${first}\r\n${length}\r\nok`, more);
/** With such lines about the body's length. */
const framed = (name: string, headers: string, more: More = {}) => odd(name, `${ok}${headers}\r\n\r\nok`, more);
const inChunks = (name: string, headers: string, body = chunks, more: More = {}) =>
  odd(name, `${ok}${headers}\r\n${body}`, more);

export const oddAnswers: readonly OddAnswer[] = [
  line("a folded line", "X-A: one\r\n two", { headers: { "x-a": "one two" } }),
  line("a line folded with a tab, twice", "X-A: one\r\n\ttwo\r\n   three", { headers: { "x-a": "one two three" } }),
  line("a line folded to nothing", "X-A: one\r\n ", { headers: { "x-a": "one" } }),
  line("a value that begins on the next line", "X-A:\r\n one", { headers: { "x-a": "one" } }),
  line("a first line that is folded", " folded"),
  odd("a folded length", `${ok}Content-Length:\r\n 2\r\n\r\nok`),
  odd("bare line feeds", `${ok}X-A: b\r\n${length}\r\nok`.replaceAll("\r\n", "\n"), { headers: { "x-a": "b" } }),
  odd("a bare line feed at the end", `${ok}${length}\nok`),
  line("a bare line feed in the middle", "X-A: b\nX-C: d", { headers: { "x-a": "b", "x-c": "d" } }),
  line("two carriage returns", "X-A: b\r", { headers: { "x-a": "b" } }),
  odd("two carriage returns at the end", `${ok}${length}\r\r\nok`),
  line("a carriage return in a value", "X-A: b\rc", { headers: { "x-a": "b c" } }),
  line("a space before the colon", "X-A : b", { headers: { "x-a": "b" } }),
  line("a tab before the colon", "X-A\t: b", { headers: { "x-a": "b" } }),
  framed("a space before the colon of the length", "Content-Length : 2"),
  line("no space after the colon", "X-A:b", { headers: { "x-a": "b" } }),
  line("no value", "X-A:", { headers: { "x-a": "" } }),
  line("no colon", "nonsense"),
  line("text", "this is: no header, but text"),
  line("no name", ": c"),
  line("a name with odd characters", "X[a]@(b): c"),
  line("a name beyond ASCII", "X-\xd6: c"),
  line("a value beyond ASCII", "X-A: \xd6", { headers: { "x-a": "\xd6" } }),
  line("a control character in a value", "X-A: a\x01b\x7fc\0d", { headers: { "x-a": "a b c d" } }),
  line("names of JavaScript's own", "__proto__: a\r\n__proto__: b\r\nconstructor: c\r\ntoString: d", {
    headers: { ["__proto__"]: "a, b", constructor: "c", tostring: "d" },
  }),
  line("a header of 20 KB", `X-A: ${"b".repeat(20_000)}`),
  odd("3,000 headers", `${ok}${"X-A: b\r\n".repeat(3_000)}${length}Retry-After: 9\r\n\r\nok`, {
    headers: { "retry-after": "9", "x-a": Array<string>(128).fill("b").join(", ") },
  }),
  line("headers larger than 64 KiB", `X-A: ${"b".repeat(70_000)}`, {
    reads: "the answer's headers are larger than 64 KiB",
  }),

  status("no reason", "HTTP/1.1 200"),
  status("no reason, but a space", "HTTP/1.1 200 "),
  status("two spaces before the status", "HTTP/1.1  200 OK"),
  status("a tab before the status", "HTTP/1.1\t200 OK"),
  status("a reason that follows at once", "HTTP/1.1 200OK"),
  status("a reason beyond ASCII", "HTTP/1.1 200 \xd6\x01K"),
  status("small letters", "http/1.1 200 ok"),
  status("HTTP/1.0", "HTTP/1.0 200 OK"),
  status("HTTP/0.9", "HTTP/0.9 200 OK"),
  status("HTTP/1", "HTTP/1 200 OK"),
  status("HTTP/1.2", "HTTP/1.2 200 OK"),
  status("HTTP/2", "HTTP/2 200"),
  status("HTTP/2.0", "HTTP/2.0 200 OK"),
  status("a status that is not in use", "HTTP/1.1 999 No", { reads: 999 }),
  status("an empty line before", `\r\n${ok.trim()}`),
  status("two line feeds before", `\n\n${ok.trim()}`),
  status("a space before", ` ${ok.trim()}`),
  status("a status below 100", "HTTP/1.1 099 No", { reads: noStatus }),
  status("a status of two digits", "HTTP/1.1 20 No", { reads: noStatus }),
  status("a status of four digits", "HTTP/1.1 2000 OK", { reads: noStatus }),
  status("no status", "HTTP/1.1 OK", { reads: noStatus }),
  status("no version", "HTTP 200 OK", { reads: noStatusLine }),
  status("another protocol", "ICY 200 OK", { reads: noStatusLine }),
  status("a byte order mark", `\xef\xbb\xbf${ok.trim()}`, { reads: noStatusLine }),
  odd("a page", "<html>hello</html>\r\n\r\n", { reads: noStatusLine }),

  framed("the length twice", `${length}Content-Length: 2`),
  framed("the length twice in a line", "Content-Length: 2, 2"),
  framed("two lengths", `${length}Content-Length: 1`),
  framed("a length with a sign", "Content-Length: +2"),
  framed("a length with a unit", "Content-Length: 2 bytes"),
  framed("a length that is none", "Content-Length: two", { closes: true }),
  framed("a negative length", "Content-Length: -2", { closes: true }),
  framed("an empty length", "Content-Length:", { closes: true }),
  framed("a length beyond counting", `Content-Length: ${"9".repeat(30)}`, { closes: true }),
  framed("the coding identity, with a length", `Transfer-Encoding: identity\r\n${length.trim()}`),
  framed("the coding identity", "Transfer-Encoding: identity", { closes: true }),
  framed("an unknown coding, with a length", `Transfer-Encoding: xyz\r\n${length.trim()}`),
  inChunks("chunks and a length", `${length}${chunked}`),
  inChunks("chunks said twice", chunked + chunked),
  inChunks("chunks, then identity", "Transfer-Encoding: chunked, identity\r\n"),
  inChunks("chunks in capitals", "TRANSFER-ENCODING: CHUNKED\r\n"),
  inChunks("chunks that end with line feeds", chunked, chunks.replaceAll("\r\n", "\n")),
  inChunks("sizes with spaces", chunked, chunks.replaceAll(/^\d/gm, "$&  ")),
  inChunks("sizes with zeros before", chunked, chunks.replaceAll(/^\d/gm, "000$&")),
  inChunks("odd extensions of chunks", chunked, chunks.replace("2", '2; a b="c')),
  inChunks("trailers", chunked, chunks.replace(/\r\n$/, "X-Trailer : a\r\n b\r\nno colon\r\n\r\n")),
  inChunks("a size that is none", chunked, "2\r\nok\r\nzz\r\n"),

  odd("an unasked 100 Continue", `HTTP/1.1 100 Continue\r\n\r\n${ok}${length}\r\nok`),
  odd("an odd 100", `HTTP/1.1 100\n\n${ok}${length}\r\nok`),
  odd("a folded 103", `HTTP/1.1 103 Early\r\nLink: a\r\n b\r\n\r\n${ok}${length}\r\nok`),
  odd("a 101", "HTTP/1.1 101 Switching\r\nConnection: upgrade\r\nUpgrade: websocket\r\n\r\n", {
    reads: "the answer changes to another protocol, which was not asked for",
  }),
  line("a wish to upgrade", "Connection: upgrade\r\nUpgrade: h2c"),
  odd("an odd failure", "HTTP/1.1 500\nX-A : b\nContent-Length:2\n\nok", { reads: 500, headers: { "x-a": "b" } }),
  odd("an odd redirect", `HTTP/1.1 302 Found\r\nLocation:\r\n /x\r\n${length}\r\nok`, {
    reads: 302, headers: { location: "/x" },
  }),
  odd("a head that breaks off behind a header", `${ok}X-A: b\r\n`, { headers: { "x-a": "b" }, body: "", closes: true }),
  odd("a head that breaks off within a header", `${ok}X-A: b`, { headers: { "x-a": "b" }, body: "", closes: true }),
  odd("a status line alone", ok, { body: "", closes: true }),
  odd("a status line that breaks off", ok.trim(), {
    reads: "the connection was closed before an answer", closes: true,
  }),
];
