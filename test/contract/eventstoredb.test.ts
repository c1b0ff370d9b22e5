import { EventStoreDb } from "../../src/engines/eventstoredb/event-store-db.ts";
import type { Tuning } from "../../src/engines/eventstoredb/tuning.ts";
import { SystemClock } from "../../src/engines/system/system-clock.ts";
import type { EventCodec } from "../../src/kernel/ports/event-codec.ts";
import { startEventStoreDbs, type EventStoreDbUnderTest } from "../support/engines/eventstoredb.ts";
import { plainCodec, unreadableType } from "../support/plain-codec.ts";
import { eventStoreContract } from "./event-store.ts";
import { note, type EventStoreUnderTest } from "./event-store/harness.ts";

const clock = new SystemClock();

const futureCodec: EventCodec = {
  ...plainCodec,
  encode: (event, metadata) => ({ ...plainCodec.encode(event, metadata), type: unreadableType }),
};

/** Clients of one server; the outage kills it. */
function underTest(server: EventStoreDbUnderTest, tuning: Partial<Tuning>): EventStoreUnderTest {
  let clients: EventStoreDb[] = [];
  const open = async (codec = plainCodec) => {
    const client = new EventStoreDb({ url: server.url, codec, clock, tuning });
    clients.push(client);
    return client;
  };
  const close = async () => {
    await Promise.all(clients.map((client) => client.close()));
    clients = [];
  };
  return {
    store: () => open(),
    async plantUnreadable(stream, expected) {
      await (await open(futureCodec)).append(stream, expected, [note("")]);
    },
    async reopen() {
      await close();
      await server.restart();
      return open();
    },
    outage: { begin: server.kill, end: server.restart },
    async dispose() {
      await close();
      await server.stop();
    },
  };
}

for (const server of await startEventStoreDbs()) {
  const can = { reopen: server.breakable, outage: server.breakable };

  describe(`EventStoreDB (${server.description})`, () => {
    eventStoreContract(async () => underTest(server, { appendMs: 1500 }), can);
  });
}
