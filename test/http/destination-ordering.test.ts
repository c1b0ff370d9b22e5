import { expect } from "chai";
import { type Account } from "../support/accounts.ts";
import { describeOnEngines } from "../support/api-engines.ts";
import { apiStage } from "../support/api-stage.ts";
import { shaped } from "../support/http.ts";

const url = "https://receiver.example/hook";
const path = (id: unknown, rest = "") => `/api/v1/destinations/${String(id)}${rest}`;

describeOnEngines("the ordering of a destination", (freshEngines) => {
  let one: Account;
  apiStage(freshEngines, (stage) => ({ one } = stage));

  const register = (fields: object = {}) => one.developer.client.post("/api/v1/destinations", { url, ...fields });
  const change = (id: unknown, fields: object) => one.developer.client.patch(path(id), fields);

  it("is none unless it is given, in every answer", async () => {
    for (const fields of [{}, { ordering: null }, { ordering: "none" }]) {
      const created = shaped(await register(fields), "created-destination");
      expect(created).to.include({ ordering: "none" });
      expect(shaped(await one.viewer.client.get(path(created["id"])), "destination")).to.include({ ordering: "none" });
    }
  });

  it("is taken, listed, changed and reset, and its history tells the value before", async () => {
    const by = { by: "/customer/a~1b" };
    const { id, ordering } = (await register({ ordering: by })).json;
    expect(ordering).to.deep.equal(by);
    const list = (await one.viewer.client.get("/api/v1/destinations?CpOrd=createdAt&TpOrd=desc")).json;
    expect((list["items"] as readonly object[])[0]).to.deep.include({ id, ordering: by });
    for (const [given, shown] of [["destination", "destination"], [by, by], [by, by], [null, "none"]]) {
      const answer = await change(id, { ordering: given });
      expect([answer.status, answer.json["ordering"]]).to.deep.equal([200, shown]);
    }
    expect((await change(id, { serverRateLimit: 3 })).json).to.include({ ordering: "none" });
    const { items } = (await one.viewer.client.get(`${path(id, "/history")}?TpOrd=asc`)).json as {
      items: readonly { type: string; changes?: readonly object[] }[];
    };
    const changes = items.filter(({ type }) => type === "DestinationOrderingChanged").map((fact) => fact.changes);
    expect(changes).to.have.deep.members([
      [{ field: "ordering", from: by, to: "destination" }], [{ field: "ordering", from: "destination", to: by }],
      [{ field: "ordering", from: by, to: "none" }],
    ]);
    const types = "Type=DestinationOrderingChanged";
    const audit = await one.viewer.client.get(`/api/v1/audit?SubjectId=${String(id)}&${types}`);
    expect((audit.json["items"] as readonly object[])[0]).to.have.deep.property("changes", [
      { field: "ordering", from: by, to: "none" },
    ]);
  });

  for (const [value, field] of [
    ["Destination", "ordering"], ["", "ordering"], [1, "ordering"], [[], "ordering"], [{}, "ordering.by"],
    [{ by: null }, "ordering.by"], [{ by: "" }, "ordering.by"], [{ by: "customer" }, "ordering.by"],
    [{ by: "/a~2" }, "ordering.by"], [{ by: "/a~" }, "ordering.by"], [{ by: `/${"x".repeat(1_024)}` }, "ordering.by"],
    [{ by: "/a", and: 1 }, "ordering.and"],
  ] as const) {
    it(`is 400 naming ${field} for ${JSON.stringify(value).slice(0, 60)}`, async () => {
      const { id } = (await register()).json;
      for (const answer of [await register({ ordering: value }), await change(id, { ordering: value })]) {
        expect([answer.status, answer.text.split(":")[0]], answer.text).to.deep.equal([400, field]);
      }
    });
  }

  it("cannot change while an event waits, and is not to be changed by others", async () => {
    const { id, ingestToken } = (await register({ ordering: "destination" })).json;
    const { apiKey } = (await one.developer.client.post("/api/v1/api-keys", { name: "producer" })).json;
    const ingest = `/api/v1/ingest/${one.tenantId}/${String(ingestToken)}`;
    const headers = { "x-api-key": String(apiKey) };
    const posted = await one.viewer.client.with().call("POST", ingest, { json: { n: 1 }, headers });
    expect(posted.status).to.equal(202);
    for (const ordering of ["none", null, { by: "/n" }]) {
      const answer = await change(id, { ordering, serverRateLimit: 2 });
      expect([answer.status, answer.text.split(":")[0]]).to.deep.equal([422, "ordering"]);
    }
    expect((await change(id, { ordering: "destination", serverRateLimit: 2 })).json).to.include({ serverRateLimit: 2 });
    expect((await one.viewer.client.patch(path(id), { ordering: "none" })).status).to.equal(403);
    await one.developer.client.post(`/api/v1/events/${String(posted.json["eventId"])}/cancel`, {});
    expect((await change(id, { ordering: null })).json).to.include({ ordering: "none" });
  });
});
