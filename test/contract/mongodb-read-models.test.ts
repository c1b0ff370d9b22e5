import { connectMongoDb, type MongoConnection } from "../../src/engines/mongodb/connection.ts";
import { MongoReadModelWriter } from "../../src/engines/mongodb/read-model-writer.ts";
import { MongoReadModels } from "../../src/engines/mongodb/read-models.ts";
import { SystemClock } from "../../src/engines/system/system-clock.ts";
import { mongoDbOrSkip, newDatabase, sharedMongoDb } from "../support/engines/mongodb.ts";
import { sized } from "../support/size.ts";
import { quiet } from "../support/telemetry.ts";
import { readModelsContract } from "./read-models.ts";
import type { ReadModelsUnderTest } from "./read-models-things.ts";

function open(url: string): ReadModelsUnderTest {
  const connection: MongoConnection = connectMongoDb(url, { clock: new SystemClock(), logger: quiet });
  const reader = new MongoReadModels(connection, { freshMs: 0 });
  const writer = new MongoReadModelWriter(connection);
  return {
    reader,
    writer: {
      state: () => writer.state(),
      // New read models answer only once they are published.
      reset: async (definitions, fingerprint) => {
        await writer.reset(definitions, fingerprint);
        await writer.publish();
      },
      publish: () => writer.publish(),
      apply: (batch, checkpoint) => writer.apply(batch, checkpoint),
      amend: (changes) => writer.amend(changes),
      removeCounters: (text) => writer.removeCounters(text),
    },
    reopen: async () => {
      await connection.close();
      return open(url);
    },
    close: async () => {
      await connection.db.dropDatabase();
      await connection.close();
    },
  };
}

describe("An engine outside of the process", () => {
  before(async function () {
    await mongoDbOrSkip(this);
  });

  // Crashes are staged in test/integration/mongodb, at every single write.
  readModelsContract("MongoDB", async () => open(newDatabase(await sharedMongoDb())), {
    wholeBatches: false,
    crashes: false,
    runs: sized(10, 200),
  });
});
