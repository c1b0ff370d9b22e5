import { parentPort, workerData } from "node:worker_threads";
import type { PlacedRead, ReadsMessage } from "./entry-readers.ts";
import { openToRead, selectRow, type Row } from "./log-file.ts";
import { noRows, type RequestAnswer, type StreamRows } from "./protocol.ts";

/** Entry of a thread that reads entries at known sequences, over its own read-only connection. */
const port = parentPort!;
const db = openToRead(workerData as string);
const select = db.prepare(selectRow);

port.on("message", (message: ReadsMessage) => {
  if (message !== "stop") return port.postMessage(message.map(answerTo));
  db.close();
  port.close();
});

function answerTo({ request, stream, sequence }: PlacedRead): RequestAnswer {
  try {
    return { kind: "answer", request, result: rowsAt(stream, sequence) };
  } catch (error) {
    return { kind: "refused", request, reason: (error as Error).message };
  }
}

function rowsAt(stream: string, sequence: number): StreamRows {
  const row = select.get(sequence, stream) as unknown as Row | undefined;
  if (!row) return noRows;
  return { revisions: [row.revision], sequences: [sequence], texts: [row.id, row.type, row.metadata, row.data] };
}
