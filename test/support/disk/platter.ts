import { existsSync, mkdirSync, readFileSync, readdirSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Step } from "./journal.ts";

/** A disk writes so many bytes as a whole or not at all. */
const sectorBytes = 512;

/** The fate of changes that were not synced when the power fails. */
export interface Loss {
  /** Whether a change, or a sector of one, made it to the disk. */
  readonly survives: () => boolean;
  /** Sectors of one write have fates of their own. */
  readonly torn: boolean;
}

/** A change that is not safe yet. */
interface Pending<Change> {
  readonly number: number;
  readonly change: Change;
}

type Edit = { readonly at: number; readonly data: Buffer } | { readonly size: number };
type Naming = readonly { readonly name: string; readonly node: FileNode | FolderNode | null }[];

/** A file or a folder with its safe contents and its pending changes. */
abstract class Node<Change> {
  pending: Pending<Change>[] = [];

  /** Makes a change safe. */
  abstract settle(change: Change): void;

  settleBefore(number: number): void {
    for (const one of this.pending) if (one.number < number) this.settle(one.change);
    this.pending = this.pending.filter((one) => one.number >= number);
  }
}

class FileNode extends Node<Edit> {
  /** The bytes, and zeros to grow into: files grow by a sector at a time. */
  #room: Buffer;
  #size: number;

  constructor(bytes: Buffer) {
    super();
    this.#room = bytes;
    this.#size = bytes.length;
  }

  get bytes(): Buffer {
    return this.#room.subarray(0, this.#size);
  }

  override settle(edit: Edit): void {
    if ("size" in edit) {
      this.#resize(edit.size);
      return;
    }
    const { at, data } = edit;
    if (at + data.length > this.#size) this.#resize(at + data.length);
    data.copy(this.#room, at);
  }

  #resize(size: number): void {
    if (size > this.#room.length) {
      const room = Buffer.alloc(2 * size);
      this.bytes.copy(room);
      this.#room = room;
    }
    this.#room.fill(0, size, this.#size);
    this.#size = size;
  }
}

class FolderNode extends Node<Naming> {
  /** The names as the process sees them. */
  readonly seen = new Map<string, FileNode | FolderNode>();
  /** The names that are safe. */
  readonly safe = new Map<string, FileNode | FolderNode>();

  override settle(naming: Naming): void {
    name(this.safe, naming);
  }
}

/**
 * The folder of a process as its disk has it: the safe contents, and the changes that only the operating system knows.
 * A change of bytes or names is safe once a sync has ended that began after it; a sync of a file does not cover its
 * name. Changes that a failed sync of a file was to write are lost, though the process goes on seeing them.
 */
export class Platter {
  readonly #root = new FolderNode();
  readonly #nodes = new Map<bigint, FileNode | FolderNode>();
  readonly #syncs = new Map<number, { readonly node: FileNode | FolderNode; readonly number: number }>();
  #number = 0;

  /** Takes the present contents of the folder, if it exists, for safe. */
  constructor(folder: string) {
    if (existsSync(folder)) this.#take(folder, this.#root);
  }

  apply(step: Step): void {
    this.#number += 1;
    switch (step.kind) {
      case "opened":
        return;
      case "created":
        return this.#make(step.path, step.file, new FileNode(Buffer.alloc(0)));
      case "folderMade":
        return this.#make(step.path, step.file, new FolderNode());
      case "written":
        return this.#edit(step.file, { at: step.at, data: step.data });
      case "truncated":
        return this.#edit(step.file, { size: step.size });
      case "syncBegun":
        this.#syncs.set(step.id, { node: this.#node(step.file), number: this.#number });
        return;
      case "syncEnded":
        return this.#sync(step.id);
      case "syncFailed":
        return this.#forget(step.id);
      case "renamed":
      case "linked": {
        const node = this.#find(step.path);
        const named = { name: baseOf(step.to), node };
        if (folderOf(step.path) !== folderOf(step.to)) throw new Error(`${step.kind} across folders: ${step.path}`);
        const gone = { name: baseOf(step.path), node: null };
        return this.#rename(step.to, step.kind === "linked" ? [named] : [gone, named]);
      }
      case "unlinked":
        return this.#rename(step.path, [{ name: baseOf(step.path), node: null }]);
    }
  }

