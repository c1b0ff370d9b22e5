import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { RecordedAnswer, Callers, Content, Post } from "./answers.ts";

/** The master key of all sealed values in the records. */
export const masterKey = Buffer.alloc(32, 2).toString("base64");

/** The answers of a release about the log, or the data folder, beside the record. */
export interface ReleaseRecord {
  /** The time of the answers, ISO 8601 UTC: many of them depend on it. */
  readonly answeredAt: string;
  readonly callers: Callers;
  /** To GET requests, sent before the posts. */
  readonly answers: readonly RecordedAnswer[];
  /** Repeated posts and their answers: 200 with the event, unless they are refused now. */
  readonly posts: readonly (Post & { readonly answer: Content })[];
}

const files = { world: "world.json", answers: "answers.jsonl" } as const;

/** Writes a record into a folder, which may not exist yet: the answers a line each. */
export function writeRecord(folder: string, { answers, ...world }: ReleaseRecord): void {
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, files.world), `${JSON.stringify(world, null, 2)}\n`);
  writeFileSync(join(folder, files.answers), answers.map((answer) => `${JSON.stringify(answer)}\n`).join(""));
}

/** Reads a record written by {@link writeRecord}. */
export function readRecord(folder: string): ReleaseRecord {
  const world = JSON.parse(readFileSync(join(folder, files.world), "utf8")) as Omit<ReleaseRecord, "answers">;
  const lines = readFileSync(join(folder, files.answers), "utf8").split("\n").slice(0, -1);
  return { ...world, answers: lines.map((line) => JSON.parse(line) as RecordedAnswer) };
}
