import { expect } from "chai";
import { collections, fingerprint, project } from "../../../projections/index.ts";
import { AesSealing } from "../../../src/adapters/aes-sealing/aes-sealing.ts";
import { SystemIds } from "../../../src/adapters/system/system-ids.ts";
import { serveAll } from "../../../src/application/aggregate-types.ts";
import { Aggregates } from "../../../src/application/aggregates.ts";
import { Erasure } from "../../../src/application/erasure.ts";
import { EmailOpener } from "../../../src/application/people.ts";
import { Reservations } from "../../../src/application/reservations.ts";
import { Vault } from "../../../src/application/vault.ts";
import { Refusal } from "../../../src/domain/refusal.ts";
import { createTenant, createUser, openIngest, password } from "../../support/accounts.ts";
import { inMemoryEngines, startApi, type InMemoryEngines } from "../../support/api.ts";
import { http } from "../../support/http.ts";

const ids = new SystemIds();

describe("erasing a tenant", () => {
  let engines: InMemoryEngines;
  beforeEach(async () => {
    engines = await inMemoryEngines();
  });
  afterEach(() => engines.close());

  /** A tenant with something of every kind, some of it deleted already. */
  const fill = async (url: string) => {
    const tenant = await createTenant(url);
    const { client } = tenant.owner;
    const user = await createUser(client, "viewer");
    await user.client.post("/api/v1/auth/logout");
    await client.post("/api/v1/invites", { email: "canary@example.com", role: 0 });
    const ingest = await openIngest(client, tenant.tenantId);
    const json = { canary: tenant.tenantId };
    const accepted = await http("POST", url + ingest.path, { json, headers: { "x-api-key": ingest.apiKey } });
    expect(accepted.status).to.equal(202);
    const sender = { name: `canary ${tenant.tenantId}`, destinationUrlId: ingest.destinationId };
    const made = await client.post("/api/v1/senders", sender);
    await client.patch(`/api/v1/senders/${String(made.json["id"])}`, { status: "inactive" });
    await client.delete(`/api/v1/senders/${String((await client.post("/api/v1/senders", sender)).json["id"])}`);
    const second = await openIngest(client, tenant.tenantId);
    await client.delete(`/api/v1/destinations/${second.destinationId}`);
    await client.delete(`/api/v1/api-keys/${second.apiKeyId}`);
    await client.delete(`/api/v1/users/${user.id}`);
    return { ...tenant, ingest };
  };

  const rebuild = async () => {
    const { store, readModels, masterKey } = engines;
    const sealing = new AesSealing(masterKey);
    const opener = new EmailOpener({ store, sealing, vault: new Vault(sealing) }, { max: 10 });
    await readModels.reset(collections, fingerprint);
    const { entries, upTo } = await store.readLog("", 100_000);
    const batch = (await opener.prepare(entries)).flatMap((entry) =>
      entry.unreadable === undefined ? [{ position: entry.position, changes: project(entry) }] : []);
    await readModels.apply(batch, upTo);
  };
  const erasure = () => {
    const { store, state, clock } = engines;
    const aggregates = new Aggregates(store, { clock, ids }, { max: 100 });
    serveAll(aggregates);
    const reservations = new Reservations({ store, aggregates, clock, ids });
    return new Erasure({ store, aggregates, reservations, state, clock, ids }, rebuild);
  };
  const withApi = async <Result>(use: (url: string) => Promise<Result>): Promise<Result> => {
    const api = await startApi(engines);
    try {
      return await use(api.url);
    } finally {
      expect(api.errors).to.deep.equal([]);
      await api.close();
    }
  };

  const requireErased = async (gone: Awaited<ReturnType<typeof fill>>) => {
    const { tenantId, owner, name, ingest } = gone;
    const { entries } = await engines.store.readLog("", 100_000);
    const left = entries.filter((entry) => JSON.stringify(entry).includes(tenantId));
    const kinds = left.map(({ type, stream }) => `${type} in ${stream.split("-")[0] ?? ""}`);
    expect(new Set(kinds)).to.deep.equal(new Set([
      "NameReserved in tenantName", "NameReleased in tenantName", "NameReserved in email", "NameReleased in email",
      "TenantErased in tenant",
    ]));
    expect(kinds.filter((kind) => kind.startsWith("TenantErased"))).to.have.length(1);
    expect(JSON.stringify(engines.readModels.contents())).not.to.include(tenantId).and.not.include(owner.email);
    await withApi(async (url) => {
      expect((await http("POST", `${url}/api/v1/auth/login`, { json: { email: owner.email, password } })).status)
        .to.equal(401);
      expect((await owner.client.at(url).get(`/api/v1/tenants/${tenantId}`)).status).to.equal(401);
      const post = (apiKey: string) =>
        http("POST", url + ingest.path, { json: {}, headers: { "x-api-key": apiKey } });
      expect((await post(ingest.apiKey)).status).to.equal(401);
      const other = await createTenant(url);
      const { apiKey } = await openIngest(other.owner.client, other.tenantId);
      expect((await post(apiKey)).status).to.equal(404);
      const again = { name, ownerEmail: owner.email, ownerPassword: password };
      expect((await http("POST", `${url}/api/v1/tenants`, { json: again })).status).to.equal(201);
    });
  };

  it("leaves one fact of it, and everything of others", async () => {
    const [gone, stays] = await withApi(async (url) => [await fill(url), await fill(url)] as const);
    const ofOthers = async () => {
      const { entries } = await engines.store.readLog("", 100_000);
      return entries.filter((entry) => JSON.stringify(entry).includes(stays.tenantId));
    };
    const before = await ofOthers();
    await engines.projector.stop();
    expect(await erasure().erase(gone.tenantId)).to.be.greaterThan(10);
    expect(await ofOthers()).to.deep.equal(before);
    expect(await erasure().resume()).to.equal(null);
    await withApi(async (url) => {
      const { items } = (await stays.owner.client.at(url).get("/api/v1/events")).json as { items: unknown[] };
      expect(items).to.have.length(1);
    });
    expect(JSON.stringify(engines.readModels.contents())).not.to.include(gone.tenantId);
  });

  it("answers not-found for what is no tenant, or is one no more, and writes nothing", async () => {
    await engines.projector.stop();
    const head = await engines.store.head();
    for (const id of ["0193a1b2-0000-7000-8000-000000000001", "", "x"]) {
      expect(await erasure().erase(id).catch((error: unknown) => error)).to.be.instanceOf(Refusal);
    }
    expect(await engines.store.head()).to.equal(head);
  });

  it("is finished by whoever comes next, wherever it was killed", async function () {
    this.timeout(60_000);
    for (let killedAt = 1, through = false; !through; killedAt += 1) {
      await engines.close();
      engines = await inMemoryEngines();
      const gone = await withApi(fill);
      const { store } = engines;
      let steps = 0;
      const step = () => {
        if ((steps += 1) >= killedAt) throw new Error("killed");
      };
      const remove = store.deleteStream.bind(store);
      store.deleteStream = async (...args) => {
        step();
        await remove(...args);
      };
      store.beforeAppend = step;
      const outcome = await erasure().erase(gone.tenantId).catch((error: Error) => error.message);
      store.deleteStream = remove;
      store.beforeAppend = () => undefined;
      through = outcome !== "killed";
      // Killed before the first step there is nothing to be finished but what was begun.
      const comesNext = async () =>
        killedAt % 2 === 0 ? erasure().resume() : erasure().erase(gone.tenantId).then(() => gone.tenantId);
      if (!through) expect(await comesNext(), `killed at ${killedAt}`).to.equal(gone.tenantId);
      await requireErased(gone);
    }
  });
});
