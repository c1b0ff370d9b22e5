import { EventEmitter } from "node:events";
import { expect } from "chai";
import type { Connection } from "../../../../src/engines/eventstoredb/connection.ts";
import { readRecords } from "../../../../src/engines/eventstoredb/reading.ts";
import { receivedOf } from "../../../../src/engines/eventstoredb/received.ts";
import { readStreamRequest } from "../../../../src/engines/eventstoredb/requests.ts";
import { LogUnavailable } from "../../../../src/kernel/ports/event-store.ts";
import { failureOf } from "../../../contract/event-store/harness.ts";
import { eventMessage } from "../../../support/eventstoredb-server/messages.ts";

describe("a read of EventStoreDB", () => {
  it("fails where the server is too old to give the positions of entries read from streams", async () => {
    const call = Object.assign(new EventEmitter(), { cancel: () => undefined });
    const connection = {
      streams: async () => ({}), read: () => call, failed: async () => undefined,
      answered: () => undefined,
    } as unknown as Connection;
    const reading = readRecords(connection, readStreamRequest("event-1", { backwards: true }), 1_000);
    const failure = failureOf(reading);
    await new Promise((resolve) => setImmediate(resolve));
    const none = new Uint8Array();
    call.emit("data", receivedOf(eventMessage({
      stream: "event-1", revision: 0n, position: 2n ** 64n - 1n, created: 0, id: crypto.randomUUID(),
      type: "EventAccepted", contentType: "application/json", data: none, metadata: none,
    }).serializeBinary()));
    call.emit("end");
    expect(await failure).to.be.instanceOf(LogUnavailable).with.property("message").that.includes("22.6 or newer");
  });
});
