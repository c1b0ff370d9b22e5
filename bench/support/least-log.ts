import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Worker } from "node:worker_threads";

/** A fact about an event: the fields that lists show (`data`), and other data (`metadata`). */
export interface LeastFact {
  readonly id: string;
  readonly type: string;
  readonly data: { readonly eventId: string; readonly destinationId: string; readonly at: string };
  readonly metadata: object;
}

/** The task of a thread: to keep the facts, or a row for each event, in a folder. */
export interface LeastThread {
  readonly folder: string;
  readonly keeps: "log" | "list";
}

/** Facts to be written in one transaction. */
export interface LeastMessage {
  readonly batch: number;
  readonly texts: readonly string[];
}

/**
 * Keeps facts and lists events with the least that it takes on the relay's own parts (threads, SQLite, JSON): the facts
 * of a turn of the event loop in one synced transaction, and in a second thread a row for each event with two indexes.
 * No revisions, no reading back, no checkpoint, no counters. The baseline of the relay's log and read models.
 */
export class LeastLog {
  readonly #log: Batches;
  readonly #list: Batches;

  constructor() {
    const folder = mkdtempSync(join(tmpdir(), "relay-bench-least-"));
    process.once("exit", () => rmSync(folder, { recursive: true }));
    this.#log = new Batches({ folder, keeps: "log" });
    this.#list = new Batches({ folder, keeps: "list" });
  }

  /** Resolves once the fact is on the disk. */
  append(fact: LeastFact): Promise<void> {
    const text = JSON.stringify(fact);
    void this.#list.write(text);
    return this.#log.write(text);
  }

  /** Resolves once every event appended before is listed. */
  listed(): Promise<void> {
    return this.#list.idle();
  }
}

/** At most so many messages are under way: later facts gather meanwhile, as in the relay. */
const batchesInFlight = 2;

/** Gathers the texts of a turn into one message to a thread. */
class Batches {
  readonly #thread: Worker;
  readonly #inFlight = new Map<number, (() => void)[]>();
  #texts: string[] = [];
  #written: (() => void)[] = [];
  #lastBatch = 0;
  #onIdle: (() => void) | undefined;

  constructor(thread: LeastThread) {
    const script = new URL("../processes/least-log-thread.ts", import.meta.url);
    this.#thread = new Worker(script, { name: thread.keeps, workerData: thread });
    this.#thread.unref();
    this.#thread.on("message", (batch: number) => this.#settle(batch));
  }

  write(text: string): Promise<void> {
    if (this.#texts.length === 0 && this.#inFlight.size < batchesInFlight) setImmediate(() => this.#send());
    this.#texts.push(text);
    return new Promise((resolve) => this.#written.push(resolve));
  }

  async idle(): Promise<void> {
    if (this.#texts.length === 0 && this.#inFlight.size === 0) return;
    await new Promise<void>((resolve) => (this.#onIdle = resolve));
  }

  #send(): void {
    // A batch that returned in this turn has sent it already.
    if (this.#texts.length === 0) return;
    this.#inFlight.set(++this.#lastBatch, this.#written);
    this.#thread.postMessage({ batch: this.#lastBatch, texts: this.#texts } satisfies LeastMessage);
    this.#texts = [];
    this.#written = [];
  }

  #settle(batch: number): void {
    const written = this.#inFlight.get(batch) ?? [];
    this.#inFlight.delete(batch);
    for (const resolve of written) resolve();
    if (this.#texts.length > 0) this.#send();
    else if (this.#inFlight.size === 0) this.#onIdle?.();
  }
}
