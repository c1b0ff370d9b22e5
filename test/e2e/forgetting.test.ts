import { execFileSync } from "node:child_process";
import { expect } from "chai";
import { createLogger } from "../../src/engines/pino/logger.ts";
import { decide } from "../../src/features/tenants/decide.ts";
import { tenants } from "../../src/features/tenants/facts.ts";
import { readConfig } from "../../src/main/config/config.ts";
import { readSecrets } from "../../src/main/config/secrets.ts";
import { atDesk, type OperatorDesk } from "../../src/main/operator/commands.ts";
import { text } from "../support/api-client.ts";
import { eventually, openAccount } from "../support/relay.ts";
import { RelayProcess } from "../support/relay-process.ts";

describe("the address of a deleted user", () => {
  let relay: RelayProcess;
  beforeEach(async () => {
    relay = await RelayProcess.start(null);
  });
  afterEach(() => relay.close());

  /** Files of the data folder that hold the text in clear, in any case. */
  const filesWith = (wanted: string) =>
    execFileSync("sh", ["-c", 'grep -rlai "$0" "$1" || true', wanted, relay.dataDir], { encoding: "utf8" })
      .split("\n").filter((line) => line !== "");
  const desk = <Result>(use: (desk: OperatorDesk) => Promise<Result>) => {
    const config = readConfig(relay.environment);
    const secrets = readSecrets(relay.environment, config);
    return atDesk({ config, secrets, logger: createLogger("silent") }, use);
  };
  const email = "canary.person@example.com";
  const newUser = async () => {
    const account = await openAccount(relay.url);
    const user = await account.owner.post("/api/v1/users", { email, password: "correct horse battery" });
    await account.owner.get("/api/v1/users");
    expect(filesWith(email).length).to.be.greaterThan(0);
    return { ...account, userId: text(user, "id") };
  };

  it("is in no file soon after, while the relay runs and after a kill", async () => {
    const { owner, userId } = await newUser();
    await fetch(`${relay.url}/api/v1/users/${userId}`, { method: "DELETE", headers: { ...owner.headers } });
    await eventually(async () => filesWith(email), (files) => files.length === 0);
    await relay.kill9();
    expect(filesWith(email)).to.deep.equal([]);
    expect(await desk(({ store }) => store.readStream(`person-${userId}`))).to.deep.equal([]);
  });

  it("becomes unreadable after the next start if a kill came between the deletions of user and key", async () => {
    const { tenantId, userId } = await newUser();
    await relay.kill9();
    await desk(async ({ aggregates, store }) => {
      const origin = { actor: { type: "service", part: "test" }, correlationId: "x", causationId: null } as const;
      await aggregates.change(tenants, tenantId, origin, (state) => {
        const [owner] = [...(state?.users.values() ?? [])].filter(({ role }) => role === "Owner");
        const by = { userId: owner?.id ?? "", role: "Owner" } as const;
        return decide(state, { type: "DeleteUser", by, userId, at: new Date(0).toISOString() });
      });
      expect(await store.readStream(`person-${userId}`)).to.have.length(1);
    });
    await relay.start();
    await eventually(async () => filesWith(email), (files) => files.length === 0);
    await eventually(
      async () => relay.lines.some(({ msg }) => msg === "finished forgetting a deleted user"),
      (said) => said,
    );
    await relay.kill9();
    expect(await desk(({ store }) => store.readStream(`person-${userId}`))).to.deep.equal([]);
  });
});
