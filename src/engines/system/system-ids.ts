import { randomBytes, randomFillSync } from "node:crypto";
import { variantDigits } from "../../kernel/domain/uuid.ts";
import type { Ids } from "../../kernel/ports/ids.ts";

/** Ids or salts per draw of random bytes: the draw costs more than the bytes. */
const drawn = 512;
const bytesPerId = 10;
const bytesPerSalt = 16;

/** Randomness from the operating system, and UUIDv7s that increase within the process even if the clock goes back. */
export class SystemIds implements Ids {
  readonly #bytes = Buffer.alloc(drawn * bytesPerId);
  /** `#bytes` in hexadecimal. */
  #pool = "";
  #used = 0;
  readonly #salts = Buffer.alloc(drawn * bytesPerSalt);
  #saltBytesUsed = drawn * bytesPerSalt;
  #lastMs = 0;
  /** `#lastMs` as the first two groups of an id. */
  #time = "";
  /** 12 bits after the time: random at a new millisecond, then counted up. */
  #counter = 0;

  uuid(): string {
    if (this.#used === this.#pool.length) {
      this.#pool = randomFillSync(this.#bytes).toString("hex");
      this.#used = 0;
    }
    const from = this.#used;
    this.#used += 2 * bytesPerId;
    const pool = this.#pool;
    const chance = parseInt(pool.slice(from, from + 5), 16);
    this.#advance(chance >> 4);
    const counter = this.#counter.toString(16).padStart(3, "0");
    const variant = variantDigits[chance & 3]!;
    return `${this.#time}-7${counter}-${variant}${pool.slice(from + 5, from + 8)}-${pool.slice(from + 8, from + 20)}`;
  }

  salt(): string {
    if (this.#saltBytesUsed === this.#salts.length) {
      randomFillSync(this.#salts);
      this.#saltBytesUsed = 0;
    }
    const from = this.#saltBytesUsed;
    this.#saltBytesUsed += bytesPerSalt;
    return this.#salts.toString("base64url", from, this.#saltBytesUsed);
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
      // The top bit stays clear for counting.
      this.#begin(now, chance & 0x7ff);
    } else if (this.#counter < 0xfff) {
      this.#counter += 1;
    } else {
      this.#begin(this.#lastMs + 1, chance & 0x7ff);
    }
  }

  #begin(ms: number, counter: number): void {
    this.#lastMs = ms;
    this.#counter = counter;
    const time = ms.toString(16).padStart(12, "0");
    this.#time = `${time.slice(0, 8)}-${time.slice(8)}`;
  }
}
