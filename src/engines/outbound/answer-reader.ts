import type { TLSSocket } from "node:tls";
import { readHead } from "./answer-head.ts";
import { CallFailure } from "./failures.ts";

/** All bytes of an answer, discarded ones included. */
const maxBytes = 262_144;
/** A head is buffered until it is complete. */
const maxHeadBytes = 65_536;
/** Reads, interim answers and chunks together: each costs about as much CPU as an ordinary answer. */
const maxPieces = 2_048;
/** The start of a line between chunks; the rest is dropped. */
const tellingChars = 32;
/** The end of a head, from the end of its last line on. */
const emptyLine = /\n\r{0,3}\n/g;
const longestEmptyLine = 4;
const headTooLarge = "the answer's headers are larger than 64 KiB";
const lineFeed = 10;
const carriageReturn = 13;

/** Puts an {@link AnswerReader} before undici's parser; ends a connection whose answer is unreadable or too large. */
export function readAnswers(socket: TLSSocket): void {
  const read = socket.read.bind(socket);
  const reader = new AnswerReader();
  let last: Buffer | null = null;
  // Runs before undici's listener.
  socket.once("end", () => {
    last = reader.end();
    if (last !== null) socket.emit("readable");
  });
  socket.read = (size) => {
    if (last !== null) {
      const head = last;
      last = null;
      return head;
    }
    for (;;) {
      if (reader.fault !== null) {
        socket.destroy(new CallFailure("connection", reader.fault));
        return null;
      }
      const piece: unknown = read(size);
      if (!Buffer.isBuffer(piece)) return piece;
      const admitted = reader.admit(piece, socket.bytesWritten);
      if (admitted.length > 0) return admitted;
    }
  };
}

/**
 * Rewrites parts of an answer that undici's parser would refuse, and bounds all of it: undici does not bound interim
 * answers, status texts and chunk extensions, and its parser takes a hundred times the memory of a short header.
 */
export class AnswerReader {
  #fault: string | null = null;
  #written = 0;
  #bytes = 0;
  #pieces = 0;
  #part: "head" | "size" | "data" | "data end" | "trailers" | "rest" = "head";
  /** Missing bytes of a chunk's data. */
  #dataBytes = 0;
  /** The start of an incomplete head or line. */
  #held = "";
  /** The end of an incomplete head, perhaps the start of the empty line. */
  #tail = "";
  #handed: Buffer[] = [];
  /** From here on the piece is passed on unchanged. */
  #from = 0;

  get fault(): string | null {
    return this.#fault;
  }

  /** The bytes for undici's parser; a head before a fault still counts. A changed `written` means a new request. */
  admit(piece: Buffer, written: number): Buffer {
    if (written !== this.#written) this.#begin(written);
    this.#bytes += piece.length;
    this.#pieces += 1;
    this.#from = 0;
    let at = 0;
    while (at < piece.length && this.#part !== "rest" && this.#fault === null) {
      at = this.#read(piece, at);
      this.#checkBounds();
    }
    this.#checkBounds();
    return this.#handOver(piece, this.#part === "rest" ? piece.length : at);
  }

  /** Ends an answer: the bytes for a head without an end, whose status counts; null without a status line. */
  end(): Buffer | null {
    if (this.#part !== "head" || !this.#held.trimStart().includes("\n")) return null;
    const head = this.#endHead(`${this.#held}\n\n`);
    return head === "" ? null : Buffer.from(head, "latin1");
  }

  #begin(written: number): void {
    this.#written = written;
    this.#bytes = 0;
    this.#pieces = 0;
    this.#part = "head";
    this.#dataBytes = 0;
    this.#held = "";
    this.#tail = "";
  }

  #checkBounds(): void {
    if (this.#bytes > maxBytes) this.#fault ??= "the answer is larger than 256 KiB";
    if (this.#pieces > maxPieces) this.#fault ??= "the answer comes in too many pieces";
  }

  #handOver(piece: Buffer, to: number): Buffer {
    const last = this.#from === 0 && to === piece.length ? piece : piece.subarray(this.#from, to);
    if (this.#handed.length === 0) return last;
    const all = Buffer.concat([...this.#handed, last]);
    this.#handed = [];
    return all;
  }

  /** Passes on a text in place of the bytes from `start` to `end`. */
  #replace(piece: Buffer, start: number, end: number, text: string): void {
    this.#handed.push(piece.subarray(this.#from, start), Buffer.from(text, "latin1"));
    this.#from = end;
  }

  #read(piece: Buffer, at: number): number {
    if (this.#part === "head") return this.#readHead(piece, at);
    if (this.#part !== "data") return this.#readLine(piece, at);
    const taken = Math.min(this.#dataBytes, piece.length - at);
    this.#dataBytes -= taken;
    if (this.#dataBytes === 0) this.#part = "data end";
    return at + taken;
  }

  #readHead(piece: Buffer, at: number): number {
    const text = piece.toString("latin1", at);
    const seen = this.#tail + text;
    emptyLine.lastIndex = 0;
    if (!emptyLine.test(seen)) {
      this.#held += text;
      this.#tail = seen.slice(-longestEmptyLine);
      if (this.#held.length > maxHeadBytes) this.#fault = headTooLarge;
      this.#replace(piece, at, piece.length, "");
      return piece.length;
    }
    const length = emptyLine.lastIndex - this.#tail.length;
    const isWhole = this.#held === "";
    const given = this.#held + text.slice(0, length);
    this.#held = "";
    this.#tail = "";
    const head = this.#endHead(given);
    if (!isWhole || head !== given) this.#replace(piece, at, at + length, head);
    return at + length;
  }

  #endHead(given: string): string {
    if (given.length > maxHeadBytes) {
      this.#fault = headTooLarge;
      return "";
    }
    // Some receivers send a surplus line after a body.
    const trimmed = given.trimStart();
    if (trimmed === "") return "";
    const head = readHead(trimmed);
    if ("fault" in head) {
      this.#fault = head.fault;
      return "";
    }
    this.#pieces += 1;
    if (!head.interim) this.#part = head.chunked ? "size" : "rest";
    return head.text;
  }

  #readLine(piece: Buffer, at: number): number {
    const feed = piece.indexOf(lineFeed, at);
    const end = feed < 0 ? piece.length : feed + 1;
    const before = this.#held.length;
    const text = this.#held + piece.toString("latin1", at, Math.min(end, at + tellingChars));
    if (feed < 0) {
      this.#held = text.slice(0, tellingChars);
      this.#replace(piece, at, end, "");
      return end;
    }
    this.#held = "";
    const line = this.#endLine(text.trim());
    const tidy = before === 0 && end - at === line.length && piece[feed - 1] === carriageReturn;
    if (!tidy) this.#replace(piece, at, end, line);
    return end;
  }

  #endLine(line: string): string {
    if (this.#part === "trailers") {
      if (line !== "") return "";
      this.#part = "rest";
      return "\r\n";
    }
    if (this.#part === "data end") {
      this.#part = "size";
      return "\r\n";
    }
    this.#pieces += 1;
    const [, size] = /^([\da-f]+)[ \t]*(?:;|$)/i.exec(line) ?? [];
    if (size === undefined) {
      this.#fault = "the answer's body has a chunk without a size";
      return "";
    }
    this.#dataBytes = Number.parseInt(size, 16);
    this.#part = this.#dataBytes > 0 ? "data" : "trailers";
    return `${size}\r\n`;
  }
}
