import type { TLSSocket } from "node:tls";
import { CallFailure } from "./failures.ts";

/** Of everything that comes back to one request, including what HTTP discards. */
const maxBytes = 262_144;
/** Reads and chunks together: each costs the processor about as much as an honest answer. */
const maxPieces = 2_048;
/** Of an answer's heads and trailers together; their bytes are the parser's to bound. */
const maxLines = 256;
/** The beginning of a line that is enough to recognise it. */
const tellingChars = 32;
const lineFeed = 10;
/** Where a status line has the last digit of its code. */
const lastDigitAt = "HTTP/1.1 10".length;
const digitTwo = 0x32;

/**
 * Ends a connection on which more comes back to a request than any honest answer has, in bytes, pieces or
 * headers. undici bounds none of these: interim answers, status texts and chunk extensions reach no
 * handler and would keep the processor busy until the deadline, and a header of two letters costs its
 * parser a hundred times as much memory as the limit on a head's size counts. It also ends a connection on which comes
 * a 100 Continue, which receivers may send unasked (RFC 9110, section 15.2.1), but lets any other interim answer pass:
 * so that one is handed over as a 102.
 */
export function meterAnswers(socket: TLSSocket): void {
  const read = socket.read.bind(socket);
  const meter = new AnswerMeter();
  // All that undici's parser gets to see, it gets from here.
  socket.read = (size) => {
    if (meter.exceeded) {
      socket.destroy(new CallFailure("connection", "the answer is too long, too scattered or has too many headers"));
      return null;
    }
    const piece: unknown = read(size);
    return Buffer.isBuffer(piece) ? meter.admit(piece, socket.bytesWritten) : piece;
  };
}

/** Counts what comes back to the request that was last written. */
export class AnswerMeter {
  #written = 0;
  #bytes = 0;
  #pieces = 0;
  #lines = 0;
  #part: "status" | "headers" | "chunks" | "trailers" | "rest" = "status";
  #interim = false;
  #chunked = false;
  /** Of a chunk's data, still to come. */
  #dataBytes = 0;
  /** The beginning of a line that is not complete. */
  #line = "";

  /** Whether the answer has gone beyond what it may have. */
  get exceeded(): boolean {
    return this.#bytes > maxBytes || this.#tooMany;
  }

  /**
   * What of this piece lies within the bounds, so that a head that came before the excess still counts.
   * Requests take turns: when `written` has changed, a new one was sent.
   */
  admit(piece: Buffer, written: number): Buffer {
    if (written !== this.#written) {
      this.#written = written;
      this.#bytes = 0;
      this.#pieces = 0;
      this.#lines = 0;
      this.#part = "status";
      this.#dataBytes = 0;
      this.#line = "";
    }
    this.#bytes += piece.length;
    this.#pieces += 1;
    let at = 0;
    while (at < piece.length && this.#part !== "rest" && !this.#tooMany) {
      if (this.#dataBytes > 0) {
        const taken = Math.min(this.#dataBytes, piece.length - at);
        this.#dataBytes -= taken;
        at += taken;
      } else {
        at = this.#readLine(piece, at);
      }
    }
    return this.#part === "rest" || at === piece.length ? piece : piece.subarray(0, at);
  }

  get #tooMany(): boolean {
    return this.#pieces > maxPieces || this.#lines > maxLines;
  }

  #readLine(piece: Buffer, from: number): number {
    const end = piece.indexOf(lineFeed, from);
    const next = end < 0 ? piece.length : end + 1;
    const before = this.#line.length;
    if (before < tellingChars) {
      this.#line += piece.toString("latin1", from, Math.min(next, from + tellingChars));
      const isHere = before <= lastDigitAt && this.#line.length > lastDigitAt;
      if (isHere && this.#part === "status" && /^HTTP\/1\.\d 100/.test(this.#line)) {
        piece[from + lastDigitAt - before] = digitTwo;
      }
    }
    if (end >= 0) {
      this.#endLine(this.#line.trimEnd());
      this.#line = "";
    }
    return next;
  }

  #endLine(line: string): void {
    if (this.#part === "chunks") {
      if (line === "") return;
      this.#pieces += 1;
      this.#dataBytes = Number.parseInt(line, 16);
      if (!(this.#dataBytes > 0)) this.#part = "trailers";
      return;
    }
    this.#lines += 1;
    if (this.#part === "status") {
      this.#interim = /^HTTP\/1\.\d 1/.test(line);
      this.#chunked = false;
      this.#part = "headers";
    } else if (this.#part === "headers") {
      if (/^transfer-encoding:/i.test(line)) this.#chunked = true;
      if (line === "") this.#part = this.#interim ? "status" : this.#chunked ? "chunks" : "rest";
    }
  }
}
