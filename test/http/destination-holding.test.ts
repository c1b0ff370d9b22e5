import { expect } from "chai";
import { circuits } from "../../src/features/circuits/facts.ts";
import { openIngest, type Account } from "../support/accounts.ts";
import type { TestApi } from "../support/api.ts";
import { describeOnEngines } from "../support/api-engines.ts";
import { apiStage } from "../support/api-stage.ts";
import { attemptEnded, tellCircuit } from "../support/circuits.ts";
import { http, shaped } from "../support/http.ts";

const nowhere = "00000000-0000-7000-8000-000000000000";
const url = "https://receiver.example/hook";
const path = (id: unknown, rest = "") => `/api/v1/destinations/${String(id)}${rest}`;

describeOnEngines("posts to a suspended destination", (freshEngines) => {
  let api: TestApi;
  let one: Account;
  apiStage(freshEngines, (stage) => ({ api, one } = stage));

  const register = (fields: object = {}) => one.developer.client.post("/api/v1/destinations", { url, ...fields });
  const change = async (id: unknown, fields: object) => {
    const answer = await one.developer.client.patch(path(id), fields);
    expect(answer.status, answer.text).to.equal(200);
    return shaped(answer, "destination");
  };
  const opened = async () => {
    const { destinationId: id, path: ingest, apiKey } = await openIngest(one.owner.client, one.tenantId);
    const post = async (headers: Record<string, string> = {}) => {
      const answer = await http("POST", api.url + ingest, { json: {}, headers: { "x-api-key": apiKey, ...headers } });
      return { status: answer.status, retryAfter: answer.headers.get("retry-after") ?? undefined, text: answer.text };
    };
    const suspend = async () => {
      await tellCircuit(api.world, { destinationId: id, tenantId: one.tenantId }, attemptEnded(nowhere, false));
      return Date.parse((await api.world.aggregates.current(circuits, id)).state!.openUntil!);
    };
    return { id, post, suspend };
  };

  it("are refused with the seconds until it is tried again, those to an inactive one without", async () => {
    const { id, post, suspend } = await opened();
    const openUntil = await suspend();
    for (const idempotencyKey of ["one", "two"]) {
      const before = Date.now();
      const { status, retryAfter } = await post({ "x-idempotency-key": idempotencyKey });
      expect(status).to.equal(422);
      expect(retryAfter).to.match(/^[1-9]\d*$/);
      expect(Number(retryAfter)).to.be.within((openUntil - Date.now()) / 1_000, (openUntil - before) / 1_000 + 1);
    }
    await change(id, { status: "inactive" });
    expect(await post()).to.deep.equal({ status: 422, retryAfter: undefined, text: "the destination is inactive" });
  });

  it("are accepted while it holds them, but not while it is inactive", async () => {
    const { id, post, suspend } = await opened();
    await suspend();
    expect((await post()).status).to.equal(422);
    await change(id, { whenSuspended: "hold" });
    expect((await post()).status).to.equal(202);
    expect((await one.viewer.client.get(path(id))).json["health"]).to.deep.include({ waiting: 1 });
    await change(id, { status: "inactive" });
    expect(await post()).to.deep.equal({ status: 422, retryAfter: undefined, text: "the destination is inactive" });
    await change(id, { status: "active", whenSuspended: null });
    await suspend();
    expect((await post()).status).to.equal(422);
  });

  it("are refused unless whenSuspended says hold, which null resets, and history and audit tell", async () => {
    for (const fields of [{}, { whenSuspended: null }, { whenSuspended: "reject" }]) {
      const { ingestToken: _, ...created } = shaped(await register(fields), "created-destination");
      expect(created).to.include({ whenSuspended: "reject" });
      expect(shaped(await one.viewer.client.get(path(created["id"])), "destination")).to.deep.equal(created);
    }
    const { id, whenSuspended } = (await register({ whenSuspended: "hold" })).json;
    expect(whenSuspended).to.equal("hold");
    expect(await change(id, { whenSuspended: null })).to.include({ whenSuspended: "reject" });
    expect(await change(id, { whenSuspended: "hold" })).to.include({ whenSuspended: "hold" });
    const last = await change(id, { whenSuspended: "hold", url });
    const { items } = (await one.viewer.client.get("/api/v1/destinations?Qt=100")).json;
    expect(items).to.deep.include(last);
    for (const from of [path(id, "/history"), `/api/v1/audit?SubjectId=${String(id)}&TpOrd=asc`]) {
      const told = (await one.viewer.client.get(from)).json["items"] as { type: string; changes?: object[] }[];
      const holding = told.filter(({ type }) => type === "DestinationHoldingChanged");
      expect(holding.map(({ changes }) => changes)).to.deep.equal([
        [{ field: "whenSuspended", from: "hold", to: "reject" }],
        [{ field: "whenSuspended", from: "reject", to: "hold" }],
      ]);
    }
  });

  for (const whenSuspended of ["", "Hold", "drop", true, 1, ["hold"], {}]) {
    it(`are 400 naming whenSuspended for ${JSON.stringify(whenSuspended)}`, async () => {
      const { id } = (await register()).json;
      const patched = await one.developer.client.patch(path(id), { whenSuspended });
      const answers = [await register({ whenSuspended }), patched];
      for (const { status, text } of answers) {
        expect([status, text.split(":")[0]], text).to.deep.equal([400, "whenSuspended"]);
      }
    });
  }
});