  /** The power fails: gives the folder the contents that the disk then holds. */
  lose(folder: string, loss: Loss): void {
    rmSync(folder, { recursive: true, force: true });
    this.#write(folder, this.#root, loss);
  }

  #take(folder: string, node: FolderNode): void {
    this.#nodes.set(BigInt(statSync(folder).ino), node);
    for (const entry of readdirSync(folder, { withFileTypes: true })) {
      const path = join(folder, entry.name);
      // A socket has no bytes, and does not outlast a loss of power.
      if (entry.isSocket()) continue;
      const child = entry.isDirectory() ? new FolderNode() : new FileNode(readFileSync(path));
      node.seen.set(entry.name, child);
      node.safe.set(entry.name, child);
      if (child instanceof FolderNode) this.#take(path, child);
      else this.#nodes.set(BigInt(statSync(path).ino), child);
    }
  }

  #make(path: string, file: bigint, node: FileNode | FolderNode): void {
    if (path === "") return void this.#nodes.set(file, this.#root);
    this.#nodes.set(file, node);
    this.#rename(path, [{ name: baseOf(path), node }]);
  }

  #rename(path: string, naming: Naming): void {
    const folder = this.#find(folderOf(path));
    if (!(folder instanceof FolderNode)) throw new Error(`${path}: its folder is none`);
    name(folder.seen, naming);
    folder.pending.push({ number: this.#number, change: naming });
  }

  #edit(file: bigint, change: Edit): void {
    const node = this.#node(file);
    if (node instanceof FileNode) node.pending.push({ number: this.#number, change });
  }

  #sync(id: number): void {
    const { node, number } = this.#ended(id);
    node.settleBefore(number);
  }

  /** As in Linux, no later sync writes data that a failed one could not, unless it is written to the file again. */
  #forget(id: number): void {
    const { node, number } = this.#ended(id);
    if (node instanceof FileNode) node.pending = node.pending.filter((one) => one.number >= number);
  }

  #ended(id: number): { readonly node: FileNode | FolderNode; readonly number: number } {
    const sync = this.#syncs.get(id);
    if (!sync) throw new Error(`sync ${id} ended and never began`);
    this.#syncs.delete(id);
    return sync;
  }

  #node(file: bigint): FileNode | FolderNode {
    const node = this.#nodes.get(file);
    if (!node) throw new Error(`no file ${file}`);
    return node;
  }

  #find(path: string): FileNode | FolderNode {
    let node: FileNode | FolderNode | undefined = this.#root;
    for (const part of path.split("/").filter((name) => name !== "")) {
      node = node instanceof FolderNode ? node.seen.get(part) : undefined;
    }
    if (!node) throw new Error(`no ${path}`);
    return node;
  }

  #write(path: string, folder: FolderNode, { survives, torn }: Loss): void {
    mkdirSync(path, { recursive: true, mode: 0o700 });
    for (const { change } of folder.pending) if (survives()) folder.settle(change);
    for (const [name, node] of folder.safe) {
      const to = join(path, name);
      if (node instanceof FolderNode) this.#write(to, node, { survives, torn });
      else writeFileSync(to, survivors(node, { survives, torn }), { mode: 0o600 });
    }
  }
}

/** The bytes of a file that survive. */
function survivors(file: FileNode, { survives, torn }: Loss): Buffer {
  for (const { change } of file.pending) {
    if (!torn || "size" in change) {
      if (survives()) file.settle(change);
      continue;
    }
    for (let from = 0; from < change.data.length;) {
      const to = Math.min(change.data.length, from + sectorBytes - ((change.at + from) % sectorBytes));
      if (survives()) file.settle({ at: change.at + from, data: change.data.subarray(from, to) });
      from = to;
    }
  }
  return file.bytes;
}

function name(names: Map<string, FileNode | FolderNode>, naming: Naming): void {
  for (const { name, node } of naming) {
    if (node) names.set(name, node);
    else names.delete(name);
  }
}

function folderOf(path: string): string {
  return path.slice(0, path.lastIndexOf("/"));
}

function baseOf(path: string): string {
  return path.slice(path.lastIndexOf("/") + 1);
}
