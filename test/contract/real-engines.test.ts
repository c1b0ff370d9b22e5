import { expect } from "chai";
import { startEventStoreDb } from "../support/engines/eventstoredb.ts";
import { mongoDbOrSkip } from "../support/engines/mongodb.ts";

describe("engines themselves, and not what stands in for them here", () => {
  it("EventStoreDB takes its suites", async function () {
    const server = await startEventStoreDb();
    await server.stop();
    if (server.description.includes("wire-compatible")) this.skip();
    expect(server.description).to.match(/container|RELAY_TEST_EVENTSTOREDB_URL/);
  });

  it("MongoDB takes its suites", async function () {
    const server = await mongoDbOrSkip(this);
    if (server.description.includes("SecantusDB")) this.skip();
    expect(server.description).to.match(/container|RELAY_TEST_MONGODB_URL/);
  });
});
