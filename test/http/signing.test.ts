import { createHash } from "node:crypto";
import { expect } from "chai";
import { type Account } from "../support/accounts.ts";
import type { TestApi } from "../support/api.ts";
import { describeOnEngines } from "../support/api-engines.ts";
import { apiStage } from "../support/api-stage.ts";
import { http, shaped } from "../support/http.ts";

const fingerprint = (secret: unknown) => createHash("sha256").update(String(secret)).digest("hex").slice(0, 16);

describeOnEngines("a destination's own secret and key", (freshEngines) => {
  let api: TestApi;
  let one: Account;
  apiStage(freshEngines, (stage) => ({ api, one } = stage));

  const destination = async () => {
    const { id } = await one.owner.client.api.createDestination({ url: "https://receiver.example/hook" });
    const { client } = one.developer;
    const path = `/api/v1/destinations/${id}`;
    const secret = `${path}/signing-secret`;
    return {
      id, path,
      set: async (body?: object) => {
        const answer = await client.post(secret, body);
        return { status: answer.status, secret: answer.status === 200 ? answer.json["webhookSecret"] : null };
      },
      get: async () => shaped(await client.get(secret), "webhook-secret"),
      previous: async () => (await client.get(secret)).json["previous"] as { fingerprint: string }[] | undefined,
      statuses: async () => [
        (await client.get(secret)).status, (await client.post(`${secret}/expire`)).status,
        (await client.delete(secret)).status,
      ],
      expire: async () => (await client.post(`${secret}/expire`)).status,
      key: async () => client.post(`${path}/signing-key`),
      removeKey: async () => (await client.delete(`${path}/signing-key`)).status,
    };
  };
  const keys = (tenantId: string) => http("GET", `${api.url}/api/v1/tenants/${tenantId}/signing-keys`);

  it("answers 404 without a secret", async () => {
    const { statuses, removeKey } = await destination();
    expect([...(await statuses()), await removeKey()]).to.deep.equal([404, 404, 404, 404]);
  });

  it("overlaps with the tenant's secret, then with older ones of its own, each until its end", async () => {
    const { set, get, previous, expire, statuses } = await destination();
    const first = await set({ gracePeriodSeconds: 3_600 });
    expect((await previous())?.map((each) => each.fingerprint)).to.deep.equal([fingerprint(one.webhookSecret)]);
    const second = await set({ gracePeriodSeconds: 60 });
    expect((await previous())?.map((each) => each.fingerprint)).to.deep.equal(
      [first.secret, one.webhookSecret].map(fingerprint));
    for (let times = 0; times < 2; times += 1) expect(await expire()).to.equal(204);
    expect(await get()).to.deep.equal({ webhookSecret: second.secret });
    const third = await set();
    expect(await get()).to.deep.equal({ webhookSecret: third.secret });
    expect(await statuses()).to.deep.equal([200, 204, 204]);
  });

  it("has 10 secrets at most, the tenant's among them", async () => {
    const { set } = await destination();
    for (let count = 1; count < 10; count += 1) expect((await set({ gracePeriodSeconds: 60 })).status).to.equal(200);
    expect((await set({ gracePeriodSeconds: 60 })).status).to.equal(422);
    expect((await set({ gracePeriodSeconds: 0 })).status).to.equal(200);
  });

  it("takes a given secret, and refuses a bad one", async () => {
    const { set } = await destination();
    const given = `whsec_${Buffer.alloc(24, 7).toString("base64")}`;
    expect(await set({ secret: given })).to.deep.equal({ status: 200, secret: given });
    for (const body of [{ secret: given.slice(6) }, { gracePeriodSeconds: -1 }, { grace: 1 }]) {
      expect((await set(body)).status).to.equal(400);
    }
  });

  it("shows public keys to anyone, until they are removed or their destination is deleted", async () => {
    const [removed, deleted, kept] = [await destination(), await destination(), await destination()];
    await removed.key();
    await deleted.key();
    await kept.key();
    const { publicKey } = shaped(await kept.key(), "signing-key");
    expect(await removed.removeKey()).to.equal(204);
    await one.owner.client.delete(deleted.path);
    expect(shaped(await keys(one.tenantId), "signing-keys")).to.deep.equal({
      keys: [{ destinationUrlId: kept.id, publicKey }],
    });
    expect((await keys("00000000-0000-7000-8000-000000000000")).status).to.equal(404);
  });
});
