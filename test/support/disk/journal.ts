import { readFileSync } from "node:fs";

/** A change of a process's files, as disk.c notes it; paths are below the folder, whose own path is "". */
export type Step =
  | { readonly kind: "opened" | "created" | "folderMade"; readonly file: bigint; readonly path: string }
  | { readonly kind: "written"; readonly file: bigint; readonly at: number; readonly data: Buffer }
  | { readonly kind: "truncated"; readonly file: bigint; readonly size: number }
  | { readonly kind: "syncBegun" | "syncEnded" | "syncFailed"; readonly file: bigint; readonly id: number }
  | { readonly kind: "renamed" | "linked"; readonly path: string; readonly to: string }
  | { readonly kind: "unlinked"; readonly path: string };

/** In the order of the C source's `enum kind`, from 1. */
export const kinds = [
  "opened", "created", "written", "truncated", "syncBegun", "syncEnded", "renamed", "linked", "unlinked", "folderMade",
  "syncFailed",
] as const;
const headBytes = 32;

/** Reads a journal. A step that was being noted when the process was killed is left out. */
export function* readJournal(path: string): Iterable<Step> {
  const bytes = readFileSync(path);
  for (let at = 0; at + headBytes <= bytes.length;) {
    const kind = kinds[bytes.readUInt32LE(at) - 1];
    const names = bytes.readUInt32LE(at + 4);
    const file = bytes.readBigUInt64LE(at + 8);
    const number = Number(bytes.readBigUInt64LE(at + 16));
    const length = Number(bytes.readBigUInt64LE(at + 24));
    if (!kind) throw new Error(`${path}: no record at ${at}`);
    at += headBytes;
    if (at + names + length > bytes.length) return;
    const [first = "", to = ""] = bytes.toString("utf8", at, at + names).split("\0");
    at += names;
    switch (kind) {
      case "written":
        yield { kind, file, at: number, data: bytes.subarray(at, at + length) };
        break;
      case "truncated":
        yield { kind, file, size: number };
        break;
      case "syncBegun":
      case "syncEnded":
      case "syncFailed":
        yield { kind, file, id: number };
        break;
      case "renamed":
      case "linked":
        yield { kind, path: first, to };
        break;
      case "unlinked":
        yield { kind, path: first };
        break;
      default:
        yield { kind, file, path: first };
    }
    at += length;
  }
}
