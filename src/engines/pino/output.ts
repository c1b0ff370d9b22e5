import { constants, fstatSync, openSync, writeSync } from "node:fs";
import { Socket } from "node:net";
import type { DestinationStream } from "pino";

/** A write for each line would cost more than making the line. */
const gatheredChars = 8_192;
const gatheringMs = 200;
/** With this much unwritten, lines are dropped. */
const mostChars = 16 * 1024 * 1024;
/** The pause before a full pipe or socket is tried again. */
const againMs = 10;
/** How long the process's end waits for unwritten lines. */
const lastPatienceMs = 1_000;

const nothing = Buffer.alloc(0);

/** Writes lines in batches. Drops them if the disk is full or the reader gone: the process neither waits nor ends. */
export class Output implements DestinationStream {
  readonly #descriptor: number;
  #gathered = "";
  #rest: Buffer = nothing;
  #waiting = false;

  constructor(descriptor: number) {
    this.#descriptor = neverWaiting(descriptor);
    setInterval(() => this.#write(), gatheringMs).unref();
    process.once("exit", () => this.#writeLast());
  }

  write(line: string): void {
    if (this.#gathered.length > mostChars) return;
    this.#gathered += line;
    if (this.#gathered.length >= gatheredChars && this.#rest.length === 0) this.#write();
  }

  #write(): void {
    while (this.#unwritten) {
      if (this.#rest.length === 0) {
        this.#rest = Buffer.from(this.#gathered);
        this.#gathered = "";
      }
      try {
        this.#rest = this.#rest.subarray(writeSync(this.#descriptor, this.#rest));
      } catch (error) {
        if (isFull(error)) return this.#writeAgain();
        this.#rest = nothing;
      }
    }
  }

  #writeAgain(): void {
    if (this.#waiting) return;
    this.#waiting = true;
    setTimeout(() => {
      this.#waiting = false;
      this.#write();
    }, againMs).unref();
  }

  #writeLast(): void {
    const end = performance.now() + lastPatienceMs;
    for (this.#write(); this.#unwritten && performance.now() < end; this.#write()) {
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, againMs);
    }
  }

  get #unwritten(): boolean {
    return this.#rest.length > 0 || this.#gathered !== "";
  }
}

/** A pipe is opened again (on Linux), and a socket gets Node's stream: writes then do not wait for a reader. */
function neverWaiting(descriptor: number): number {
  try {
    const kind = fstatSync(descriptor);
    if (kind.isSocket()) new Socket({ fd: descriptor, readable: false });
    if (!kind.isFIFO()) return descriptor;
    return openSync(`/proc/self/fd/${descriptor}`, constants.O_WRONLY | constants.O_NONBLOCK);
  } catch {
    return descriptor;
  }
}

function isFull(error: unknown): boolean {
  return error instanceof Error && "code" in error && error.code === "EAGAIN";
}
