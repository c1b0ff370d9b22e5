import { once } from "node:events";
import { request, type IncomingMessage } from "node:http";
import { text } from "node:stream/consumers";
import { expect } from "chai";
import { createTenant, openAccount, openIngest, unique, type Account } from "../support/accounts.ts";
import { startApi, type TestApi } from "../support/api.ts";
import { describeOnEngines } from "../support/api-engines.ts";
import { http, shaped, type HttpOptions } from "../support/http.ts";
import { Deliveries } from "../support/outcomes.ts";

const nowhere = "00000000-0000-7000-8000-000000000000";

describeOnEngines("ingest", (freshEngines) => {
  let api: TestApi;
  let one: Account;
  let other: Account;
  let mine: Awaited<ReturnType<typeof openIngest>>;
  let theirs: Awaited<ReturnType<typeof openIngest>>;
  before(async () => {
    api = await startApi(await freshEngines(), { maxBodyBytes: 10_000 });
    [one, other] = await Promise.all([openAccount(api.url), openAccount(api.url)]);
    mine = await openIngest(one.owner.client, one.tenantId);
    theirs = await openIngest(other.owner.client, other.tenantId);
  });
  after(() => api.close());
  afterEach(() => expect(api.errors).to.deep.equal([]));

  const send = (options: HttpOptions & { path?: string; key?: string | null } = {}) => {
    const { path = mine.path, key = mine.apiKey, ...rest } = options;
    const headers = { ...(key === null ? {} : { "x-api-key": key }), ...rest.headers };
    return http("POST", api.url + path, {
      ...(rest.body === undefined ? { json: rest.json ?? {} } : { body: rest.body }),
      headers,
    });
  };
  const at = (tenantId: string, token: string) => `/api/v1/ingest/${tenantId}/${token}`;

  it("gives 202, and the event is readable at once", async () => {
    const answer = await send({ json: { a: 1 } });
    expect(answer.status).to.equal(202);
    const { eventId, status, acceptedAt } = shaped(answer, "acceptance");
    const read = await one.viewer.client.get(`/api/v1/events/${String(eventId)}`);
    expect(shaped(read, "event")).to.deep.equal({
      id: eventId,
      tenantId: one.tenantId,
      destinationUrlId: mine.destinationId,
      payload: '{"a":1}',
      status,
      idempotencyKey: null,
      currentRetryCount: 0,
      nextAttemptAt: acceptedAt,
      acceptedAt,
      deliveredAt: null,
      senderId: null,
      messageId: null,
      eventType: null,
      ownerId: null,
      tags: null,
      test: false,
      sourceEventId: null,
    });
  });

  it("keeps the received text unchanged", async () => {
    const texts = [
      '{"a":1.0,"a":1e400,"b":12345678901234567890}',
      ' {\n"ü":"\\u00fc\\ud800 \u{1f600}"}\r\n',
      '{"__proto__":{"x":1}}',
      "{}",
    ];
    for (const body of texts) {
      const { eventId } = (await send({ body })).json;
      expect((await one.owner.client.get(`/api/v1/events/${String(eventId)}`)).json["payload"]).to.equal(body);
    }
  });

  it("gives 400 for a body that is not a JSON object in UTF-8", async () => {
    const bytes = (...values: number[]) => new Uint8Array(values);
    const nested = (depth: number) => `${'{"a":'.repeat(depth - 1)}{}${"}".repeat(depth - 1)}`;
    const lists = (depth: number) => `{"a":${"[".repeat(depth - 1)}${"]".repeat(depth - 1)}}`;
    const bodies: (string | Uint8Array<ArrayBuffer>)[] = [
      "",
      " ",
      "null",
      "[]",
      "5",
      '"text"',
      "true",
      "{",
      "{]",
      "{'a':1}",
      '{"a":1,}',
      '{"a":01}',
      '{"a":NaN}',
      "{} {}",
      '{"a":"\n"}',
      bytes(0x7b, 0x22, 0xff, 0x22, 0x3a, 0x31, 0x7d),
      bytes(0xef, 0xbb, 0xbf, 0x7b, 0x7d),
      bytes(0x7b, 0, 0x7d, 0),
      nested(129),
      lists(129),
      "[".repeat(9_999),
    ];
    for (const body of bodies) {
      const answer = await send({ body });
      expect([answer.status, answer.text.split(":")[0]], String(body).slice(0, 40)).to.deep.equal([400, "body"]);
    }
    for (const body of [
      nested(128),
      lists(128),
      JSON.stringify({ lines: Array.from({ length: 200 }, () => ({ tags: [] })) }),
      `{"a":"${"[{".repeat(500)}"}`,
      `{"a":"\\"${"[".repeat(300)}\\\\","b":"${"{".repeat(300)}"}`,
    ]) {
      expect((await send({ body })).status, body.slice(0, 40)).to.equal(202);
    }
  });

  it("gives 415 for another content type, 413 for too large a body", async () => {
    for (const type of [
      "text/plain",
      "application/x-www-form-urlencoded",
      "application/jsonx",
      "application/json; charset=latin1",
      "",
    ]) {
      expect((await send({ headers: { "content-type": type } })).status, type).to.equal(415);
    }
    for (const [encoding, status] of [["gzip", 415], ["identity", 202], ["Identity", 202]] as const) {
      expect((await send({ headers: { "content-encoding": encoding } })).status, encoding).to.equal(status);
    }
    for (const type of [
      "application/json; charset=utf-8",
      'Application/JSON;charset="UTF-8"',
      "application/cloudevents+json",
      "application/json; v=1",
    ]) {
      expect((await send({ headers: { "content-type": type } })).status, type).to.equal(202);
    }
    expect((await send({ json: { a: "x".repeat(10_000) } })).status).to.equal(413);
    expect((await send({ body: `{"a":"${"x".repeat(9_992)}"}` })).status).to.equal(202);
  });

  describe("checks in order", () => {
    const bad = { headers: { "x-idempotency-key": "" }, body: "no json" };
    const table: [string, () => HttpOptions & { path?: string; key?: string | null }, number][] = [
      ["no key", () => ({ ...bad, key: null, path: at("x", "x") }), 401],
      ["an empty key", () => ({ ...bad, key: "" }), 401],
      ["an unknown key", () => ({ ...bad, key: "rk_unknown", path: at("x", "x") }), 401],
      ["a token as key", () => ({ ...bad, key: mine.ingestToken }), 401],
      ["a token of another kind", () => ({ ...bad, path: at(nowhere, "abc_123") }), 400],
      ["a token that cannot be decoded", () => ({ ...bad, path: at(nowhere, "%zz") }), 400],
      ["an unknown tenant", () => ({ ...bad, path: at(nowhere, "dst_x") }), 404],
      ["no tenant's id", () => ({ ...bad, path: at("%00", "dst_x") }), 404],
      ["a key of another tenant", () => ({ ...bad, path: at(other.tenantId, "dst_x") }), 403],
      ["another's key for my path", () => ({ ...bad, key: theirs.apiKey }), 403],
      ["an unknown token", () => ({ ...bad, path: at(one.tenantId, "dst_x") }), 404],
      ["an unknown sender token", () => ({ ...bad, path: at(one.tenantId, "sndr_x") }), 404],
      ["a token of another tenant", () => ({ ...bad, path: at(one.tenantId, theirs.ingestToken) }), 403],
      ["an empty idempotency key", () => ({ ...bad, headers: { ...bad.headers, "content-type": "text/plain" } }), 400],
      ["a bad body", () => ({ body: "no json" }), 400],
    ];
    for (const [what, options, expected] of table) {
      it(`gives ${expected} for ${what}`, async () => {
        const answer = await send(options());
        expect(answer.status, answer.text).to.equal(expected);
        expect(answer.headers.get("content-type")).to.equal("text/plain; charset=utf-8");
      });
    }

    it("takes the tenant's id in any case", async () => {
      expect((await send({ path: at(one.tenantId.toUpperCase(), mine.ingestToken) })).status).to.equal(202);
    });
  });

  describe("idempotency", () => {
    const keyed = (key: string, json: object = {}, to = mine) =>
      send({ path: to.path, key: to.apiKey, json, headers: { "x-idempotency-key": key } });

    it("gives the first event to every repetition, with its current status", async () => {
      const key = unique("order 1");
      const first = (await keyed(key, { n: 1 })).json;
      await new Deliveries(api.world).succeed(String(first["eventId"]));
      const again = await keyed(key, { n: 2 });
      expect(again.status).to.equal(200);
      const { eventId, ...event } = shaped(again, "duplicate");
      expect(eventId).to.equal(first["eventId"]);
      expect(event).to.include({ id: eventId, payload: '{"n":1}', status: "Succeeded", idempotencyKey: key });
      expect(event["acceptedAt"]).to.equal(first["acceptedAt"]);
      expect(event).to.deep.equal((await one.owner.client.get(`/api/v1/events/${String(eventId)}`)).json);
    });

    it("is per tenant", async () => {
      const key = unique("shared");
      const ours = (await keyed(key)).json["eventId"];
      const answer = await keyed(key, {}, theirs);
      expect([answer.status, answer.json["eventId"] === ours]).to.deep.equal([202, false]);
    });

    it("holds across destinations of the tenant", async () => {
      const second = await openIngest(one.owner.client, one.tenantId);
      const key = unique("both");
      expect((await keyed(key)).status).to.equal(202);
      const answer = await keyed(key, {}, second);
      expect([answer.status, answer.json["destinationUrlId"]]).to.deep.equal([200, mine.destinationId]);
    });

    it("takes 255 characters, of any script, and refuses more, empty ones and control characters", async () => {
      const utf8 = (text: string) => Buffer.from(text, "utf8").toString("latin1");
      const { tenantId, owner } = await createTenant(api.url);
      const fresh = await openIngest(owner.client, tenantId);
      const sent = (key: string) => keyed(key, {}, fresh);
      for (const key of ["k".repeat(255), utf8("ключ-".repeat(51)), utf8("\u{1f600}".repeat(255))]) {
        expect([(await sent(key)).status, (await sent(key)).status]).to.deep.equal([202, 200]);
      }
      expect((await sent(utf8("schlüssel"))).status).to.equal(202);
      expect((await sent(utf8("schlüssel"))).json["idempotencyKey"]).to.equal("schlüssel");
      for (const key of ["k".repeat(256), utf8("\u{1f600}".repeat(256)), "", " ", "a\tb", utf8("a\u0085b")]) {
        const answer = await sent(key);
        expect([answer.status, answer.text.split(":")[0]], key).to.deep.equal([400, "X-Idempotency-Key"]);
      }
    });

    it("refuses two keys, and takes one with a comma in it", async () => {
      const sent = async (...keys: string[]) => {
        const headers = { "content-type": "application/json", "x-api-key": mine.apiKey, "X-Idempotency-Key": keys };
        const [answer] = (await once(
          request(api.url + mine.path, { method: "POST", headers }).end("{}"), "response",
        )) as [IncomingMessage];
        return { status: answer.statusCode, text: await text(answer) };
      };
      const [one, two] = [unique("one"), unique("two")];
      expect((await sent(`${one}, ${two}`)).status).to.equal(202);
      for (const keys of [[one, two], ["", one], [one, one, two]]) {
        expect(await sent(...keys)).to.deep.equal({ status: 400, text: "X-Idempotency-Key: must be given once" });
      }
      expect((await sent(`${one}, ${two}`)).status).to.equal(200);
    });

    it("has one winner among parallel requests", async () => {
      const key = unique("race");
      const answers = await Promise.all(Array.from({ length: 50 }, (_, n) => keyed(key, { n })));
      const statuses = answers.map(({ status }) => status);
      expect(statuses.filter((status) => status === 202)).to.have.length(1);
      expect(statuses.filter((status) => status === 200)).to.have.length(49);
      expect(new Set(answers.map(({ json }) => json["eventId"]))).to.have.length(1);
    });
  });

  it("gives 422 while the destination is not Active, yet 200 to a repetition", async () => {
    const closed = await openIngest(one.owner.client, one.tenantId);
    const headers = { "x-idempotency-key": unique("before") };
    expect((await send({ path: closed.path, headers })).status).to.equal(202);
    await one.owner.client.patch(`/api/v1/destinations/${closed.destinationId}`, { status: "inactive" });
    expect((await send({ path: closed.path })).status).to.equal(422);
    expect((await send({ path: closed.path, body: "no json" })).status).to.equal(400);
    expect((await send({ path: closed.path, headers })).status).to.equal(200);
    await one.owner.client.patch(`/api/v1/destinations/${closed.destinationId}`, { status: "active" });
    expect((await send({ path: closed.path })).status).to.equal(202);
  });

  it("answers other methods and longer paths like any path", async () => {
    for (const method of ["GET", "PUT", "DELETE", "PATCH"]) {
      const answer = await http(method, api.url + mine.path);
      expect([answer.status, answer.headers.get("allow")]).to.deep.equal([405, "OPTIONS, POST"]);
    }
    const options = await http("OPTIONS", api.url + mine.path);
    expect([options.status, options.headers.get("allow")]).to.deep.equal([204, "OPTIONS, POST"]);
    expect(options.headers.get("x-request-id"), "X-Request-Id").to.be.a("string");
    // RFC 9110 forbids a 204 a length, and some proxies refuse a 204 with one.
    for (const name of ["content-length", "content-type"]) expect(options.headers.get(name), name).to.equal(null);
    for (const path of [`${mine.path}/x`, "/api/v1/ingest/", `/api/v1/ingest/${one.tenantId}`, `${mine.path}/`]) {
      expect((await send({ path })).status, path).to.equal(404);
    }
    expect((await send({ path: `${mine.path}?a=b` })).status).to.equal(202);
  });
});
