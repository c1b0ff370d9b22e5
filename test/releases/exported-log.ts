import { readFileSync, writeFileSync } from "node:fs";
import { EventStoreDbServer } from "../support/eventstoredb-server/server.ts";

/** An entry of the log as its store returns it; `data` and `metadata` are JSON texts. */
interface ExportedEntry {
  readonly stream: string;
  readonly revision: number;
  /** The position in $all. Facts name such positions, so a loaded log must give each entry its own again. */
  readonly position: string;
  readonly id: string;
  readonly type: string;
  /** Milliseconds since 1970. */
  readonly created: number;
  readonly data: string;
  readonly metadata: string;
}

/** Entries that a fresh server writes by itself. */
const ownEntries = 1;

/** Writes the log of the tests' EventStoreDB to a file, an entry a line, with those of deleted streams. */
export function exportLog({ database }: EventStoreDbServer, path: string): void {
  const lines: string[] = [];
  for (let index = ownEntries; index < database.length; index += 1) {
    const { stream, revision, position, id, type, created, data, metadata } = database.at(index)!;
    const entry: ExportedEntry = {
      stream, revision: Number(revision), position: String(position), id, type, created,
      data: Buffer.from(data).toString(), metadata: Buffer.from(metadata).toString(),
    };
    lines.push(`${JSON.stringify(entry)}\n`);
  }
  writeFileSync(path, lines.join(""));
}

/** Starts an EventStoreDB of the tests with the log in a file that {@link exportLog} wrote. */
export async function startWithLog(path: string): Promise<EventStoreDbServer> {
  const server = await EventStoreDbServer.start();
  const { database } = server;
  for (const line of readFileSync(path, "utf8").split("\n").slice(0, -1)) {
    const { stream, revision, position, id, type, created, data, metadata } = JSON.parse(line) as ExportedEntry;
    const event = {
      id, type, contentType: "application/json", data: Buffer.from(data), metadata: Buffer.from(metadata),
    };
    database.apply({ kind: "events", stream, created, events: [event] });
    const loaded = database.at(database.length - 1)!;
    if (String(loaded.position) !== position || Number(loaded.revision) !== revision) {
      throw new Error(`${stream} ${revision} is loaded to another place than it had`);
    }
  }
  return server;
}
