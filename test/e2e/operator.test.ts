import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { text as consume } from "node:stream/consumers";
import { setTimeout as pause } from "node:timers/promises";
import { expect } from "chai";
import packageJson from "../../package.json" with { type: "json" };
import { ApiClient, text } from "../support/api-client.ts";
import { certificatesOf } from "../support/certificates.ts";
import { startReceiver, type Receiver } from "../support/receiver.ts";
import { eventually, openAccount, type Account } from "../support/relay.ts";
import { RelayProcess, runRelay } from "../support/relay-process.ts";

const { version } = packageJson;
const revision = "0f9a5c1";
const main = join(import.meta.dirname, "../../build/src/main.js");

describe("operator commands", () => {
  let receiver: Receiver;
  let relay: RelayProcess;
  let account: Account;
  before(async () => {
    receiver = await startReceiver();
    relay = new RelayProcess(receiver, { env: { RELAY_REVISION: revision } });
  });
  beforeEach(async () => {
    if (relay.lives.at(-1)?.endedAt !== null) await relay.start();
    account = await openAccount(relay.url);
  });
  after(async () => {
    await relay.close();
    await receiver.close();
  });

  const login = (email: string, password: string) =>
    fetch(`${relay.url}/api/v1/auth/login`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ email, password }),
    }).then(({ status }) => status);
  /** Runs a command with a text on its standard input. */
  const told = async (input: string | Uint8Array, ...args: readonly string[]) => {
    const child = spawn(process.execPath, ["--disable-warning=ExperimentalWarning", main, ...args], {
      env: { ...relay.environment },
    });
    child.stdin.end(input);
    const closed = once(child, "close");
    const [stdout, stderr] = await Promise.all([consume(child.stdout), consume(child.stderr)]);
    const [code] = (await closed) as [number | null];
    return { stdout, stderr, code };
  };
  const filesWith = (wanted: string) =>
    execFileSync("sh", ["-c", 'grep -rlai "$0" "$1" || true', wanted, relay.dataDir], { encoding: "utf8" }).trim();

  it("create no master key, and need the existing one", async () => {
    await relay.sigterm();
    const key = join(relay.dataDir, "master.key");
    const kept = readFileSync(key, "utf8").trim();
    rmSync(key);
    for (const command of [["keys"], []]) {
      const { stderr, code } = await told("", ...command);
      expect([code, existsSync(key)], command.join()).to.deep.equal([1, false]);
      expect(stderr).to.match(/: RELAY_MASTER_KEY: is not set, and .* holds no master\.key\n$/);
    }
    writeFileSync(key, kept, { mode: 0o600 });
    expect((await told("", "keys")).stdout).to.include("there is no old master key");
  });

  it("need a log, and create none, if the data folder is not the relay's", async () => {
    const elsewhere = join(relay.dataDir, "..", "elsewhere");
    const key = Buffer.alloc(32, 7).toString("base64");
    const env = { ...relay.environment, RELAY_DATA_DIR: elsewhere, RELAY_MASTER_KEY: key };
    const commands = [
      ["rebuild"], ["backup", join(elsewhere, "backup")], ["backlog"], ["keys"], ["tenants"],
      ["erase-tenant", account.tenantId, "--yes"],
    ];
    const ended = await Promise.all(commands.map((command) => runRelay(env, command)));
    for (const [at, { code, stdout, stderr }] of ended.entries()) {
      expect([code, stdout, existsSync(elsewhere)], commands[at]?.join(" ")).to.deep.equal([1, "", false]);
      expect(stderr).to.match(/^.+: RELAY_DATA_DIR: .*\/elsewhere holds no log\n$/);
    }
  });

  it("and the relay create files that only their user can read", async () => {
    const backup = join(relay.dataDir, "..", "backup");
    mkdirSync(backup);
    expect((await told("", "backup", backup)).code).to.equal(0);
    const modes = execFileSync("find", [relay.dataDir, backup, "-type", "f", "-printf", "%m\n"], { encoding: "utf8" });
    expect(new Set(modes.trim().split("\n"))).to.deep.equal(new Set(["600"]));
  });

  it("print their usage for wrong arguments, before they open anything", async () => {
    // One mistake of each kind: too few arguments, too many, an empty one, or an unknown option.
    const usages = [
      ["backup FOLDER", "--yes"], ["reset-owner-password EMAIL", account.email, "a new password"],
      ["create-tenant NAME EMAIL", "Shop"], ["erase-tenant TENANT_ID --yes", "--yes"], ["backlog", ""],
    ] as const;
    // The folder has no log to open, and the settings are wrong.
    const env = { RELAY_DATA_DIR: join(relay.dataDir, "..", "elsewhere"), RELAY_PORT: "none" };
    await Promise.all(usages.map(async ([usage, ...args]) => {
      const [name = ""] = usage.split(" ");
      const stderr = `usage: npm start -- ${usage}\n`;
      expect(await runRelay(env, [name, ...args]), args.join()).to.deep.equal({ code: 2, stdout: "", stderr });
    }));
  });

  it("print the version and their usage in any environment; the relay reports version and build", async () => {
    const bare = (...args: readonly string[]) => runRelay({ RELAY_PORT: "none" }, args);
    expect(await bare("--version")).to.deep.equal({ code: 0, stdout: `${version}\n`, stderr: "" });
    const help = await bare("help");
    expect([help.code, help.stderr]).to.deep.equal([0, ""]);
    expect(help.stdout).to.match(/^usage: npm start/);
    for (const misread of [["nonsense"], ["serve", "--help"]]) {
      expect(await bare(...misread)).to.deep.equal({ code: 2, stdout: "", stderr: help.stdout });
    }
    const dashboard = `${relay.url.replace("127.0.0.1", "localhost")}/app/`;
    expect(relay.lines.findLast(({ msg }) => msg === "ready")).to.include({ version, revision, dashboard });
    expect(await relay.metric(`relay_build_info{version="${version}",revision="${revision}"}`)).to.equal(1);
    const document = await (await fetch(`${relay.url}/openapi.json`)).json() as { info: { version: string } };
    expect(document.info.version).to.equal(version);
  });

  it("print the backlog beside a running relay: the destinations with most waiting events", async () => {
    expect(await relay.command("backlog")).to.deep.equal({ code: 0, stderr: "", stdout: "no event waits\n" });
    receiver.on("/failing", () => ({ status: 500 }));
    const other = await openAccount(relay.url, { maxTrys: 10_000 });
    const places = [await account.destination({ url: receiver.url("/failing") }),
      await other.destination({ url: receiver.url("/failing") })] as const;
    await account.producer.post(places[0].ingest, {});
    for (let n = 0; n < 3; n += 1) await other.producer.post(places[1].ingest, { n });
    const place = `/api/v1/destinations/${places[0].id}`;
    await account.owner.patch(place, { status: "inactive" });
    // The command does not wait for the read models; this answer does.
    expect(await account.owner.get(place)).to.include({ status: "Inactive" });
    const told = async () => (await relay.command("backlog")).stdout.split("\n");
    const all = "waiting in all: 4 events for 2 destinations";
    const lines = await eventually(told, (said) => said.at(-2) === all, 20_000);
    const due = "oldest due \\d{4}-\\d\\d-\\d\\dT[0-9:.]+Z$";
    expect(lines[0]).to.match(
      new RegExp(`^waiting 3  tenant ${other.tenantId}  destination ${places[1].id}  Active     ${due}`));
    expect(lines[1]).to.match(
      new RegExp(`^waiting 1  tenant ${account.tenantId}  destination ${places[0].id}  Inactive   ${due}`));
  });

  it("end without a word where the reader of their output has gone", async () => {
    for (const args of [["tenants"], ["help"]]) {
      const child = spawn(process.execPath, ["--disable-warning=ExperimentalWarning", main, ...args], {
        env: { ...relay.environment },
      });
      child.stdout.destroy();
      child.stdin.end();
      const closed = once(child, "exit");
      const stderr = await consume(child.stderr);
      const [code] = (await closed) as [number | null];
      expect([code, stderr], args.join()).to.deep.equal([0, ""]);
    }
  });

  it("of the system show each thread of a running relay by its name", async function () {
    const tasks = `/proc/${relay.pid}/task`;
    if (!existsSync(tasks)) this.skip();
    const names = readdirSync(tasks).map((thread) => readFileSync(join(tasks, thread, "comm"), "utf8").trim());
    // The other threads are started when first needed.
    expect(names).to.include.members(["log", "read-models", "passwords"]);
  });

  it("report a lost thread in one line", async () => {
    await relay.sigterm();
    const plant = join(import.meta.dirname, "../support/lost-read-thread.ts");
    const env = { ...relay.environment, NODE_OPTIONS: `--import=${plant}` };
    const failed = (what: string) => ({ code: 1, stdout: "", stderr: `${what}: the thread is lost\n` });
    expect(await runRelay(env, ["rebuild"])).to.deep.equal(failed("the read models cannot be rebuilt"));
    expect(await runRelay(env, ["rewrap"])).to.deep.equal(failed("the keys cannot be re-wrapped"));
  });

  describe("reset-owner-password", () => {
    // The first fact of an operator in this log.
    it("sets the given password, or a made one, ends the Owner's sessions, and records the actor", async () => {
      const other = await openAccount(relay.url);
      await relay.sigterm();
      const done = await told("another good password\n", "reset-owner-password", account.email.toUpperCase());
      expect(done).to.deep.equal({ stdout: "the password was reset\n", stderr: "", code: 0 });
      const made = await told("", "reset-owner-password", other.email);
      expect(made.code).to.equal(0);
      const [, password = ""] = /^the new password: (\S{24})\n$/.exec(made.stdout) ?? [];
      await relay.start();
      expect(await login(other.email, password)).to.equal(200);
      expect(await login(account.email, account.password)).to.equal(401);
      expect(await login(account.email, "another good password")).to.equal(200);
      const old = await fetch(`${relay.url}/api/v1/users`, { headers: { ...account.owner.headers } });
      expect(old.status).to.equal(401);
      await relay.sigterm();
      expect(filesWith("another good password")).to.equal("");
      expect(filesWith('"part":"operator"')).to.match(/log\.db/);
    });

    it("sets the password beside a running relay, and ends the Owner's sessions at once", async () => {
      const done = await told("another good password\n", "reset-owner-password", account.email);
      expect(done).to.deep.equal({ stdout: "the password was reset\n", stderr: "", code: 0 });
      const old = await fetch(`${relay.url}/api/v1/users`, { headers: { ...account.owner.headers } });
      expect(old.status).to.equal(401);
      expect(await login(account.email, account.password)).to.equal(401);
      expect(await login(account.email, "another good password")).to.equal(200);
      expect(filesWith("another good password")).to.equal("");
    });

    it("is refused for a bad password, an unknown email, and a user who is no Owner, relay or not", async () => {
      const refused = async (input: string | Uint8Array, email: string) => {
        const { stderr, code, stdout } = await told(input, "reset-owner-password", email);
        expect([code, stdout]).to.deep.equal([1, ""]);
        expect(stderr.trim().split("\n")).to.have.length(1);
        return stderr;
      };
      const email = "no.owner@example.com";
      await account.owner.post("/api/v1/users", { email, password: "correct horse battery" });
      for (const isRunning of [true, false]) {
        if (!isRunning) await relay.sigterm();
        expect(await refused("short", account.email)).to.include("password: must be 8 to 72 bytes");
        const inLatin1 = Buffer.from("pässword of some length", "latin1");
        expect(await refused(inLatin1, account.email)).to.include("the password must be in UTF-8");
        expect(await refused("", "nobody@example.com")).to.include("no user has this email");
        expect(await refused("", email)).to.include("not an Owner");
      }
    });
  });

  describe("create-tenant and tenants", () => {
    const listed = async () =>
      (await relay.command("tenants")).stdout.split("\n").filter(Boolean).map((line) => JSON.parse(line) as object);

    it("work beside a running relay and on a stopped one", async () => {
      const { id, name: firstName } = await account.owner.get(`/api/v1/tenants/${account.tenantId}`);
      const first = { id, name: firstName };
      const created: object[] = await listed();
      expect(created).to.deep.include(first);
      for (const isRunning of [true, false]) {
        if (!isRunning) await relay.sigterm();
        const name = `Shop ${isRunning}`;
        const given = await told("a good password\n", "create-tenant", name, `Owner.${isRunning}@shop.example`);
        expect([given.code, given.stderr]).to.deep.equal([0, ""]);
        const { tenantId: id, ...shown } = JSON.parse(given.stdout) as Record<string, string>;
        expect(shown).to.include({ tenantName: name, ownerRole: "Owner" }).and.not.have.any.keys("ownerPassword");
        created.push({ id, name });
        if (isRunning) expect(await listed()).to.have.deep.members(created);
      }
      const made = await told("", "create-tenant", "Third shop", "third@shop.example");
      const { ownerPassword = "", tenantId } = JSON.parse(made.stdout) as Record<string, string>;
      const taken = await told("a good password", "create-tenant", "third SHOP", "fourth@shop.example");
      expect([taken.code, taken.stderr]).to.deep.equal([
        1, "the tenant cannot be created: name: a tenant with this name exists already\n",
      ]);
      await relay.start();
      expect(await listed()).to.have.deep.members([...created, { id: tenantId, name: "Third shop" }]);
      expect(await login("owner.true@shop.example", "a good password")).to.equal(200);
      expect(await login("owner.false@shop.example", "a good password")).to.equal(200);
      expect(await login("third@shop.example", ownerPassword)).to.equal(200);
      const bad = await told("short", "create-tenant", "Fifth shop", "fifth@shop.example");
      expect(bad.stderr).to.match(/^the tenant cannot be created: ownerPassword: must be 8 to 72 bytes/);
    });

    it("reach the relay by a socket that only its user can open, also after a kill", async () => {
      const socket = join(relay.dataDir, "operator.sock");
      const before = await listed();
      expect((statSync(socket).mode & 0o777).toString(8)).to.equal("600");
      await relay.kill9();
      expect(existsSync(socket)).to.equal(true);
      expect((await told("", "create-tenant", "Shop", "owner@shop.example")).code).to.equal(0);
      await relay.start();
      expect(await listed()).to.have.length(before.length + 1);
      await relay.sigterm();
      expect(existsSync(socket)).to.equal(false);
    });
  });

  describe("erase-tenant", () => {
    // The first erasure of this log: it is recognised by its fact.
    it("is finished by the next start after a kill", async function () {
      this.timeout(60_000);
      const { ingest } = await account.destination({ url: receiver.url("/hook") });
      for (let n = 0; n < 300; n += 1) await account.producer.post(ingest, { n, canary: "canary-of-the-killed" });
      await relay.sigterm();
      const child = spawn(process.execPath, [
        "--disable-warning=ExperimentalWarning", main, "erase-tenant", account.tenantId, "--yes",
      ], { env: { ...relay.environment } });
      // From the first fact of the erasure on, the start has work to finish.
      await eventually(async () => child.exitCode !== null || filesWith("TenantErased") !== "", (begun) => begun);
      child.kill("SIGKILL");
      await consume(child.stdout);
      await relay.start();
      expect(await login(account.email, account.password)).to.equal(401);
      await relay.sigterm();
      for (const gone of ["canary-of-the-killed", account.email]) expect(filesWith(gone), gone).to.equal("");
    });

    it("deletes a tenant from every file, leaves the others, and needs --yes", async () => {
      const other = await openAccount(relay.url);
      const secret = "canary-of-the-stopped";
      const { pair: clientCertificate, shown: { fingerprint } } = certificatesOf()();
      const { id, ingest } = await account.destination({ url: receiver.url("/hook"), clientCertificate });
      const path = `/api/v1/destinations/${id}`;
      await account.owner.post(`${path}/signing-secret`, { gracePeriodSeconds: 3_600 });
      const publicKey = text(await account.owner.post(`${path}/signing-key`, {}), "publicKey");
      await account.producer.post(ingest, { secret });
      const me = (await account.owner.get("/api/v1/users")) as unknown as { items: { email: string }[] };
      expect(me.items[0]?.email).to.equal(account.email);
      const traces = [secret, fingerprint, publicKey, account.email];
      for (const trace of traces.slice(0, -1)) expect(filesWith(trace), trace).not.to.equal("");
      const { name } = await other.owner.get(`/api/v1/tenants/${other.tenantId}`);
      const asked = await relay.command("erase-tenant", other.tenantId);
      expect([asked.code, asked.stdout, asked.stderr]).to.deep.equal([2, "",
        `tenant ${other.tenantId} ${JSON.stringify(name)}: 1 user, 0 destinations, 0 events and all else of it`
        + " would be erased for good, from every file; add --yes\n"]);
      await relay.sigterm();
      const unknown = await relay.command("erase-tenant", "0193a1b2-0000-7000-8000-000000000001", "--yes");
      expect([unknown.code, unknown.stderr]).to.deep.equal([
        1, "the tenant cannot be erased: there is no tenant 0193a1b2-0000-7000-8000-000000000001\n",
      ]);
      const erased = await relay.command("erase-tenant", account.tenantId.toUpperCase(), "--yes");
      expect(erased.stderr).to.equal("");
      const result = `^tenant ${account.tenantId} is erased, (1 stream|\\d+ streams) of it deleted\n$`;
      expect(erased.stdout).to.match(new RegExp(result));
      for (const trace of traces) expect(filesWith(trace), trace).to.equal("");
      expect((await relay.command("erase-tenant", account.tenantId, "--yes")).code).to.equal(1);

      await relay.start();
      expect(await login(account.email, account.password)).to.equal(401);
      const session = await new ApiClient(relay.url).post("/api/v1/auth/login", {
        email: other.email, password: other.password,
      });
      expect(text(session, "accessToken")).to.be.a("string");
      expect(await relay.at(other.owner).get(`/api/v1/tenants/${other.tenantId}`)).to.include({ id: other.tenantId });
    });

    it("erases a tenant beside a running relay, with events of every kind, while others' go on", async function () {
      this.timeout(60_000);
      receiver.on("/failing", () => ({ status: 500 }));
      const other = account;
      const going = await openAccount(relay.url, { maxTrys: 10_000 });
      const { ingest: others } = await other.destination({ url: receiver.url("/hook") });
      const places = [await going.destination({ url: receiver.url("/hook") }),
        await going.destination({ url: receiver.url("/failing") })] as const;
      const canary = "canary-beside-a-relay";
      for (let n = 0; n < 20; n += 1) {
        for (const { ingest } of places) await going.producer.post(ingest, { n, canary });
      }
      const erasing = relay.command("erase-tenant", going.tenantId, "--yes");
      let posted = 0;
      for (let done = false; !done; posted += 1) {
        await other.producer.post(others, { posted });
        done = await Promise.race([erasing.then(() => true), pause(20, false)]);
      }
      const erased = await erasing;
      expect([erased.code, erased.stderr]).to.deep.equal([0, ""]);
      expect(erased.stdout).to.match(new RegExp(`^tenant ${going.tenantId} is erased, \\d+ streams of it deleted\n$`));
      expect(filesWith(canary)).to.equal("");
      // Read models erase the bytes of removed documents within seconds.
      await eventually(async () => filesWith(going.email), (files) => files === "", 20_000);
      expect(await login(going.email, going.password)).to.equal(401);
      const token = await fetch(`${relay.url}/api/v1/users`, { headers: { ...going.owner.headers } });
      expect(token.status).to.equal(401);
      const late = await fetch(`${relay.url}${places[0].ingest}`, {
        method: "POST", body: "{}", headers: { ...going.producer.headers, "content-type": "application/json" },
      });
      expect(late.status).to.equal(401);
      const total = async () => (await other.owner.get("/api/v1/events?Status=Succeeded&Qt=1"))["total"];
      await eventually(total, (count) => count === posted);
      const again = await relay.command("erase-tenant", going.tenantId, "--yes");
      expect([again.code, again.stderr]).to.deep.equal([
        1, `the tenant cannot be erased: there is no tenant ${going.tenantId}\n`,
      ]);
      expect((await relay.command("tenants")).stdout).to.include(other.tenantId).and.not.include(going.tenantId);
    });
  });
});
