import { DatabaseSync } from "node:sqlite";
import { parentPort, workerData } from "node:worker_threads";
import type { PlacedRead } from "./entry-readers.ts";
import type { Answer, StreamRows } from "./protocol.ts";

/** Entry of a thread that reads entries at known places, through a read-only connection of its own. */
const port = parentPort!;
const db = new DatabaseSync(workerData as string, { readOnly: true, timeout: 1000 });
const select = db.prepare(`
  SELECT revision, id, type, metadata, data FROM log WHERE sequence = ? AND stream = ? AND type <> ''`);
select.setReturnArrays(true);

port.on("message", (message: readonly PlacedRead[] | "stop") => {
  if (message !== "stop") return port.postMessage(message.map(answerTo));
  db.close();
  port.close();
});

function answerTo({ request, stream, sequence }: PlacedRead): Answer {
  try {
    return { kind: "answer", request, result: rowsAt(stream, sequence) };
  } catch (error) {
    return { kind: "refused", request, reason: (error as Error).message };
  }
}

/** One row; none where the entry is gone, or is another stream's. */
function rowsAt(stream: string, sequence: number): StreamRows {
  const row = select.get(sequence, stream) as unknown as [number, string, string, string, string] | undefined;
  if (!row) return { revisions: [], sequences: [], texts: [] };
  const [revision, ...texts] = row;
  return { revisions: [revision], sequences: [sequence], texts };
}
