import { expect } from "chai";
import { openAccount, openIngest, type Account } from "../support/accounts.ts";
import { startApi, type TestApi } from "../support/api.ts";
import { describeOnEngines, inMemoryEngines, type SharedEngines } from "../support/api-engines.ts";
import { http, shaped, type HttpAnswer } from "../support/http.ts";

const nowhere = "00000000-0000-7000-8000-000000000000";
const path = (id: unknown, rest = "") => `/api/v1/senders/${String(id)}${rest}`;
/** The settings of a sender that does not fan out. */
const direct = { fanOut: false, eventTypePath: null, unmatched: null };
const jmespath = (expression: string) => ({ language: "jmespath", expression });

describeOnEngines("senders", (freshEngines) => {
  let engines: SharedEngines;
  let api: TestApi;
  let one: Account;
  let other: Account;
  let mine: Awaited<ReturnType<typeof openIngest>>;
  let theirs: Awaited<ReturnType<typeof openIngest>>;
  before(async () => {
    engines = await freshEngines();
    api = await startApi(engines, { maxBodyBytes: 10_000 });
    [one, other] = await Promise.all([openAccount(api.url), openAccount(api.url)]);
    mine = await openIngest(one.owner.client, one.tenantId);
    theirs = await openIngest(other.owner.client, other.tenantId);
  });
  after(() => api.close());
  afterEach(() => expect(api.errors).to.deep.equal([]));

  const create = (fields: object = {}, by = one.developer.client) =>
    by.post("/api/v1/senders", { name: "Shop", destinationUrlId: mine.destinationId, ...fields });
  const created = async (fields: object = {}) => {
    const answer = await create(fields);
    expect(answer.status, answer.text).to.equal(201);
    return { id: String(answer.json["id"]), token: String(answer.json["ingestToken"]) };
  };
  const send = (token: string, body: string, headers: Record<string, string> = {}, url = api.url) =>
    http("POST", `${url}/api/v1/ingest/${one.tenantId}/${token}`, {
      body, headers: { "content-type": "application/json", "x-api-key": mine.apiKey, ...headers },
    });
  const accepted = async (answer: HttpAnswer) => {
    expect(answer.status, answer.text).to.equal(202);
    const id = String(answer.json["eventId"]);
    const event = (await one.viewer.client.get(`/api/v1/events/${id}`)).json;
    const history = (await one.viewer.client.get(`/api/v1/events/${id}/history`)).json["items"];
    return { event, fact: (history as { data: Record<string, unknown> }[])[0]?.data };
  };

  describe("creation", () => {
    it("gives 201 with the token, and the defaults", async () => {
      const answer = await create({ name: " Shop ", destinationUrlId: mine.destinationId.toUpperCase() });
      expect(answer.status).to.equal(201);
      const { ingestToken, ...rest } = shaped(answer, "created-sender");
      const { id, createdAt, updatedAt, ...said } = rest;
      const { tenantId } = one;
      const { destinationId: destinationUrlId } = mine;
      const defaults = { status: "Active", mapping: null, searchFields: [], ...direct };
      expect(said).to.deep.equal({ tenantId, name: "Shop", destinationUrlId, ...defaults });
      expect(createdAt).to.equal(updatedAt);
      const read = await one.viewer.client.get(path(id));
      expect(shaped(read, "sender")).to.deep.equal(rest);
      const list = await one.viewer.client.get("/api/v1/senders?Qt=100&CpOrd=createdAt&TpOrd=desc");
      expect((shaped(list, "sender-page")["items"] as object[])[0]).to.deep.equal(rest);
      for (const { text } of [read, list]) expect(text).not.to.include(String(ingestToken));
    });

    it("keeps only the known fields of the mapping", async () => {
      const mapping = jmespath("{\n  id: id\n}");
      const answer = await create({ mapping: { ...mapping, extra: 1 } });
      expect(shaped(answer, "created-sender")["mapping"]).to.deep.equal(mapping);
    });

    it("counts the characters of a name after trimming", async () => {
      expect(shaped(await create({ name: `  ${"x".repeat(255)}  ` }), "created-sender")["name"]).to.have.length(255);
    });

    const bad: [object, string][] = [
      [{ name: undefined }, "name"],
      [{ name: " " }, "name"],
      [{ name: 5 }, "name"],
      [{ name: "a\nb" }, "name"],
      [{ name: "x".repeat(256) }, "name"],
      [{ destinationUrlId: undefined }, "destinationUrlId"],
      [{ destinationUrlId: "x" }, "destinationUrlId"],
      [{ destinationUrlId: 1 }, "destinationUrlId"],
      [{ mapping: "id" }, "mapping"],
      [{ mapping: [] }, "mapping"],
      [{ mapping: {} }, "mapping.language"],
      [{ mapping: { language: "jmespath" } }, "mapping.expression"],
      [{ mapping: { language: "jq", expression: "." } }, "mapping.language"],
      [{ mapping: { language: "jmespath", expression: 1 } }, "mapping.expression"],
      [{ mapping: jmespath("") }, "mapping.expression"],
      [{ mapping: jmespath("{") }, "mapping.expression"],
      [{ mapping: jmespath("a..b") }, "mapping.expression"],
      [{ mapping: jmespath("{a: nope(@)}") }, "mapping.expression"],
      [{ mapping: jmespath("{a: toString(@)}") }, "mapping.expression"],
      [{ mapping: jmespath("{a: &b}") }, "mapping.expression"],
      [{ mapping: jmespath("{a: '\ud800'}") }, "mapping.expression"],
      [{ mapping: jmespath(`{a: '${"x".repeat(4_096)}'}`) }, "mapping.expression"],
      [{ mapping: jmespath(`${"!".repeat(4_000)}a`) }, "mapping.expression"],
    ];
    for (const [fields, field] of bad) {
      it(`gives 400 naming ${field} for ${JSON.stringify(fields).slice(0, 90)}`, async () => {
        const answer = await create({ destinationUrlId: nowhere, ...fields }, one.viewer.client);
        expect([answer.status, answer.text.split(":")[0]], answer.text).to.deep.equal([400, field]);
        expect(answer.headers.get("content-type")).to.equal("text/plain; charset=utf-8");
      });
    }

    it("gives 404 for a deleted destination, and 403 for another tenant's", async () => {
      const foreign = await create({ destinationUrlId: theirs.destinationId });
      expect([foreign.status, foreign.text]).to.deep.equal([403, "the destination belongs to another tenant"]);
      const gone = await openIngest(one.owner.client, one.tenantId);
      await one.owner.client.delete(`/api/v1/destinations/${gone.destinationId}`);
      expect((await create({ destinationUrlId: gone.destinationId })).status).to.equal(404);
    });
  });

  describe("change", () => {
    it("changes the given fields, and shows them everywhere", async () => {
      const { id } = await created();
      const elsewhere = await openIngest(one.owner.client, one.tenantId);
      engines.clock.advance(1_000);
      const change = {
        name: "Till", destinationUrlId: elsewhere.destinationId, status: "inactive", mapping: jmespath("{id: id}"),
      };
      const answer = await one.developer.client.patch(path(id), change);
      expect(answer.status, answer.text).to.equal(200);
      const { createdAt, updatedAt, ...rest } = shaped(answer, "sender");
      const { tenantId } = one;
      expect(rest).to.deep.equal({ ...change, id, tenantId, status: "Inactive", searchFields: [], ...direct });
      expect(String(createdAt) < String(updatedAt)).to.equal(true);
      expect((await one.viewer.client.get(path(id))).text).to.equal(answer.text);
      const listed = (await one.viewer.client.get("/api/v1/senders?Qt=100")).json["items"] as { id: string }[];
      expect(listed.find((item) => item.id === id)).to.deep.equal(answer.json);
      expect((await one.developer.client.patch(path(id), {})).text).to.equal(answer.text);
      const back = await one.developer.client.patch(path(id), { mapping: null, status: "active" });
      expect(back.json).to.include({ mapping: null, status: "Active", name: "Till" });
    });

    it("takes the status in any case", async () => {
      const { id } = await created();
      for (const status of ["Inactive", "Active", "INACTIVE", "aCTIVE"]) {
        const shown = shaped(await one.developer.client.patch(path(id), { status }), "sender")["status"];
        expect(shown).to.equal(status.toLowerCase() === "active" ? "Active" : "Inactive");
      }
    });

    const bad: [object, string][] = [
      [{ name: "" }, "name"],
      [{ name: null }, "name"],
      [{ destinationUrlId: "x" }, "destinationUrlId"],
      [{ status: "Suspended" }, "status"],
      [{ status: "" }, "status"],
      [{ status: null }, "status"],
      [{ status: "suspended" }, "status"],
      [{ mapping: jmespath("[") }, "mapping.expression"],
      [{ mapping: { expression: "a" } }, "mapping.language"],
      [{ mapping: false }, "mapping"],
    ];
    for (const [change, field] of bad) {
      it(`gives 400 naming ${field} for ${JSON.stringify(change)}`, async () => {
        const answer = await one.viewer.client.patch(path(nowhere), change);
        expect([answer.status, answer.text.split(":")[0]], answer.text).to.deep.equal([400, field]);
      });
    }
  });

  it("has its token replaced: the old one is unknown at once, the new one works at once", async () => {
    const { id, token } = await created();
    const answer = await one.developer.client.post(path(id, "/ingest-token"));
    expect(answer.status).to.equal(200);
    const fresh = String(shaped(answer, "sender-ingest-token")["ingestToken"]);
    expect([(await send(token, "{}")).status, (await send(fresh, "{}")).status]).to.deep.equal([404, 202]);
  });

  it("is deleted with 204, and gives 404 from then on, for its token too", async () => {
    const { id, token } = await created();
    const answer = await one.developer.client.delete(path(id));
    expect([answer.status, answer.text]).to.deep.equal([204, ""]);
    const later = [
      one.owner.client.get(path(id)),
      one.owner.client.patch(path(id), {}),
      one.owner.client.delete(path(id)),
      one.owner.client.post(path(id, "/ingest-token")),
      one.owner.client.post(path(id, "/test-mapping"), { payload: {} }),
      send(token, "{}"),
    ];
    for (const { status } of await Promise.all(later)) expect(status).to.equal(404);
    const listed = (await one.owner.client.get("/api/v1/senders?Qt=100")).json["items"] as { id: string }[];
    expect(listed.map((item) => item.id)).not.to.include(id);
  });

  describe("that fan out", () => {
    const fanOut = (fields: object = {}) => create({ destinationUrlId: undefined, fanOut: true, ...fields });

    it("are created without a destination, with defaults, and shown everywhere", async () => {
      const answer = await fanOut();
      expect(answer.status, answer.text).to.equal(201);
      const { ingestToken: _, ...sender } = shaped(answer, "created-sender");
      const defaults = { destinationUrlId: null, fanOut: true, eventTypePath: null, unmatched: "accept" };
      expect(sender).to.deep.include(defaults);
      expect((await one.viewer.client.get(path(sender["id"]))).json).to.deep.equal(sender);
      const list = await one.viewer.client.get("/api/v1/senders?Qt=100&CpOrd=createdAt&TpOrd=desc");
      expect(list.json["items"]).to.deep.include(sender);
    });

    it("change how they fan out, but not that they do", async () => {
      const { id } = await created({ destinationUrlId: undefined, fanOut: true, unmatched: "refuse" });
      const change = { eventTypePath: "/type", unmatched: null, fanOut: true };
      const answer = await one.developer.client.patch(path(id), change);
      expect(answer.json, answer.text).to.deep.include({ ...change, unmatched: "accept" });
      for (const [fields, text] of [
        [{ fanOut: false }, "fanOut: never changes; create another sender"],
        [
          { destinationUrlId: mine.destinationId },
          "destinationUrlId: must be absent, since a sender that fans out has subscriptions",
        ],
      ] as const) {
        const refused = await one.developer.client.patch(path(id), fields);
        expect([refused.status, refused.text]).to.deep.equal([400, text]);
      }
    });

    it("have no destination, and others none of their settings", async () => {
      const { destinationId: destinationUrlId } = mine;
      for (const [fields, text] of [
        [
          { fanOut: true, destinationUrlId },
          "destinationUrlId: must be absent, since a sender that fans out has subscriptions",
        ],
        [{ destinationUrlId: undefined }, "destinationUrlId: is required, unless fanOut is true"],
        [{ eventTypePath: "/type" }, "eventTypePath: is for senders that fan out"],
        [{ unmatched: "refuse" }, "unmatched: is for senders that fan out"],
        [{ eventTypePath: "type" }, "eventTypePath: must be a JSON Pointer such as /customer/id"],
        [{ unmatched: "drop" }, "unmatched: must be one of accept, refuse, null"],
      ] as const) {
        const refused = await create(fields);
        expect([refused.status, refused.text]).to.deep.equal([400, text]);
      }
      const { id } = await created();
      const refused = await one.developer.client.patch(path(id), { unmatched: "refuse" });
      expect([refused.status, refused.text]).to.deep.equal([400, "unmatched: is for senders that fan out"]);
      expect((await one.developer.client.patch(path(id), { unmatched: null })).status).to.equal(200);
    });
  });

  describe("ingest", () => {
    it("stores the result of the mapping, and the original beside it", async () => {
      const { id, token } = await created({ mapping: jmespath("{order: data.id, skus: data.lines[*].sku}") });
      const body = '{ "data": {"id": 9007199254740993, "lines": [{"sku":"a"},{"sku":"ü"}]}, "x":1.0}';
      const { event, fact } = await accepted(await send(token, body));
      const payload = '{"order":9007199254740993,"skus":["a","ü"]}';
      expect(event).to.include({ payload, destinationUrlId: mine.destinationId, status: "Pending" });
      expect(fact).to.include({ senderId: id, senderRevision: 0, payload, original: body });
      expect(fact).to.include({ destinationId: mine.destinationId });
    });

    it("stores the received text unchanged without a mapping", async () => {
      const { id, token } = await created();
      const body = ' {"a":1.0,"a":1e400}\n';
      const { event, fact } = await accepted(await send(token, body));
      expect(event["payload"]).to.equal(body);
      expect(fact).to.include({ senderId: id, payload: body, original: null });
    });

    it("uses a changed destination and mapping from the next request on", async () => {
      const { id, token } = await created({ mapping: jmespath("{v: `1`}") });
      const elsewhere = await openIngest(one.owner.client, one.tenantId);
      await one.developer.client.patch(path(id), {
        destinationUrlId: elsewhere.destinationId, mapping: jmespath("{v: `2`}"),
      });
      const { event, fact } = await accepted(await send(token, "{}"));
      expect(event).to.include({ payload: '{"v":2}', destinationUrlId: elsewhere.destinationId });
      const history = (await one.viewer.client.get(path(id, "/history?TpOrd=Desc&Qt=1"))).json["items"];
      expect(fact).to.include({ senderRevision: 2 });
      expect((history as object[])[0]).to.include({ revision: 2 });
      await one.developer.client.patch(path(id), { mapping: null });
      expect((await accepted(await send(token, "{}"))).event["payload"]).to.equal("{}");
    });

    const failing: [string, string][] = [
      ["an array", "lines"],
      ["null", "missing"],
      ["a number", "length(@)"],
      ["a boolean", "a == b"],
      ["a text", "to_string(@)"],
      ["a failing function", "{x: sum(lines)}"],
      ["an undefined variable", "{x: $nope}"],
      ["an endless number", "{x: a / `1e-308` / `1e-308`}"],
    ];
    for (const [what, expression] of failing) {
      it(`gives 400 for a mapping that yields ${what}, and stores nothing`, async () => {
        const { token } = await created({ mapping: jmespath(expression) });
        const { total } = (await one.owner.client.get("/api/v1/events?Qt=1")).json;
        const answer = await send(token, '{"a":1,"b":2,"lines":["x"]}');
        expect([answer.status, answer.text.split(":")[0]], answer.text).to.deep.equal([400, "body"]);
        expect((await one.owner.client.get("/api/v1/events?Qt=1")).json["total"]).to.equal(total);
      });
    }

    it("gives 422 while the sender or its destination is closed, yet 200 for a duplicate", async () => {
      const target = await openIngest(one.owner.client, one.tenantId);
      const { destinationId: destinationUrlId } = target;
      const { id, token } = await created({ destinationUrlId, mapping: jmespath("data") });
      const keyed = { "x-idempotency-key": `first ${id}` };
      const first = await accepted(await send(token, '{"data":{"n":1}}', keyed));
      const closed = async (why: string) => {
        const refused = await send(token, '{"data":{}}');
        expect([refused.status, refused.text]).to.deep.equal([422, why]);
        expect((await send(token, '{"data":1}')).status).to.equal(400);
        for (const body of ['{"data":{"n":2}}', '{"data":1}']) {
          const again = await send(token, body, keyed);
          expect([again.status, again.json["eventId"]]).to.deep.equal([200, first.event["id"]]);
          expect(shaped(again, "duplicate")["payload"]).to.equal('{"n":1}');
        }
      };
      await one.owner.client.patch(path(id), { status: "inactive" });
      await closed("the sender is inactive");
      await one.owner.client.patch(path(id), { status: "active" });
      await one.owner.client.patch(`/api/v1/destinations/${destinationUrlId}`, { status: "inactive" });
      await closed("the destination is inactive");
      await one.owner.client.patch(`/api/v1/destinations/${destinationUrlId}`, { status: "active" });
      await accepted(await send(token, '{"data":{}}'));
      await one.owner.client.delete(`/api/v1/destinations/${destinationUrlId}`);
      await closed("the sender's destination was deleted");
      const read = await one.viewer.client.get(path(id));
      expect(shaped(read, "sender")).to.include({ status: "Active", destinationUrlId });
    });

    describe("while the mapping runs", () => {
      /** Calls `happens` while the next mapping runs. */
      const meanwhile = (happens: () => Promise<HttpAnswer>) => {
        const { mappings } = api.world;
        const apply = mappings.apply.bind(mappings);
        mappings.apply = async (...given) => {
          mappings.apply = apply;
          expect((await happens()).status).to.be.oneOf([200, 204]);
          return apply(...given);
        };
      };

      it("is refused if the key is revoked", async () => {
        const { token } = await created({ mapping: jmespath("{v: `1`}") });
        const key = (await one.owner.client.post("/api/v1/api-keys", { name: "short-lived" })).json;
        meanwhile(() => one.owner.client.delete(`/api/v1/api-keys/${String(key["id"])}`));
        expect((await send(token, "{}", { "x-api-key": String(key["key"]) })).status).to.equal(401);
      });

      it("is refused if the sender is deleted or set inactive", async () => {
        const { id, token } = await created({ mapping: jmespath("{v: `1`}") });
        meanwhile(() => one.owner.client.patch(path(id), { status: "inactive" }));
        expect((await send(token, "{}")).status).to.equal(422);
        await one.owner.client.patch(path(id), { status: "active" });
        meanwhile(() => one.owner.client.delete(path(id)));
        expect((await send(token, "{}")).status).to.equal(404);
      });

      it("maps again if the mapping changes", async () => {
        const { id, token } = await created({ mapping: jmespath("{v: `1`}") });
        meanwhile(() => one.owner.client.patch(path(id), { mapping: jmespath("{v: `2`}") }));
        const { event, fact } = await accepted(await send(token, "{}"));
        expect(event["payload"]).to.equal('{"v":2}');
        expect(fact).to.include({ senderRevision: 1 });
      });
    });

    it("gives 404 for a token of the other kind, 403 for another tenant's", async () => {
      const { token } = await created();
      expect((await send(token.replace("sndr_", "dst_"), "{}")).status).to.equal(404);
      expect((await send(mine.ingestToken.replace("dst_", "sndr_"), "{}")).status).to.equal(404);
      const fields = { name: "Theirs", destinationUrlId: theirs.destinationId };
      const foreign = await other.owner.client.post("/api/v1/senders", fields);
      expect((await send(String(foreign.json["ingestToken"]), "{}")).status).to.equal(403);
    });

    it("shares idempotency keys with the destinations' own tokens", async () => {
      const { token } = await created();
      const headers = { "x-idempotency-key": `shared ${token}` };
      expect((await send(token, "{}", headers)).status).to.equal(202);
      expect((await send(mine.ingestToken, "{}", headers)).status).to.equal(200);
    });

    it("works in a process that does not know the sender yet: it reads the log", async () => {
      const late = await startApi(engines, { followsLog: false });
      try {
        const { token } = await created({ mapping: jmespath("{late: `true`}") });
        expect((await accepted(await send(token, "{}", {}, late.url))).event["payload"]).to.equal('{"late":true}');
      } finally {
        await late.close();
      }
    });

    it("gives 400 for a result larger than a body may be", async () => {
      const { token } = await created({ mapping: jmespath("{a: a, b: a, c: a}") });
      expect((await send(token, JSON.stringify({ a: "x".repeat(3_000) }))).status).to.equal(202);
      const answer = await send(token, JSON.stringify({ a: "x".repeat(3_400) }));
      expect([answer.status, answer.text]).to.deep.equal([
        400, "body: the sender's mapping yields more than 10000 bytes",
      ]);
    });
  });
});

describe("senders, while the read models are behind", () => {
  it("accept events at once, by their newest token", async () => {
    const engines = await inMemoryEngines();
    const api = await startApi(engines);
    try {
      const { tenantId, owner: { client } } = await openAccount(api.url);
      const { destinationId: destinationUrlId, apiKey } = await openIngest(client, tenantId);
      const release = engines.holdBackProjector();
      const sender = (await client.post("/api/v1/senders", { name: "Shop", destinationUrlId })).json;
      const fresh = (await client.post(path(sender["id"], "/ingest-token"))).json;
      for (const [{ ingestToken }, status] of [[fresh, 202], [sender, 404]] as const) {
        if (status === 404) release();
        const url = `${api.url}/api/v1/ingest/${tenantId}/${String(ingestToken)}`;
        expect((await http("POST", url, { json: {}, headers: { "x-api-key": apiKey } })).status).to.equal(status);
      }
      release();
    } finally {
      await api.close();
      await engines.close();
    }
  });
});
