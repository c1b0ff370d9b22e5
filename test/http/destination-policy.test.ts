import { expect } from "chai";
import { openAccount, type Account } from "../support/accounts.ts";
import { startApi, type TestApi } from "../support/api.ts";
import { describeOnEngines, type SharedEngines } from "../support/api-engines.ts";
import { shaped } from "../support/http.ts";

const url = "https://receiver.example/hook";
const path = (id: unknown, rest = "") => `/api/v1/destinations/${String(id)}${rest}`;

/** Each setting with valid values, and with values that are refused, each naming the field at fault. */
const settings: Readonly<Record<string, {
  readonly good: readonly unknown[];
  readonly bad: readonly (readonly [value: unknown, field: string])[];
}>> = {
  timeoutMs: {
    good: [1_000, 60_000],
    bad: [999, 60_001, 1_000.5, "5000", {}].map((value) => [value, "timeoutMs"]),
  },
};
const names = Object.keys(settings);
const unset = Object.fromEntries(names.map((name) => [name, null]));

describeOnEngines("the settings of a destination that say how it is tried", (freshEngines) => {
  let engines: SharedEngines;
  let api: TestApi;
  let one: Account;
  before(async () => {
    engines = await freshEngines();
    api = await startApi(engines);
    one = await openAccount(api.url);
  });
  after(() => api.close());
  afterEach(() => expect(api.errors).to.deep.equal([]));

  const register = (fields: object = {}) => one.developer.client.post("/api/v1/destinations", { url, ...fields });
  const change = (id: unknown, fields: object) => one.developer.client.patch(path(id), fields);
  const changesIn = async (from: string) => {
    const { items } = (await one.viewer.client.get(from)).json as {
      items: readonly { type: string; data: object; changes?: readonly object[] }[];
    };
    return items.filter(({ type }) => type === "DestinationPolicyChanged").map(({ changes }) => changes);
  };

  it("are null unless they are given, in every answer", async () => {
    for (const fields of [{}, unset]) {
      const answer = await register(fields);
      const { ingestToken: _, ...created } = shaped(answer, "created-destination");
      expect(created).to.include(unset);
      expect(shaped(await one.viewer.client.get(path(created["id"])), "destination")).to.deep.equal(created);
      const { items } = (await one.viewer.client.get(`${path("").slice(0, -1)}?CpOrd=createdAt&TpOrd=desc`)).json;
      expect((items as readonly object[])[0]).to.deep.equal(created);
    }
  });

  for (const [name, { good, bad }] of Object.entries(settings)) {
    it(`take ${name}, tell its changes, and reset it by null`, async () => {
      for (const value of good) {
        const { id, [name]: created } = (await register({ [name]: value })).json;
        expect(created).to.deep.equal(value);
        const reset = await change(id, { [name]: null });
        expect([reset.status, reset.json[name]]).to.deep.equal([200, null]);
        const { json: set } = await change(id, { [name]: value });
        expect(set).to.deep.include({ ...unset, [name]: value });
        expect((await change(id, { url })).json).to.deep.equal(set);
        expect((await change(id, { [name]: value })).json).to.deep.equal(set);
        expect(shaped(await one.viewer.client.get(path(id)), "destination")).to.deep.equal(set);
        const expected = [[{ field: name, from: value, to: null }], [{ field: name, from: null, to: value }]];
        expect(await changesIn(path(id, "/history"))).to.deep.equal(expected);
        expect(await changesIn(`/api/v1/audit?SubjectId=${String(id)}&TpOrd=asc`)).to.deep.equal(expected);
      }
    });

    for (const [value, field] of bad) {
      it(`give 400 naming ${field} for ${JSON.stringify({ [name]: value }).slice(0, 90)}`, async () => {
        const { id } = (await register()).json;
        for (const answer of [await register({ [name]: value }), await change(id, { [name]: value })]) {
          expect([answer.status, answer.text.split(":")[0]], answer.text).to.deep.equal([400, field]);
        }
      });
    }
  }
});
