import { expect } from "chai";
import { ApiClient } from "../support/api-client.ts";
import { startReceiver, type Receiver } from "../support/receiver.ts";
import { eventReaches, openAccount, type Account } from "../support/relay.ts";
import { RelayProcess } from "../support/relay-process.ts";
import { outsideEngines, type OutsideEngines } from "../support/topologies.ts";

describe("operator commands on outside engines", function () {
  this.timeout(120_000);
  let engines: OutsideEngines;
  let receiver: Receiver;
  let relay: RelayProcess;
  let one: Account;
  let other: Account;

  before(async function () {
    this.timeout(600_000);
    engines = await outsideEngines(this);
    receiver = await startReceiver();
    relay = new RelayProcess(receiver, { env: engines.env });
  });
  beforeEach(async () => {
    await relay.start();
    [one, other] = [await openAccount(relay.url), await openAccount(relay.url)];
    for (const account of [one, other]) {
      const { ingest } = await account.destination({ url: receiver.url("/hook") });
      const { eventId } = (await account.producer.post(ingest, { hello: "world" })) as { eventId: string };
      await eventReaches(account.owner, eventId, "Succeeded");
    }
  });
  // A killed relay would count as running for a while.
  afterEach(() => relay.sigterm());
  after(async () => {
    await (relay as RelayProcess | undefined)?.close();
    await receiver.close();
    await (engines as OutsideEngines | undefined)?.close();
  });

  /** The error text of a request that must fail. */
  const refusal = (request: Promise<unknown>) => request.then(() => "it succeeded", (error: unknown) => error);
  const refused = async (...command: readonly string[]) => {
    const { code, stderr } = await relay.command(...command);
    expect(code).to.equal(1);
    expect(stderr).to.contain("a relay is running on these engines: stop it first");
  };
  const total = async ({ owner }: Account) => (await relay.at(owner).get("/api/v1/events"))["total"];

  it("list keys and the backlog, and reset an Owner's password, while a relay runs", async () => {
    const keys = await relay.command("keys");
    expect([keys.code, keys.stderr]).to.deep.equal([0, ""]);
    expect(keys.stdout).to.contain("newest").and.to.contain("there is no old master key");
    const backlog = await relay.command("backlog");
    expect([backlog.code, backlog.stderr, backlog.stdout]).to.deep.equal([0, "", "no event waits\n"]);
    const reset = await relay.command("reset-owner-password", one.email);
    expect([reset.code, reset.stderr]).to.deep.equal([0, ""]);
    const password = /the new password: (\S+)/.exec(reset.stdout)?.[1] ?? "";
    const anyone = new ApiClient(relay.url);
    await anyone.post("/api/v1/auth/login", { email: one.email, password });
    const old = anyone.post("/api/v1/auth/login", { email: one.email, password: one.password });
    expect(await refusal(old)).to.have.property("status", 401);
    const session = await anyone.post("/api/v1/auth/login", { email: one.email, password });
    one = { ...one, owner: anyone.as({ authorization: `Bearer ${String(session["accessToken"])}` }) };
  });

  it("refuse to rebuild while a relay runs, and a backup always", async () => {
    await refused("rebuild");
    const { code, stderr } = await relay.command("backup", "/nowhere");
    expect(code).to.equal(1);
    expect(stderr).to.contain("RELAY_EVENT_STORE: eventstoredb has backups of its own");
    expect([await total(one), await total(other)]).to.deep.equal([1, 1]);
  });

  it("list, create and erase tenants while a relay runs", async function () {
    this.timeout(120_000);
    const third = await openAccount(relay.url);
    const { ingest } = await third.destination({ url: receiver.url("/hook") });
    await third.producer.post(ingest, { canary: true });
    const created = await relay.command("create-tenant", "Fourth", "fourth@shop.example");
    expect([created.code, created.stderr]).to.deep.equal([0, ""]);
    const fourth = (JSON.parse(created.stdout) as { tenantId: string }).tenantId;
    const erased = await relay.command("erase-tenant", third.tenantId, "--yes");
    expect([erased.code, erased.stderr]).to.deep.equal([0, ""]);
    const listed = (await relay.command("tenants")).stdout;
    expect(listed).to.include(fourth).and.include(one.tenantId).and.not.include(third.tenantId);
    const late = relay.at(third.producer).post(ingest, {});
    expect(await refusal(late)).to.have.property("status", 401);
    expect(await refusal(relay.at(third.owner).get("/api/v1/users"))).to.have.property("status", 401);
    expect([await total(one), await total(other)]).to.deep.equal([1, 1]);
  });

  it("rebuild the read models, and erase one tenant only, once the relay is stopped", async () => {
    await relay.sigterm();
    const api = await RelayProcess.start(receiver, { env: { ...engines.env, RELAY_ROLES: "api" } });
    try {
      await refused("rebuild");
    } finally {
      await api.close();
    }
    const rebuilt = await relay.command("rebuild");
    expect([rebuilt.code, rebuilt.stderr]).to.deep.equal([0, ""]);
    const erased = await relay.command("erase-tenant", other.tenantId, "--yes");
    expect([erased.code, erased.stderr]).to.deep.equal([0, ""]);
    expect(erased.stdout).to.match(/is erased, \d+ streams of it deleted/);
    await relay.start();
    expect(await total(one)).to.equal(1);
    const login = new ApiClient(relay.url).post("/api/v1/auth/login", { email: other.email, password: other.password });
    expect(await refusal(login)).to.have.property("status", 401);
    expect((await openAccount(relay.url)).tenantId).to.not.equal(other.tenantId);
  });
});
