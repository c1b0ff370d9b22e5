import { closeSync, openSync, writeSync } from "node:fs";
import { join } from "node:path";
import type { Receiver } from "../receiver.ts";
import { RelayProcess, type ProcessOptions } from "../relay-process.ts";
import { compiled } from "../shim.ts";

/** The library with the clock, or why there is none here. */
export const movableClock = compiled(join(import.meta.dirname, "clock.c"));

/** The relay under a wall clock that a test may set forward and back while it runs. */
export class RelayOnClock extends RelayProcess {
  readonly #path = join(this.dataDir, "..", "clock");
  readonly #file: number;
  #offsetMs = 0;

  /** Needs {@link movableClock}. */
  constructor(receiver: Pick<Receiver, "caPem"> | null, options: ProcessOptions = {}) {
    super(receiver, options);
    this.#file = openSync(this.#path, "w+");
    this.setClock(0);
  }

  override get environment(): Readonly<Record<string, string>> {
    if ("missing" in movableClock) throw new Error(movableClock.missing);
    return { ...super.environment, LD_PRELOAD: movableClock.path, CLOCK_OFFSET: this.#path };
  }

  /** The relay's wall clock now, ms since 1970. */
  now(): number {
    return Date.now() + this.#offsetMs;
  }

  /** Sets the relay's wall clock to so many milliseconds ahead of this process's. */
  setClock(offsetMs: number): void {
    const bytes = Buffer.alloc(8);
    bytes.writeBigInt64LE(BigInt(offsetMs));
    writeSync(this.#file, bytes, 0, bytes.length, 0);
    this.#offsetMs = offsetMs;
  }

  override async close(): Promise<void> {
    await super.close();
    closeSync(this.#file);
  }
}
