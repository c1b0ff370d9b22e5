import type streams from "@eventstore/db-client/generated/streams_pb.js";
import { LogUnavailable } from "../../kernel/ports/event-store.ts";
import type { Connection } from "./connection.ts";
import { exceptionOf } from "./failures.ts";
import { untold } from "./positions.ts";
import type { Received } from "./received.ts";
import type { StoredRecord } from "./records.ts";

type Take = (record: StoredRecord) => boolean;

/** Reads records; none of a missing stream. Rejects after `deadlineMs`, and for servers that tell no positions. */
export async function read(
  connection: Connection, request: streams.ReadReq, deadlineMs: number, take: Take,
): Promise<void> {
  const client = await connection.streams(deadlineMs);
  const call = connection.read(client, request, deadlineMs);
  let ended = false;
  try {
    await new Promise<void>((resolve, reject) => {
      call.on("data", (received: Received) => {
        connection.answered();
        const record = ended ? undefined : received.record;
        // As a position it would be after all others.
        if (record?.position === untold) return reject(new LogUnavailable("EventStoreDB must be 22.6 or newer"));
        if (!record || take(record)) return;
        ended = true;
        resolve();
      });
      // A broken call's error comes before the end of its messages; a good status may come before the last one.
      call.on("end", resolve);
      call.on("error", reject);
    });
    connection.answered();
  } catch (error) {
    if (exceptionOf(error) === "stream-deleted") return;
    await connection.failed(client, error);
    throw error;
  } finally {
    // An abandoned call would stay open.
    call.cancel();
  }
}

/** All records of one read. */
export async function readRecords(
  connection: Connection, request: streams.ReadReq, deadlineMs: number,
): Promise<StoredRecord[]> {
  const records: StoredRecord[] = [];
  await read(connection, request, deadlineMs, (record) => {
    records.push(record);
    return true;
  });
  return records;
}
