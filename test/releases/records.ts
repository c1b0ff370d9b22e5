import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Answer, Callers, Content, Post } from "./answers.ts";

/** What everything in the records is sealed under. */
export const masterKey = Buffer.alloc(32, 2).toString("base64");

/** What a release answered about the log, or the data folder, that lies beside it. */
export interface ReleaseRecord {
  /** When it answered, ISO 8601 UTC: much depends on the time. */
  readonly answeredAt: string;
  readonly callers: Callers;
  /** To questions, asked before the posts. */
  readonly answers: readonly Answer[];
  /** Posts that were sent again, and what they were answered: 200 with the event, except where they are refused now. */
  readonly posts: readonly (Post & { readonly answer: Content })[];
}

const files = { world: "world.json", answers: "answers.jsonl" } as const;

/** Writes a record into a folder, which may not exist yet: the answers a line each. */
export function writeRecord(folder: string, { answers, ...world }: ReleaseRecord): void {
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, files.world), `${JSON.stringify(world, null, 2)}\n`);
  writeFileSync(join(folder, files.answers), answers.map((answer) => `${JSON.stringify(answer)}\n`).join(""));
}

/** Reads what {@link writeRecord} wrote. */
export function readRecord(folder: string): ReleaseRecord {
  const world = JSON.parse(readFileSync(join(folder, files.world), "utf8")) as Omit<ReleaseRecord, "answers">;
  const lines = readFileSync(join(folder, files.answers), "utf8").split("\n").slice(0, -1);
  return { ...world, answers: lines.map((line) => JSON.parse(line) as Answer) };
}
