import { expect } from "chai";
import { startEventStoreDb } from "../support/engines/eventstoredb.ts";
import { mongoDbOrSkip } from "../support/engines/mongodb.ts";

describe("real engines instead of stand-ins", () => {
  it("EventStoreDB runs its suites", async function () {
    const server = await startEventStoreDb();
    await server.stop();
    if (server.description.includes("wire-compatible")) this.skip();
    expect(server.description).to.match(/container|RELAY_TEST_EVENTSTOREDB_URL/);
  });

  it("MongoDB runs its suites", async function () {
    const server = await mongoDbOrSkip(this);
    if (server.description.includes("SecantusDB")) this.skip();
    expect(server.description).to.match(/container|RELAY_TEST_MONGODB_URL/);
  });
});
