import { closeSync, openSync, readSync, rmSync, writeSync } from "node:fs";
import { join } from "node:path";
import { RelayProcess, type ProcessOptions } from "../relay-process.ts";
import type { Receiver } from "../receiver.ts";
import { compiled } from "../shim.ts";
import { kinds, readJournal, type Step } from "./journal.ts";
import { Platter, type Loss } from "./platter.ts";

/** How a disk fails: with which error, and which share of the writes and of the syncs. */
export interface Trouble {
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
export const disk = compiled(join(import.meta.dirname, "disk.c"));

/** The relay on a disk of its own that can lose power, be full and fail. */
export class RelayOnDisk extends RelayProcess {
  readonly #journal = join(this.dataDir, "..", "journal");
  readonly #controlPath = join(this.dataDir, "..", "control");
  readonly #control: number;
  #platter: Platter | undefined;

  /** Needs {@link disk}. */
  constructor(receiver: Pick<Receiver, "caPem"> | null, options: ProcessOptions = {}) {
    super(receiver, options);
    this.#control = openSync(this.#controlPath, "w+");
    writeSync(this.#control, Buffer.alloc(controlBytes));
  }

  override get environment(): Readonly<Record<string, string>> {
    if ("missing" in disk) throw new Error(disk.missing);
    return {
      ...super.environment,
      LD_PRELOAD: disk.path, DISK_FOLDER: this.dataDir, DISK_JOURNAL: this.#journal, DISK_CONTROL: this.#controlPath,
    };
  }

  /** What stands on the disk when a process starts is safe. */
  override launch(): void {
    rmSync(this.#journal, { force: true });
    this.#platter = new Platter(this.dataDir);
    super.launch();
  }

  /** From now on syncs do nothing, and say that they did. */
  dropSyncs(): void {
    this.#set(12, 1);
  }

  /** From now on the disk fails like this; null: it is well. */
  trouble(trouble: Trouble | null): void {
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

  /** How many calls have failed. */
  get failures(): number {
    const field = Buffer.alloc(4);
    readSync(this.#control, field, 0, 4, 16);
    return field.readUInt32LE();
  }

  /** The process dies, and the power goes with it: of its files there is what the disk holds then. */
  async losePower(loss: Loss): Promise<void> {
    await this.kill9();
    const platter = this.#platter;
    if (!platter) throw new Error("nothing runs on this disk");
    for (const step of readJournal(this.#journal)) platter.apply(step);
    platter.lose(this.dataDir, loss);
  }

  override async close(): Promise<void> {
    await super.close();
    closeSync(this.#control);
  }

  #set(at: number, value: number): void {
    const field = Buffer.alloc(4);
    field.writeUInt32LE(value);
    writeSync(this.#control, field, 0, 4, at);
  }
}
