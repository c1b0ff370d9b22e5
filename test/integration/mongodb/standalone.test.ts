import { randomBytes } from "node:crypto";
import { rmSync } from "node:fs";
import { dirname } from "node:path";
import { expect } from "chai";
import { mongoDbOrSkip, newDatabase, type MongoDbUnderTest } from "../../support/engines/mongodb.ts";
import { packagedMongoDb } from "../../support/engines/mongodb/secantus.ts";
import { temporaryDataDir, testEnvironment } from "../../support/relay.ts";
import { runRelay } from "../../support/relay-process.ts";
import { openProcess } from "./support.ts";

const problem = "RELAY_MONGODB_URL: the server has no transactions: start it as a replica set, of one node at least";

describe("A MongoDB server that is no replica set", function () {
  this.timeout(60_000);
  let server: MongoDbUnderTest | undefined;

  before(async function () {
    // Always the packaged server, where it is installed, whether or not the other tests run on it.
    await mongoDbOrSkip(this);
    server = await packagedMongoDb("standalone").catch(() => undefined);
    if (!server) this.skip();
  });
  after(() => server?.stop());

  it("is refused at the start, in one line and without waiting for another", async () => {
    const dataDir = temporaryDataDir();
    const env = {
      ...testEnvironment(dataDir, null), RELAY_MASTER_KEY: randomBytes(32).toString("base64"),
      RELAY_READ_MODELS: "mongodb", RELAY_MONGODB_URL: newDatabase(server!),
    };
    const began = performance.now();
    const { code, stderr } = await runRelay(env);
    expect(code).to.equal(1);
    expect(stderr).to.equal(`the relay cannot start: ${problem}\n`);
    expect(performance.now() - began).to.be.lessThan(30_000);
    rmSync(dirname(dataDir), { recursive: true, force: true });
  });

  it("has no read models", async () => {
    const { reader, writer, close } = openProcess(newDatabase(server!));
    for (const ask of [() => reader.checkpoint(), () => writer.state()]) {
      const error: unknown = await ask().catch((reason: unknown) => reason);
      expect(error).to.have.property("name", "ReadModelsUnavailable");
      expect(String(error)).to.contain(problem);
    }
    await close();
  });
});
