import { expect } from "chai";
import { AesSealing } from "../../../../src/engines/aes-sealing/aes-sealing.ts";
import { SystemClock } from "../../../../src/engines/system/system-clock.ts";
import { SystemIds } from "../../../../src/engines/system/system-ids.ts";
import { EmailOpener } from "../../../../src/features/people/persons/email-opener.ts";
import { People } from "../../../../src/features/people/persons/people.ts";
import { tenants } from "../../../../src/features/tenants/facts.ts";
import { Refusal } from "../../../../src/kernel/domain/refusal.ts";
import { Unsealable } from "../../../../src/kernel/ports/sealing.ts";
import { PlatformKeys } from "../../../../src/kernel/sealing/platform-keys.ts";
import { Vault } from "../../../../src/kernel/sealing/vault.ts";
import { createTenant, createUser } from "../../../support/accounts.ts";
import { startApi, type TestApi } from "../../../support/api.ts";
import { inMemoryEngines, type InMemoryEngines } from "../../../support/api-engines.ts";

describe("platform keys", () => {
  const clock = new SystemClock();
  const ids = new SystemIds();

  it("are made once, though many processes ask at the same time", async () => {
    const { store, masterKey, close } = await inMemoryEngines();
    const sealing = new AesSealing(masterKey);
    const all = await Promise.all(
      Array.from({ length: 10 }, () => new PlatformKeys({ store, sealing, clock, ids }).get()),
    );
    for (const keys of all) {
      expect(Buffer.from(keys.tokenKey)).to.deep.equal(Buffer.from(all[0]?.tokenKey ?? []));
      expect(Buffer.from(keys.nameHashKey)).to.deep.equal(Buffer.from(all[0]?.nameHashKey ?? []));
      expect(keys.events.of("tenant", "order 7")).to.equal(all[0]?.events.of("tenant", "order 7"));
      expect(keys.events.mayBeUnkeyed).to.equal(false);
    }
    expect(all[0]?.tokenKey).not.to.deep.equal(all[0]?.nameHashKey);
    expect(await store.readStream("platform")).to.have.length(1);
    await close();
  });

  it("open under their master key only, and are tried for again after a failure", async () => {
    const { store, masterKey, close } = await inMemoryEngines();
    store.beforeAppend = () => {
      throw new Error("planted");
    };
    const keys = new PlatformKeys({ store, sealing: new AesSealing(masterKey), clock, ids });
    expect(await keys.get().catch((error: Error) => error.message)).to.equal("planted");
    store.beforeAppend = () => undefined;
    await keys.get();
    const others = new PlatformKeys({ store, sealing: new AesSealing(ids.secretBytes(32)), clock, ids });
    expect(await others.get().catch((error: unknown) => error)).to.be.instanceOf(Unsealable);
    await close();
  });
});

describe("people", () => {
  let engines: InMemoryEngines;
  let api: TestApi;
  before(async () => {
    engines = await inMemoryEngines();
    api = await startApi(engines);
  });
  after(async () => {
    await api.close();
    await engines.close();
  });

  const fresh = () => {
    const sealing = new AesSealing(engines.masterKey);
    const vault = new Vault(sealing);
    return {
      people: new People({ ...api.world, sealing, vault }, { max: 10 }),
      opener: new EmailOpener({ store: engines.store, sealing, vault }, { max: 10 }),
    };
  };
  const emailsOf = async (tenantId: string): Promise<unknown[]> => {
    const prepared = await fresh().opener.prepare(await engines.store.readStream(`tenant-${tenantId}`));
    return prepared.flatMap((entry) =>
      entry.unreadable === undefined && "email" in entry.data ? [entry.data.email] : [],
    );
  };

  it("have their emails nowhere in the log in clear, yet open to projections", async () => {
    const { tenantId, owner } = await createTenant(api.url);
    const user = await createUser(owner.client, "viewer");
    const { entries } = await engines.store.readLog("", 10_000);
    for (const { email } of [owner, user]) expect(JSON.stringify(entries)).not.to.include(email);
    expect(await emailsOf(tenantId)).to.deep.equal([owner.email, user.email]);
  });

  it("are unreadable for good once they are deleted, and leave the others alone", async () => {
    const { tenantId, owner } = await createTenant(api.url);
    const user = await createUser(owner.client, "viewer");
    const { state } = await api.world.aggregates.current(tenants, tenantId);
    const sealed = state?.users.get(user.id)?.email ?? "";
    expect(state && (await fresh().people.open(state, user.id, sealed))).to.equal(user.email);
    expect((await owner.client.delete(`/api/v1/users/${user.id}`)).status).to.equal(204);
    expect(state && (await fresh().people.open(state, user.id, sealed))).to.equal(null);
    const problem = state && await fresh().people.seal(state, user.id, user.email).catch((error: unknown) => error);
    expect(problem).to.be.instanceOf(Refusal).and.include({ kind: "not-found" });
    expect(await emailsOf(tenantId)).to.deep.equal([owner.email, null]);
  });

  it("have no addresses in facts of a tenant whose key is gone", async () => {
    const { tenantId } = await createTenant(api.url);
    const facts = await engines.store.readStream(`tenant-${tenantId}`);
    await engines.store.deleteStream(`tenant-${tenantId}`);
    const { opener } = fresh();
    for (let time = 0; time < 2; time += 1) {
      const [, user] = await opener.prepare(facts);
      expect(user).to.have.nested.property("data.email", null);
    }
  });

  it("leave all other facts as they are", async () => {
    const { entries } = await engines.store.readLog("", 10_000);
    const others = entries.filter(({ type }) => type !== "UserCreated");
    expect(await fresh().opener.prepare(others)).to.equal(others);
    const prepared = await fresh().opener.prepare(entries);
    expect(prepared.map(({ position }) => position)).to.deep.equal(entries.map(({ position }) => position));
    expect(prepared.filter(({ type }) => type !== "UserCreated")).to.deep.equal(others);
  });

  for (const type of ["TenantCreated", "PersonKeyCreated"]) {
    it(`wait with their addresses for a release that can read their keys: ${type}`, async () => {
      const { tenantId, owner } = await createTenant(api.url);
      await owner.client.post("/api/v1/invites", { email: "invited@example.com", role: 0 });
      const { entries } = await engines.store.readLog("", 10_000);
      const invited = entries.filter((entry) =>
        entry.type === "InviteCreated" && entry.unreadable === undefined
          && (entry.data as { readonly tenantId: string }).tenantId === tenantId);
      expect(invited).to.have.length(1);
      const read = engines.store.readStream.bind(engines.store);
      engines.store.readStream = async (...asked) => (await read(...asked)).map((entry) => {
        const { stream, revision, position, id } = entry;
        const isMeant = entry.type === type;
        return isMeant ? { stream, revision, position, id, type, unreadable: "unknown version 9", newer: true } : entry;
      });
      try {
        const [entry] = await fresh().opener.prepare(invited);
        expect(entry).to.include({ newer: true }).and.not.have.property("data");
        expect(entry).to.have.property("unreadable").that.matches(/^its address waits: .* newer release/);
      } finally {
        engines.store.readStream = read;
      }
      const [entry] = await fresh().opener.prepare(invited);
      expect(entry).to.have.nested.property("data.email", "invited@example.com");
    });
  }
});
