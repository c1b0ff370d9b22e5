import { createHash, createHmac } from "node:crypto";
import { expect } from "chai";
import {
  Client, createTenant, freshEmail, login, password, unique, type Account,
} from "../support/accounts.ts";
import type { TestApi } from "../support/api.ts";
import { describeOnEngines, type SharedEngines } from "../support/api-engines.ts";
import { twoTenantStage } from "../support/api-stage.ts";
import { http, shaped } from "../support/http.ts";

const nowhere = "00000000-0000-7000-8000-000000000000";

describeOnEngines("tenants", (freshEngines) => {
  let engines: SharedEngines;
  let api: TestApi;
  let one: Account;
  let other: Account;
  twoTenantStage(freshEngines, (stage) => ({ engines, api, one, other } = stage));

  const create = (fields: object) =>
    http("POST", `${api.url}/api/v1/tenants`, {
      json: { name: unique("New"), ownerEmail: freshEmail(), ownerPassword: password, ...fields },
    });

  describe("creation", () => {
    it("gives 201 with the tenant, its Owner, the defaults and a secret", async () => {
      const name = unique("Créée");
      const ownerEmail = `${unique("Some.One+tag")}@Example.COM`;
      const answer = await create({ name: `  ${name} `, ownerEmail });
      expect(answer.status).to.equal(201);
      const { tenantId, ownerUserId, ...rest } = shaped(answer, "created-tenant");
      expect(rest).to.include({
        tenantName: name,
        maxTrys: 10,
        circuitBreakerTimer: 300,
        ownerEmail,
        ownerRole: "Owner",
      });
      const { client } = { client: await login(api.url, ownerEmail.toLowerCase().replace("tag", "TAG")) };
      expect((await client.get(`/api/v1/tenants/${String(tenantId)}`)).json).to.include({ id: tenantId, name });
      expect((await client.get(`/api/v1/users/${String(ownerUserId)}`)).json).to.include({
        role: "Owner",
        status: "Active",
      });
    });

    it("counts the characters of a name, after trimming", async () => {
      const start = unique("");
      const name = `${start}${"\u{1f600}".repeat(255 - start.length)}`;
      expect((await create({ name: `${name}x` })).status).to.equal(400);
      expect((await create({ name: `  ${name}  ` })).json["tenantName"]).to.equal(name);
    });

    it("takes the delivery policy, and ignores the fields of the cloud offering", async () => {
      const answer = await create({
        maxTrys: 1,
        circuitBreakerTimer: 1,
        deviceFingerprint: 7,
        cfTurnstileToken: null,
        more: [],
      });
      expect(answer.status).to.equal(201);
      expect(answer.json).to.include({ maxTrys: 1, circuitBreakerTimer: 1 });
    });

    const bad: [string, object, string][] = [
      ["no name", { name: undefined }, "name"],
      ["an empty name", { name: "" }, "name"],
      ["a blank name", { name: "  \t " }, "name"],
      ["a name that is too long", { name: "x".repeat(256) }, "name"],
      ["a name with a control character", { name: "a\u0000b" }, "name"],
      ["a name with half a character", { name: "a\ud800" }, "name"],
      ["a name that is no string", { name: 5 }, "name"],
      ["no email", { ownerEmail: undefined }, "ownerEmail"],
      ["an email without an at", { ownerEmail: "nobody.example.com" }, "ownerEmail"],
      ["an email without a domain", { ownerEmail: "nobody@" }, "ownerEmail"],
      ["an email with a space", { ownerEmail: "no body@example.com" }, "ownerEmail"],
      ["an email with a line break", { ownerEmail: "nobody@example.com\n" }, "ownerEmail"],
      ["an email with two dots", { ownerEmail: "no..body@example.com" }, "ownerEmail"],
      ["an email that is too long", { ownerEmail: `${"x".repeat(250)}@example.com` }, "ownerEmail"],
      ["an email that is no string", { ownerEmail: ["a@example.com"] }, "ownerEmail"],
      ["no password", { ownerPassword: undefined }, "ownerPassword"],
      ["an empty password", { ownerPassword: "" }, "ownerPassword"],
      ["a short password", { ownerPassword: "1234567" }, "ownerPassword"],
      ["a password of too many bytes", { ownerPassword: "ü".repeat(37) }, "ownerPassword"],
      ["a password that is null", { ownerPassword: null }, "ownerPassword"],
      ["maxTrys of 0", { maxTrys: 0 }, "maxTrys"],
      ["maxTrys of 1.5", { maxTrys: 1.5 }, "maxTrys"],
      ["maxTrys as text", { maxTrys: "10" }, "maxTrys"],
      ["maxTrys of 1e9", { maxTrys: 1e9 }, "maxTrys"],
      ["circuitBreakerTimer of 0", { circuitBreakerTimer: 0 }, "circuitBreakerTimer"],
      ["circuitBreakerTimer null", { circuitBreakerTimer: null }, "circuitBreakerTimer"],
    ];
    for (const [what, fields, field] of bad) {
      it(`gives 400 naming ${field} for ${what}`, async () => {
        const answer = await create(fields);
        expect([answer.status, answer.text]).to.satisfy(
          ([status, text]: [number, string]) => status === 400 && text.startsWith(`${field}: `),
          answer.text,
        );
      });
    }

    it("gives 409 for a name that differs in case, spaces or composition only", async () => {
      const name = unique("Café");
      expect((await create({ name })).status).to.equal(201);
      for (const same of [name, name.toUpperCase(), `  ${name}  `, name.normalize("NFD")]) {
        const answer = await create({ name: same });
        expect([answer.status, answer.text]).to.deep.equal([409, "name: a tenant with this name exists already"]);
      }
    });

    it("gives 409 for an email in use, in any case, and frees the name that came with it", async () => {
      const name = unique("Once");
      for (const email of [one.viewer.email, one.owner.email.toUpperCase()]) {
        expect((await create({ name, ownerEmail: email })).status).to.equal(409);
      }
      expect((await create({ name })).status).to.equal(201);
    });
  });

  describe("reading", () => {
    it("gives every role its own tenant, without the secret", async () => {
      for (const { client } of [one.owner, one.admin, one.developer, one.viewer]) {
        const answer = await client.get(`/api/v1/tenants/${one.tenantId}`);
        expect(answer.status).to.equal(200);
        expect(shaped(answer, "tenant")).to.include({ id: one.tenantId, name: one.name });
      }
    });
  });

  describe("change", () => {
    it("changes only the given fields", async () => {
      const { owner, tenantId, name } = await createTenant(api.url);
      const path = `/api/v1/tenants/${tenantId}`;
      const answer = await owner.client.patch(path, { maxTrys: 3 });
      expect(answer.status).to.equal(200);
      expect(shaped(answer, "tenant")).to.include({ name, maxTrys: 3, circuitBreakerTimer: 300 });
      const renamed = unique("Renamed");
      await owner.client.patch(path, { name: renamed, circuitBreakerTimer: 5 });
      expect((await owner.client.get(path)).json).to.include({ name: renamed, maxTrys: 3, circuitBreakerTimer: 5 });
    });

    it("is dated at its append, not before the reservation of its name", async () => {
      const { owner, tenantId } = await createTenant(api.url);
      const path = `/api/v1/tenants/${tenantId}`;
      const { store } = api.world;
      const append = store.append.bind(store);
      const [begun, held] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
      store.append = async (...entries) => {
        begun.resolve();
        await held.promise;
        return append(...entries);
      };
      const slow = owner.client.patch(path, { name: unique("Renamed") });
      await begun.promise;
      store.append = append;
      engines.clock.advance(1_000);
      const quick = (await owner.client.patch(path, { maxTrys: 3 })).json;
      held.resolve();
      expect(Date.parse(String((await slow).json["updatedAt"]))).to.be.at.least(Date.parse(String(quick["updatedAt"])));
    });

    it("leaves updatedAt when nothing changes", async () => {
      const { owner, tenantId, name } = await createTenant(api.url);
      const before = (await owner.client.get(`/api/v1/tenants/${tenantId}`)).text;
      expect((await owner.client.patch(`/api/v1/tenants/${tenantId}`, { name, maxTrys: 10 })).text).to.equal(before);
      expect((await owner.client.patch(`/api/v1/tenants/${tenantId}`, {})).text).to.equal(before);
    });

    it("frees the old name, keeps the new one, and takes another spelling of the tenant's own name", async () => {
      const { owner, tenantId, name } = await createTenant(api.url);
      const path = `/api/v1/tenants/${tenantId}`;
      const renamed = unique("Renamed");
      expect((await owner.client.patch(path, { name: renamed })).status).to.equal(200);
      expect((await create({ name: renamed })).status).to.equal(409);
      expect((await create({ name })).status).to.equal(201);
      expect((await owner.client.patch(path, { name })).status).to.equal(409);
      expect((await owner.client.patch(path, { name: renamed.toUpperCase() })).json["name"]).to.equal(
        renamed.toUpperCase(),
      );
    });

    it("checks the body before the record and the role", async () => {
      const wrong = { maxTrys: 0 };
      expect((await one.owner.client.patch(`/api/v1/tenants/${nowhere}`, wrong)).status).to.equal(400);
      expect((await one.viewer.client.patch(`/api/v1/tenants/${one.tenantId}`, wrong)).status).to.equal(400);
      expect((await one.viewer.client.patch(`/api/v1/tenants/${one.tenantId}`, { name: " " })).status).to.equal(400);
      expect((await new Client(api.url).patch(`/api/v1/tenants/${one.tenantId}`, wrong)).status).to.equal(401);
      expect((await one.viewer.client.patch(`/api/v1/tenants/${one.tenantId}`, { name: other.name })).status).to.equal(
        403,
      );
      expect((await one.owner.client.patch(`/api/v1/tenants/${one.tenantId}`, { name: other.name })).status).to.equal(
        409,
      );
    });
  });

  describe("webhook secret", () => {
    const path = (tenantId: string) => `/api/v1/tenants/${tenantId}/webhook-secret`;

    it("is the secret shown at creation", async () => {
      const answer = await one.developer.client.get(path(one.tenantId));
      expect(shaped(answer, "webhook-secret")).to.deep.equal({ webhookSecret: one.webhookSecret });
    });

    it("is replaced by a POST", async () => {
      const { owner, tenantId, webhookSecret } = await createTenant(api.url);
      const answer = await owner.client.post(path(tenantId));
      expect(answer.status).to.equal(200);
      const fresh = shaped(answer, "webhook-secret")["webhookSecret"];
      expect(fresh).not.to.equal(webhookSecret);
      expect((await owner.client.get(path(tenantId))).json).to.deep.equal({ webhookSecret: fresh });
    });

    describe("with a grace period", () => {
      const fingerprint = (secret: unknown) => createHash("sha256").update(String(secret)).digest("hex").slice(0, 16);
      const given = (length: number) => `whsec_${Buffer.alloc(length, 7).toString("base64")}`;

      it("keeps the old secret until its end, and ends it on request", async () => {
        const { owner, tenantId, webhookSecret } = await createTenant(api.url);
        const answer = await owner.client.post(path(tenantId), { gracePeriodSeconds: 3600 });
        const fresh = shaped(answer, "webhook-secret");
        expect(fresh).to.have.all.keys("webhookSecret");
        const shown = shaped(await owner.client.get(path(tenantId)), "webhook-secret");
        const [previous, ...others] = shown["previous"] as { fingerprint: string; expiresAt: string }[];
        expect([shown["webhookSecret"], previous?.fingerprint, others]).to.deep.equal([
          fresh["webhookSecret"], fingerprint(webhookSecret), [],
        ]);
        expect(Date.parse(previous?.expiresAt ?? "") - Date.now()).to.be.within(3_500_000, 3_700_000);
        const payload = "{}";
        const verified = async (secret: unknown) => {
          const signature = `sha256=${createHmac("sha256", String(secret)).update(payload).digest("hex")}`;
          return (await owner.client.post(`${path(tenantId)}/verify`, { payload, signature })).json["valid"];
        };
        expect([await verified(webhookSecret), await verified(fresh["webhookSecret"])]).to.deep.equal([false, true]);
        for (let times = 0; times < 2; times += 1) {
          expect((await owner.client.post(`${path(tenantId)}/expire`)).status).to.equal(204);
          expect((await owner.client.get(path(tenantId))).json).to.deep.equal(fresh);
        }
        const { items } = (await owner.client.get(`/api/v1/tenants/${tenantId}/history`)).json as {
          items: { type: string }[];
        };
        expect(items.map(({ type }) => type)).to.deep.equal([
          "TenantCreated", "UserCreated", "WebhookSecretRegenerated", "WebhookSecretsExpired",
        ]);
      });

      it("takes a secret of 24 to 64 bytes", async () => {
        const { owner, tenantId } = await createTenant(api.url);
        for (const length of [24, 25, 26, 64]) {
          const answer = await owner.client.post(path(tenantId), { secret: given(length), gracePeriodSeconds: 0 });
          expect(shaped(answer, "webhook-secret")).to.deep.equal({ webhookSecret: given(length) });
        }
      });

      it("has 10 secrets at most", async () => {
        const { owner, tenantId } = await createTenant(api.url);
        const replaced = async () => (await owner.client.post(path(tenantId), { gracePeriodSeconds: 60 })).status;
        for (let count = 1; count < 10; count += 1) expect(await replaced()).to.equal(200);
        expect(await replaced()).to.equal(422);
      });

      for (const [body, field] of [
        [{ gracePeriodSeconds: -1 }, "gracePeriodSeconds"],
        [{ gracePeriodSeconds: 604_801 }, "gracePeriodSeconds"],
        [{ gracePeriodSeconds: 1.5 }, "gracePeriodSeconds"],
        [{ gracePeriodSeconds: "60" }, "gracePeriodSeconds"],
        [{ secret: given(23) }, "secret"],
        [{ secret: given(65) }, "secret"],
        [{ secret: given(32).slice(6) }, "secret"],
        [{ secret: given(32).replace(/=/g, "") }, "secret"],
        [{ secret: `${given(24)}_` }, "secret"],
        [{ secret: 1 }, "secret"],
        [{ gracePeriod: 60 }, "gracePeriod"],
      ] as const) {
        it(`gives 400 for ${JSON.stringify(body)}`, async () => {
          const answer = await one.owner.client.post(path(one.tenantId), body);
          expect([answer.status, answer.text.split(":")[0]]).to.deep.equal([400, field]);
        });
      }

      it("is 0 without a body, of whatever type", async () => {
        const { owner, tenantId } = await createTenant(api.url);
        const { token } = owner.client;
        for (const type of ["text/plain", "application/json"]) {
          const headers = { authorization: `Bearer ${token}`, "content-type": type };
          const answer = await fetch(`${api.url}${path(tenantId)}`, { method: "POST", headers });
          expect([answer.status, Object.keys(await answer.json() as object)]).to.deep.equal([200, ["webhookSecret"]]);
        }
      });
    });

    it("verifies only signatures of the exact form", async () => {
      const payload = '{"a":1.0,"ü":"\ud83d\ude00"}';
      const hex = (secret: string) => createHmac("sha256", secret).update(payload).digest("hex");
      const right = `sha256=${hex(one.webhookSecret)}`;
      const table: [string, boolean][] = [
        [right, true],
        [`sha256=${hex(other.webhookSecret)}`, false],
        [right.slice(0, -1), false],
        [right.slice(7), false],
        [`${right} `, false],
        [`sha1=${hex(one.webhookSecret)}`, false],
        [`SHA256=${hex(one.webhookSecret)}`, false],
        ["", false],
      ];
      for (const [signature, valid] of table) {
        const answer = await one.viewer.client.post(`${path(one.tenantId)}/verify`, { payload, signature });
        expect([answer.status, shaped(answer, "signature-validity")], signature).to.deep.equal([200, { valid }]);
      }
    });

    for (const body of [
      {},
      { payload: "x" },
      { signature: "x" },
      { payload: {}, signature: "x" },
      { payload: "x", signature: 1 },
    ]) {
      it(`gives 400 for verifying ${JSON.stringify(body)}`, async () => {
        expect((await one.owner.client.post(`${path(one.tenantId)}/verify`, body)).status).to.equal(400);
      });
    }
  });
});
