import { connectMongoDb } from "../../src/engines/mongodb/connection.ts";
import { MongoExpiringState } from "../../src/engines/mongodb/expiring-state.ts";
import { SystemClock } from "../../src/engines/system/system-clock.ts";
import { mongoDbOrSkip, newDatabase, sharedMongoDb } from "../support/engines/mongodb.ts";
import { quiet } from "../support/telemetry.ts";
import { expiringStateContract, type ExpiringStateUnderTest } from "./expiring-state.ts";

/** Far ahead, so that the server does not expire documents by its own clock. */
const start = Date.UTC(2100, 0);

function open(url: string, time: { now: number }): ExpiringStateUnderTest {
  const connect = () => connectMongoDb(url, { clock: new SystemClock(), logger: quiet });
  const connections = [connect()];
  const on = (connection: ReturnType<typeof connect>) =>
    new MongoExpiringState(connection, { now: () => new Date(time.now) });
  const close = () => Promise.all(connections.map((connection) => connection.close()));
  return {
    state: on(connections[0]!),
    pass: async (ms) => { time.now += ms; },
    another: async () => {
      const connection = connect();
      connections.push(connection);
      return on(connection);
    },
    reopen: async () => {
      await close();
      return open(url, time);
    },
    close: async () => {
      await connections[0]!.db.dropDatabase();
      await close();
    },
  };
}

describe("An engine outside of the process", () => {
  before(async function () {
    await mongoDbOrSkip(this);
  });

  expiringStateContract("MongoDB", async () => open(newDatabase(await sharedMongoDb()), { now: start }));
});
