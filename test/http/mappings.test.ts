import { expect } from "chai";
import { openAccount, openIngest, type Account } from "../support/accounts.ts";
import { startApi, type TestApi } from "../support/api.ts";
import { describeOnEngines } from "../support/api-engines.ts";
import { http, shaped } from "../support/http.ts";

const path = (id: unknown, rest = "") => `/api/v1/senders/${String(id)}${rest}`;
interface Preview {
  readonly tried: number;
  readonly same: number;
  readonly differ: readonly { readonly eventId: string; readonly before: string; readonly after: string }[];
  readonly failed: readonly { readonly eventId: string; readonly error: string }[];
}

const jmespath = (expression: string) => ({ language: "jmespath", expression });

describeOnEngines("tests of mappings", (freshEngines) => {
  let api: TestApi;
  let one: Account;
  let destinationUrlId: string;
  let apiKey: string;
  before(async () => {
    api = await startApi(await freshEngines(), { maxBodyBytes: 10_000 });
    one = await openAccount(api.url);
    ({ destinationId: destinationUrlId, apiKey } = await openIngest(one.owner.client, one.tenantId));
  });
  after(() => api.close());
  afterEach(() => expect(api.errors).to.deep.equal([]));

  const created = async (fields: object = {}) => {
    const answer = await one.developer.client.post("/api/v1/senders", { name: "Shop", destinationUrlId, ...fields });
    expect(answer.status, answer.text).to.equal(201);
    return { id: String(answer.json["id"]) };
  };

  describe("test-mapping", () => {
    const mapping = jmespath("{order: id, total: sum(lines[*].price)}");
    const test = (id: string, payload: unknown, by = one.viewer.client) =>
      by.post(path(id, "/test-mapping"), { payload });

    it("gives every role the result for an object or for JSON text", async () => {
      const { id } = await created({ mapping });
      const payload = { id: 7, lines: [{ price: 1.5 }, { price: 2 }] };
      for (const { client } of [one.owner, one.admin, one.developer, one.viewer]) {
        for (const given of [payload, JSON.stringify(payload)]) {
          const answer = await test(id, given, client);
          expect([answer.status, answer.headers.get("content-type")]).to.deep.equal([
            200, "application/json; charset=utf-8",
          ]);
          expect(shaped(answer, "mapping-result")).to.deep.equal({ result: { order: 7, total: 3.5 } });
        }
      }
      expect((await one.viewer.client.get("/api/v1/events")).text).not.to.include('"order\\":7');
    });

    it("shows exactly the text that would be delivered", async () => {
      const { id } = await created({ mapping: jmespath("{order: id}") });
      const digits = "12345678901234567890";
      expect((await test(id, `{"id":${digits}}`)).text).to.equal(`{"result":{"order":${digits}}}`);
      const { id: plain } = await created();
      expect((await test(plain, '{ "id":1.0}')).text).to.equal('{"result":{ "id":1.0}}');
    });

    it("keeps every digit of a payload given as an object", async () => {
      const { id } = await created();
      const body = '{"payload":{},"x":{"payload":1}, "payload" : { "id":12345678901234567890, "y":["},",1.0]} }';
      const answer = await one.viewer.client.call("POST", path(id, "/test-mapping"), { body });
      expect(answer.text).to.equal('{"result":{ "id":12345678901234567890, "y":["},",1.0]}}');
    });

    it("gives 400 naming the payload for a payload that cannot be mapped", async () => {
      const { id } = await created({ mapping });
      const deep = `${'{"a":'.repeat(128)}{}${"}".repeat(128)}`;
      for (const payload of [undefined, null, 5, [], "", "[]", "5", "{", "\ufeff{}", '{"a":"\ud800"}', deep, {}]) {
        const answer = await test(id, payload);
        expect([answer.status, answer.text.split(":")[0]], answer.text).to.deep.equal([400, "payload"]);
      }
      const { id: plain } = await created();
      for (const given of [5, "[]"]) expect((await test(plain, given)).text).to.equal("payload: must be a JSON object");
      expect((await test(plain, deep)).text).to.equal("payload: must not be nested deeper than 128");
      expect((await test(plain, '{"a":"\ud800"}')).text).to.equal("payload: must be well-formed Unicode");
      const { id: list } = await created({ mapping: jmespath("lines") });
      const answer = await test(list, { lines: [] });
      expect([answer.status, answer.text]).to.deep.equal([400, "payload: the mapping yields an array, not an object"]);
    });
  });

  describe("test of a mapping that no sender has", () => {
    const mapping = jmespath("{order: id, total: sum(lines[*].price)}");
    const test = (body: object, by = one.viewer.client) => by.post("/api/v1/mappings/test", body);

    it("gives every role the result and its text, and stores nothing", async () => {
      const payload = { id: 7, lines: [{ price: 1.5 }, { price: 2 }] };
      for (const { client } of [one.owner, one.admin, one.developer, one.viewer]) {
        for (const given of [payload, JSON.stringify(payload)]) {
          const answer = await test({ mapping, payload: given }, client);
          expect([answer.status, answer.headers.get("content-type")]).to.deep.equal([
            200, "application/json; charset=utf-8",
          ]);
          expect(shaped(answer, "mapped-payload")).to.deep.equal({
            result: { order: 7, total: 3.5 }, text: '{"order":7,"total":3.5}',
          });
        }
      }
      expect((await one.viewer.client.get("/api/v1/events")).text).not.to.include('"order\\":7');
    });

    it("shows every digit in the text, of a payload given either way", async () => {
      const digits = "12345678901234567890";
      const texts = [`{"id":${digits}}`, JSON.stringify(`{"id":${digits}}`)];
      for (const payload of texts) {
        const body = `{"mapping":${JSON.stringify(jmespath("{order: id}"))},"payload":${payload}}`;
        const answer = await one.viewer.client.call("POST", "/api/v1/mappings/test", { body });
        expect(answer.json["text"]).to.equal(`{"order":${digits}}`);
        expect(answer.text).to.include(`{"result":{"order":${digits}},`);
      }
    });

    it("gives 400 naming the mapping or the payload at fault", async () => {
      const refused = async (body: object) => {
        const { status, text } = await test(body);
        return [status, text.split(":")[0]];
      };
      for (const payload of [undefined, null, 5, [], "", "[]", "{", "\ufeff{}", '{"a":"\ud800"}', {}]) {
        expect(await refused({ mapping, payload })).to.deep.equal([400, "payload"]);
      }
      for (const wrong of [undefined, null, "{a: b}"]) {
        expect(await refused({ mapping: wrong, payload: {} })).to.deep.equal([400, "mapping"]);
      }
      for (const expression of ["", "{", "nope(@)", "\ud800", "a".repeat(4097), 5]) {
        const wrong = { language: "jmespath", expression };
        expect(await refused({ mapping: wrong, payload: {} })).to.deep.equal([400, "mapping.expression"]);
      }
      expect(await refused({ mapping: { language: "jsonata", expression: "a" }, payload: {} })).to.deep.equal(
        [400, "mapping.language"],
      );
      expect((await test({ mapping: jmespath("lines"), payload: { lines: [] } })).text).to.equal(
        "payload: the mapping yields an array, not an object",
      );
    });
  });

  describe("preview of a mapping", () => {
    const mapping = jmespath("{order: id}");
    const preview = (body: object, by = one.viewer.client) => by.post("/api/v1/mappings/preview", body);

    const opened = async (fields: object = {}) => {
      const body = { name: "Shop", destinationUrlId, ...fields };
      const { json } = await one.developer.client.post("/api/v1/senders", body);
      const { id, ingestToken } = json as { id: string; ingestToken: string };
      const post = async (body: string) => {
        const headers = { "x-api-key": apiKey, "content-type": "application/json" };
        const posted = await http("POST", `${api.url}/api/v1/ingest/${one.tenantId}/${ingestToken}`, { body, headers });
        expect(posted.status, posted.text).to.equal(202);
        return String(posted.json["eventId"]);
      };
      return { id, post };
    };

    it("compares, for every role, what a mapping makes of received bodies with the payloads made of them", async () => {
      const { id: senderId, post } = await opened({ mapping });
      await post('{"id":1,"more":true}');
      const other = await post('{"id":2,"lines":[2,3],"total":12345678901234567890}');
      const failing = await post('{"id":3,"lines":"many"}');
      const changed = jmespath("lines && {sum: sum(lines), total: total, order: id} || {order: id}");
      for (const { client } of [one.owner, one.admin, one.developer, one.viewer]) {
        const answer = await preview({ senderId, mapping: changed, last: 200 }, client);
        expect(answer.status, answer.text).to.equal(200);
        const { tried, same, differ, failed } = shaped(answer, "mapping-preview") as unknown as Preview;
        expect([tried, same]).to.deep.equal([3, 1]);
        const after = '{"sum":5,"total":12345678901234567890,"order":2}';
        expect(differ).to.deep.equal([{ eventId: other, before: '{"order":2}', after }]);
        expect(failed.map(({ eventId }) => eventId)).to.deep.equal([failing]);
        expect(failed[0]?.error).to.match(/^the mapping /);
      }
      const newest = await preview({ senderId: senderId.toUpperCase(), mapping, last: 1 });
      expect(newest.json).to.deep.equal({ tried: 1, same: 1, differ: [], failed: [] });
    });

    it("takes another order of fields and other white space for the same, but not a text for a number", async () => {
      const { id: senderId, post } = await opened();
      await post('{ "b": 1.0, "a": "x" }');
      await post('{"b":12345678901234567890,"a":"x"}');
      const swapped = await preview({ senderId, mapping: jmespath("{a: a, b: b}"), last: 9 });
      expect(swapped.json).to.deep.equal({ tried: 2, same: 2, differ: [], failed: [] });
      const text = await preview({ senderId, mapping: jmespath("{a: a, b: to_string(b)}"), last: 1 });
      expect(text.json["differ"]).to.have.length(1);
    });

    it("shows 20 of each kind at most, the newest first, and nothing of other senders", async () => {
      const { id: senderId, post } = await opened();
      const posted: string[] = [];
      for (let n = 0; n < 45; n += 1) posted.push(await post(n % 2 ? `{"n":${n}}` : `{"n":${n},"is":true}`));
      await (await opened()).post("{}");
      const { json } = await preview({ senderId, mapping: jmespath("is && {n: n} || n"), last: 45 });
      const { tried, same, differ, failed } = json as unknown as Preview;
      expect([tried, same, differ.length, failed.length]).to.deep.equal([45, 0, 20, 20]);
      const even = posted.filter((_, n) => n % 2 === 0);
      expect(differ.map(({ eventId }) => eventId)).to.deep.equal(even.slice(-20).reverse());
      expect(differ[0]?.after).to.equal('{"n":44}');
    });

    it("gives 400 naming the field at fault, 404 for no sender and 403 for another tenant's", async () => {
      const { id: senderId } = await opened();
      const good = { senderId, mapping, last: 9 };
      const table: [object, string][] = [
        ...[0, 201, 1.5, "9", null, undefined].map((last) => [{ ...good, last }, "last"] as [object, string]),
        [{ ...good, senderId: "x" }, "senderId"], [{ ...good, senderId: undefined }, "senderId"],
        [{ ...good, mapping: null }, "mapping"], [{ ...good, mapping: jmespath("nope(@)") }, "mapping.expression"],
      ];
      for (const [body, field] of table) {
        const { status, text } = await preview(body);
        expect([status, text.split(":")[0]], text).to.deep.equal([400, field]);
      }
      expect((await preview({ ...good, senderId: destinationUrlId })).status).to.equal(404);
      const foreign = await openAccount(api.url);
      expect((await preview(good, foreign.owner.client)).status).to.equal(403);
      await one.developer.client.delete(path(senderId));
      expect((await preview(good)).status).to.equal(404);
    });
  });
});
