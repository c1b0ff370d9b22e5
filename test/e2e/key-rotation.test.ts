import { randomBytes } from "node:crypto";
import { expect } from "chai";
import { ApiClient, text } from "../support/api-client.ts";
import { library } from "../support/disk/disk.ts";
import { RelayOnDisk } from "../support/disk/relay-on-disk.ts";
import { eventually, openAccount, type Account } from "../support/relay.ts";
import { RelayProcess, runRelay } from "../support/relay-process.ts";
import { sized } from "../support/size.ts";

/** So many that a start is killed with the keys of some re-wrapped. */
const tenants = 8;

const newKey = () => randomBytes(32).toString("base64");

describe("S8 master key rotation of a running relay", () => {
  let relay: RelayProcess;
  let env: Record<string, string>;
  let accounts: Account[];

  beforeEach(async () => {
    env = { RELAY_MASTER_KEY: newKey() };
    // The tests' disk reports writes to the log.
    relay = "missing" in library ? new RelayProcess(null, { env }) : new RelayOnDisk(null, { env });
    await relay.start();
    accounts = [];
    for (let n = 0; n < tenants; n += 1) accounts.push(await openAccount(relay.url));
  });
  afterEach(() => relay.close());

  const keys = async () => (await runRelay(relay.environment, ["keys"])).stdout;
  const mayGo = "1 of 1 old master keys may be taken out of RELAY_OLD_MASTER_KEYS";
  const giveNewKey = () => {
    env["RELAY_OLD_MASTER_KEYS"] = env["RELAY_MASTER_KEY"] ?? "";
    env["RELAY_MASTER_KEY"] = newKey();
  };

  /** Fails unless every secret and address can be read, and old passwords and sessions still work. */
  const requireAllReadable = async () => {
    for (const { tenantId, webhookSecret, email, password, owner } of accounts) {
      const again = relay.at(owner);
      expect(await again.get(`/api/v1/tenants/${tenantId}/webhook-secret`)).to.deep.equal({ webhookSecret });
      const { items } = (await again.get("/api/v1/users")) as unknown as { items: { email: string }[] };
      expect(items.map((user) => user.email)).to.deep.equal([email]);
      const session = await new ApiClient(relay.url).post("/api/v1/auth/login", { email, password });
      expect(text(session, "accessToken")).to.be.a("string");
    }
  };

  it("re-wraps while it serves, logs the end, and then starts without the old key", async () => {
    await relay.sigterm();
    giveNewKey();
    await relay.start();
    await requireAllReadable();
    accounts.push(await openAccount(relay.url));
    // One more tenant has been made since, and two keys are no tenant's. The count comes from the read models.
    const through = new RegExp(`newest +wraps ${tenants + 3} +needed\\n.*old +wraps 0 +needed by nothing\\n`);
    await eventually(keys, (answer) => answer.includes(mayGo) && through.test(answer));
    expect(await (await fetch(`${relay.url}/metrics`)).text()).to.match(/^relay_keys_under_old_master_keys 0$/m);
    const { code, stdout, stderr } = await runRelay({ ...relay.environment, RELAY_MASTER_KEY: newKey() }, ["keys"]);
    expect([code, stdout]).to.deep.equal([1, ""]);
    expect(stderr).to.match(/^the keys cannot be told: RELAY_MASTER_KEY: lacks [0-9a-f]{16}, which this log needs: .+\n$/);
    expect(relay.lines.some(({ msg }) => msg?.includes("nothing needs the old ones"))).to.equal(true);
    await relay.sigterm();
    delete env["RELAY_OLD_MASTER_KEYS"];
    await relay.start();
    await requireAllReadable();
    expect(await keys()).to.include("there is no old master key");
    await relay.sigterm();
    const rebuilt = await relay.command("rebuild");
    expect(rebuilt.code).to.equal(0);
    await relay.start();
    await requireAllReadable();
  });

  it("is refused without the old key until it is complete, even after many kills", async function () {
    if (!(relay instanceof RelayOnDisk)) return this.skip();
    this.timeout(sized(90_000, 1_800_000));
    const { disk, lives, lines } = relay;
    await relay.kill9();
    giveNewKey();
    const refusals = async () => {
      const { RELAY_OLD_MASTER_KEYS: _old, ...withoutOld } = relay.environment;
      const { stderr, code } = await runRelay(withoutOld);
      const told = stderr.split("\n").filter((line) => line !== "");
      expect(code).to.equal(told.length > 0 ? 1 : 0);
      return told;
    };
    expect(await refusals()).to.deep.equal([
      "the relay cannot start: RELAY_MASTER_KEY: is not the key that this log was written under",
    ]);
    const end = async () => {
      if (lives.at(-1)?.endedAt !== null) return "killed";
      return lines.some(({ msg }) => msg?.includes("nothing needs the old ones")) ? "through" : "on its way";
    };
    let halfway = 0;
    for (let step = 4; ; step += sized(6, 2)) {
      disk.dieAt("syncEnded", "/log.db-wal", step);
      relay.launch();
      const how = await eventually(end, (known) => known !== "on its way");
      disk.dieAt("opened", "", 0);
      await relay.kill9();
      const [line, ...more] = await refusals();
      expect(more).to.deep.equal([]);
      if (how === "through") {
        expect(line, "the start succeeds").to.equal(undefined);
        break;
      }
      expect(line).to.match(/^the relay cannot start: RELAY_(OLD_MASTER_KEYS: must hold|MASTER_KEY: is not the) .*key/);
      const said = await keys();
      expect(said).to.not.include(mayGo);
      if (/newest +wraps [1-9]/.test(said) && /old +wraps [1-9]/.test(said)) {
        halfway += 1;
        expect(line).to.match(/RELAY_OLD_MASTER_KEYS: must hold master key [0-9a-f]{16}, since/);
      }
    }
    expect(halfway, "kills with some keys re-wrapped").to.be.greaterThan(0);
    const through = await relay.command("rewrap");
    expect(through.stdout).to.match(/^keys of \d+ tenants? re-wrapped; every key is under the newest master key\n$/);
    delete env["RELAY_OLD_MASTER_KEYS"];
    await relay.start();
    await requireAllReadable();
  });
});
