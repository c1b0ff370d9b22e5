import { closeSync, openSync, readSync, rmSync, writeSync } from "node:fs";
import { join } from "node:path";
import { compiled } from "../shim.ts";
import { kinds, readJournal, type Step } from "./journal.ts";
import { Platter, type Loss } from "./platter.ts";

/** How a disk fails: with which error, and which share of the writes and of the syncs. */
export interface Anomaly {
  readonly error: "ENOSPC" | "EIO";
  readonly writes: number;
  readonly syncs: number;
}

const errnos = { ENOSPC: 28, EIO: 5 } as const;
const share = 65_536;
/** `struct control` of disk.c. */
const controlBytes = 92;
const nameBytes = 64;

/** The library with the disk, or why there is none here. */
export const library = compiled(join(import.meta.dirname, "disk.c"));

/** A folder on a disk of its own that can lose power, be full and fail, for processes with its environment. */
export class Disk {
  readonly #folder: string;
  readonly #journal: string;
  readonly #controlPath: string;
  readonly #control: number;
  #platter: Platter | undefined;

  /** Needs {@link library}. The disk's own files are beside the folder. */
  constructor(folder: string) {
    this.#folder = folder;
    this.#journal = join(folder, "..", "journal");
    this.#controlPath = join(folder, "..", "control");
    this.#control = openSync(this.#controlPath, "w+");
    writeSync(this.#control, Buffer.alloc(controlBytes));
  }

  get environment(): Readonly<Record<string, string>> {
    if ("missing" in library) throw new Error(library.missing);
    return {
      LD_PRELOAD: library.path, DISK_FOLDER: this.#folder, DISK_JOURNAL: this.#journal, DISK_CONTROL: this.#controlPath,
    };
  }

  /** Call before a process is started: the contents of the disk at that time are safe. */
  begin(): void {
    rmSync(this.#journal, { force: true });
    this.#platter = new Platter(this.#folder);
  }

  /** From now on syncs do nothing, and report success. */
  dropSyncs(): void {
    this.#set(12, 1);
  }

  /** From now on the disk fails like this; null: it works. */
  anomaly(trouble: Anomaly | null): void {
    this.#set(4, Math.round((trouble?.writes ?? 0) * share));
    this.#set(8, Math.round((trouble?.syncs ?? 0) * share));
    if (trouble) this.#set(0, errnos[trouble.error]);
  }

  /** The process dies at the `count`-th such step on the file from now on; `file` begins with a slash. */
  dieAt(kind: Step["kind"], file: string, count: number): void {
    const name = Buffer.alloc(nameBytes);
    name.write(file);
    this.#set(20, 0);
    writeSync(this.#control, name, 0, nameBytes, 28);
    this.#set(24, kinds.indexOf(kind) + 1);
    this.#set(20, count);
  }

  /** How many steps of {@link dieAt} are still to come; 0 once the process died at the last of them. */
  get stepsToDeath(): number {
    return this.#get(20);
  }

  /** How many calls have failed. */
  get failures(): number {
    return this.#get(16);
  }

  /** The power fails after the process has ended: only the contents that the disk holds remain of its files. */
  losePower(loss: Loss): void {
    const platter = this.#platter;
    if (!platter) throw new Error("nothing ran on this disk");
    for (const step of readJournal(this.#journal)) platter.apply(step);
    platter.lose(this.#folder, loss);
  }

  close(): void {
    closeSync(this.#control);
  }

  #get(at: number): number {
    const field = Buffer.alloc(4);
    readSync(this.#control, field, 0, 4, at);
    return field.readUInt32LE();
  }

  #set(at: number, value: number): void {
    const field = Buffer.alloc(4);
    field.writeUInt32LE(value);
    writeSync(this.#control, field, 0, 4, at);
  }
}
