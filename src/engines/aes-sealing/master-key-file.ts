import { randomBytes } from "node:crypto";
import { closeSync, fsyncSync, linkSync, openSync, readFileSync, rmSync, statSync, writeSync } from "node:fs";
import { join } from "node:path";
import { makeFolder, sync } from "../../kernel/files.ts";

/** The master key and its file, which an operator has to back up. */
export interface MasterKeyFile {
  readonly key: Uint8Array;
  readonly path: string;
  readonly created: boolean;
}

/** The key in `<dataDir>/master.key`, or null. Throws an error that names the file if it holds no key. */
export function loadMasterKey(dataDir: string): Uint8Array | null {
  return read(pathIn(dataDir));
}

/** The same, created durably (base64, mode 0600) if missing; concurrent starts get the same key. */
export function loadOrCreateMasterKey(dataDir: string): MasterKeyFile {
  const path = pathIn(dataDir);
  const found = read(path);
  if (found) return { key: found, path, created: false };
  makeFolder(dataDir);
  const created = create(dataDir, path);
  const key = read(path);
  if (!key) throw new Error(`${path} vanished while it was made`);
  return { key, path, created };
}

/** The file's path if its mode gives others access, else null. The file must exist. */
export function exposedMasterKey(dataDir: string): string | null {
  const path = pathIn(dataDir);
  return (statSync(path).mode & 0o077) === 0 ? null : path;
}

function pathIn(dataDir: string): string {
  return join(dataDir, "master.key");
}

function create(dataDir: string, path: string): boolean {
  const draft = `${path}.${randomBytes(8).toString("hex")}.new`;
  try {
    writeDurably(draft, `${randomBytes(32).toString("base64")}\n`);
    linkSync(draft, path);
    return true;
  } catch (error) {
    if (hasCode(error, "EEXIST")) return false;
    throw error;
  } finally {
    rmSync(draft, { force: true });
    sync(dataDir);
  }
}

function writeDurably(path: string, text: string): void {
  const file = openSync(path, "wx", 0o600);
  try {
    writeSync(file, text);
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
}

function read(path: string): Uint8Array | null {
  let text: string;
  try {
    text = readFileSync(path, "utf8").trim();
  } catch (error) {
    if (hasCode(error, "ENOENT")) return null;
    throw error;
  }
  const key = Buffer.from(text, "base64");
  if (key.length !== 32 || key.toString("base64") !== text) {
    throw new Error(`${path}: must hold the base64 of exactly 32 bytes`);
  }
  return key;
}

function hasCode(error: unknown, code: string): boolean {
  return error instanceof Error && "code" in error && error.code === code;
}
