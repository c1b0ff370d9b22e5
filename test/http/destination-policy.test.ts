import { expect } from "chai";
import { type Account } from "../support/accounts.ts";
import { describeOnEngines } from "../support/api-engines.ts";
import { apiStage } from "../support/api-stage.ts";
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
  ratePerSecond: {
    good: [0.1, 2.5, 10_000], bad: [0, 0.09, 10_000.1, -1, "5", true, [5]].map((value) => [value, "ratePerSecond"]),
  },
  retryPolicy: {
    good: [
      { schedule: ["1ms", "365d", "250ms", "5s", "5m", "2h"], maxTrys: 1 },
      { schedule: Array.from({ length: 50 }, () => "5s"), maxTrys: 10_000, retryOn: [] },
      { schedule: ["5s"], maxTrys: 3, retryOn: ["429", "301", "3xx", "4xx", "5xx", "timeout", "connection"] },
    ],
    bad: [
      ["5s", "retryPolicy"], [[], "retryPolicy"],
      [{ schedule: ["5s"] }, "retryPolicy.maxTrys"], [{ maxTrys: 3 }, "retryPolicy.schedule"],
      [{ schedule: [], maxTrys: 3 }, "retryPolicy.schedule"], [{ schedule: "5s", maxTrys: 3 }, "retryPolicy.schedule"],
      [{ schedule: Array.from({ length: 51 }, () => "5s"), maxTrys: 3 }, "retryPolicy.schedule"],
      ...[0, 10_001, 1.5, "3", null].map((maxTrys) => [{ schedule: ["5s"], maxTrys }, "retryPolicy.maxTrys"] as const),
      ...["0s", "366d", "5", "5 s", "5S", "1.5s", "-5s", "", 5, "9".repeat(40)].map((wait) =>
        [{ schedule: ["5s", wait], maxTrys: 3 }, "retryPolicy.schedule.1"] as const),
      ...["200", "2xx", "204", "42", "4290", "1xx", "5XX", "Timeout", "tls", "", 429].map((outcome) =>
        [{ schedule: ["5s"], maxTrys: 3, retryOn: ["429", outcome] }, "retryPolicy.retryOn.1"] as const),
      [{ schedule: ["5s"], maxTrys: 3, retryOn: ["429", "5xx", "429"] }, "retryPolicy.retryOn.2"],
      [{ schedule: ["5s"], maxTrys: 3, retryOn: "429" }, "retryPolicy.retryOn"],
    ],
  },
  circuit: {
    good: [{ failures: 1, timer: 1 }, { failures: 10_000, timer: 31_536_000 }],
    bad: [
      [5, "circuit"], [{}, "circuit.failures"], [{ failures: 5 }, "circuit.timer"], [{ timer: 5 }, "circuit.failures"],
      ...[0, 10_001, "5", 1.5, null].map((failures) => [{ failures, timer: 5 }, "circuit.failures"] as const),
      ...[0, 31_536_001, "5s", null].map((timer) => [{ failures: 5, timer }, "circuit.timer"] as const),
    ],
  },
  expireAfterDays: {
    good: [1, 365], bad: [0, 366, 1.5, "7", [7]].map((value) => [value, "expireAfterDays"]),
  },
  disableAfterDays: {
    good: [1, 30], bad: [0, 31, 1.5, "7", [7]].map((value) => [value, "disableAfterDays"]),
  },
};
const names = Object.keys(settings);
const unset = Object.fromEntries(names.map((name) => [name, null]));

describeOnEngines("the settings of a destination that say how it is tried", (freshEngines) => {
  let one: Account;
  apiStage(freshEngines, (stage) => ({ one } = stage));

  const register = (fields: object = {}) => one.developer.client.post("/api/v1/destinations", { url, ...fields });
  const change = (id: unknown, fields: object) => one.developer.client.patch(path(id), fields);
  const changesIn = async (from: string) => {
    const { items } = (await one.viewer.client.get(from)).json as {
      items: readonly { type: string; data: object; changes?: readonly object[] }[];
    };
    const types = ["DestinationPolicyChanged", "DestinationPaceChanged"];
    return items.filter(({ type }) => types.includes(type)).map(({ changes }) => changes);
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

  it("are kept without fields that they do not have", async () => {
    const { json } = await register({
      retryPolicy: { schedule: ["5s"], maxTrys: 3, retryon: ["429"] }, circuit: { failures: 5, timer: 60, more: 1 },
    });
    expect(json).to.deep.include({
      retryPolicy: { schedule: ["5s"], maxTrys: 3 }, circuit: { failures: 5, timer: 60 },
    });
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
