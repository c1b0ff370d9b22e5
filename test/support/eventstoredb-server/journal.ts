import { closeSync, ftruncateSync, openSync, readFileSync, writeSync } from "node:fs";
import { deserialize, serialize } from "node:v8";
import type { Change } from "./events.ts";

const lengthBytes = 4;

/**
 * Changes in a file, each written before it is answered: acknowledged changes outlive the process, however it ends.
 * They do not outlive the machine, since nothing is synced.
 */
export class Journal {
  readonly #file: number;

  /** Opens the file, or makes it, and gives `apply` every change in it; a last, incomplete change is dropped. */
  constructor(path: string, apply: (change: Change) => void) {
    this.#file = openSync(path, "a+");
    const bytes = readFileSync(this.#file);
    let whole = 0;
    while (whole + lengthBytes <= bytes.length) {
      const end = whole + lengthBytes + bytes.readUInt32LE(whole);
      if (end > bytes.length) break;
      apply(deserialize(bytes.subarray(whole + lengthBytes, end)) as Change);
      whole = end;
    }
    ftruncateSync(this.#file, whole);
  }

  write(change: Change): void {
    const bytes = serialize(change);
    const frame = Buffer.allocUnsafe(lengthBytes + bytes.length);
    frame.writeUInt32LE(bytes.length);
    frame.set(bytes, lengthBytes);
    for (let written = 0; written < frame.length;) written += writeSync(this.#file, frame, written);
  }

  close(): void {
    closeSync(this.#file);
  }
}
