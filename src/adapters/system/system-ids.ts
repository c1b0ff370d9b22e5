import { randomBytes, randomFillSync } from "node:crypto";
import type { Ids } from "../../ports/ids.ts";

/** Random bytes are drawn for this many ids at a time: a draw costs more than the bytes. */
const idsPerDraw = 512;
const bytesPerId = 10;

/** Chance from the operating system, and UUIDv7 that go up within the process even when the clock goes back. */
export class SystemIds implements Ids {
  readonly #pool = Buffer.alloc(idsPerDraw * bytesPerId);
  #used = idsPerDraw * bytesPerId;
  #lastMs = 0;
  /** The 12 bits behind the time: random at a new millisecond, counted up within one. */
  #counter = 0;

  uuid(): string {
    if (this.#used === this.#pool.length) {
      randomFillSync(this.#pool);
      this.#used = 0;
    }
    const from = this.#used;
    this.#used += bytesPerId;
    this.#advance(this.#pool.readUInt16BE(from));
    const time = this.#lastMs.toString(16).padStart(12, "0");
    const counter = this.#counter.toString(16).padStart(3, "0");
    const variant = (0x80 | (this.#pool.readUInt8(from + 2) & 0x3f)).toString(16);
    const tail = this.#pool.toString("hex", from + 3, from + bytesPerId);
    return `${time.slice(0, 8)}-${time.slice(8)}-7${counter}-${variant}${tail.slice(0, 2)}-${tail.slice(2)}`;
  }

  secretBytes(length: number): Uint8Array {
    return randomBytes(length);
  }

  random(): number {
    return Math.random();
  }

  #advance(chance: number): void {
    const now = Date.now();
    if (now > this.#lastMs) {
      this.#lastMs = now;
      // The top bit stays clear, so that there is room to count.
      this.#counter = chance & 0x7ff;
    } else if (this.#counter < 0xfff) {
      this.#counter += 1;
    } else {
      this.#lastMs += 1;
      this.#counter = chance & 0x7ff;
    }
  }
}
