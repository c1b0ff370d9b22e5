import { execFile } from "node:child_process";
import { cpSync, mkdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect } from "chai";
import { ApiClient, text, type Json } from "../../demo/api-client.ts";
import { createLogger } from "../../src/adapters/pino/logger.ts";
import { startRelay } from "../../src/composition/relay.ts";
import { readConfig } from "../../src/config/config.ts";
import { readSecrets } from "../../src/config/secrets.ts";
import { startReceiver, type Receiver } from "../support/receiver.ts";
import { eventReaches, eventually, openAccount, startTestRelay } from "../support/relay.ts";
import { temporaryDataDir, testEnvironment, type TestRelay } from "../support/relay.ts";

describe("backup", () => {
  let receiver: Receiver;
  let relay: TestRelay;

  before(async () => {
    receiver = await startReceiver();
    relay = await startTestRelay(receiver);
  });

  after(async () => {
    await relay.close();
    await receiver.close();
  });

  it("copies a relay under load; restored, it has every event from before and sends none of them again", async () => {
    const account = await openAccount(relay.url);
    const { ingest } = await account.destination({ url: receiver.url("/hook") });
    const post = async (n: number) => text(await account.producer.post(ingest, { n }), "eventId");
    const before = await Promise.all(Array.from({ length: 50 }, (_, n) => post(n)));
    for (const eventId of before) await eventReaches(account.owner, eventId, "Succeeded");

    const enough = new AbortController();
    const load = (async () => {
      for (let n = 50; !enough.signal.aborted; n += 1) await post(n);
    })();
    const folder = join(relay.dataDir, "..", "backup");
    const env = { ...process.env, ...testEnvironment(relay.dataDir, null) };
    const main = join(import.meta.dirname, "../../src/main.ts");
    const command = ["--disable-warning=ExperimentalWarning", main, "backup", folder];
    await promisify(execFile)(process.execPath, command, { env });
    enough.abort();
    await load;

    const restored = temporaryDataDir();
    mkdirSync(restored, { recursive: true });
    cpSync(folder, restored, { recursive: true });
    cpSync(join(relay.dataDir, "master.key"), join(restored, "master.key"));
    const environment = testEnvironment(restored, receiver);
    const config = readConfig(environment);
    const ofBefore = (id: unknown) => before.includes(String(id));
    const sent = () => receiver.requestsTo("/hook").filter(({ headers }) => ofBefore(headers["webhook-id"]));
    const sentBefore = sent().length;
    const secrets = readSecrets(environment, config);
    const second = await startRelay({ config, secrets, logger: createLogger("silent") });
    try {
      const { email, password } = account;
      const session = await new ApiClient(second.url).post("/api/v1/auth/login", { email, password });
      const owner = new ApiClient(second.url, { authorization: `Bearer ${text(session, "accessToken")}` });
      const count = async (status: string) => Number((await owner.get(`/api/v1/events?Qt=1${status}`))["total"]);
      await eventually(async () => [await count(""), await count("&Status=Succeeded")], ([all, done]) => all === done);
      for (const eventId of before) {
        const event: Json = await owner.get(`/api/v1/events/${eventId}`);
        expect(event["status"]).to.equal("Succeeded");
      }
      expect(sent().length).to.equal(sentBefore);
    } finally {
      await second.stop();
      rmSync(join(restored, ".."), { recursive: true, force: true });
    }
  });
});
