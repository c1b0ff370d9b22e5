import { expect } from "chai";
import {
  createService, openAccount, openIngest, unique, type Account, type Client,
} from "../support/accounts.ts";
import { startApi, type TestApi } from "../support/api.ts";
import { describeOnEngines, type SharedEngines } from "../support/api-engines.ts";
import { http, shaped } from "../support/http.ts";

interface Found {
  readonly kind: string;
  readonly id: string;
  readonly label: string;
  readonly matched: string;
}

describeOnEngines("lookup", (freshEngines) => {
  let engines: SharedEngines;
  let api: TestApi;
  let one: Account;
  let other: Account;
  let ingest: Awaited<ReturnType<typeof openIngest>>;
  before(async () => {
    engines = await freshEngines();
    api = await startApi(engines);
    [one, other] = await Promise.all([openAccount(api.url), openAccount(api.url)]);
    ingest = await openIngest(one.owner.client, one.tenantId);
  });
  after(() => api.close());
  afterEach(() => expect(api.errors).to.deep.equal([]));

  const look = async (text: string, by: Client = one.viewer.client) => {
    const answer = await by.get(`/api/v1/lookup?Q=${encodeURIComponent(text)}`);
    expect(answer.status, answer.text).to.equal(200);
    return (shaped(answer, "found-items") as { readonly items: readonly Found[] }).items;
  };
  const post = async (headers: Readonly<Record<string, string>> = {}) => {
    const sent = { json: {}, headers: { "x-api-key": ingest.apiKey, ...headers } };
    const answer = await http("POST", api.url + ingest.path, sent);
    expect(answer.status, answer.text).to.equal(202);
    return { id: String(answer.json["eventId"]), requestId: answer.headers.get("x-request-id") ?? "" };
  };

  it("finds an event by its id in any case, its idempotency key, request, and the value of a tag", async () => {
    const key = unique("key");
    const [order, ours] = [unique("order"), unique("request")];
    const event = await post({
      "x-idempotency-key": key, "x-event-type": "order.paid", "x-tags": `a=1,order=${order},zone=eu`,
      "x-request-id": ours,
    });
    const plain = await post();
    const found = (matched: string) => [{ kind: "event", id: event.id, label: "order.paid", matched }];
    expect(await look(event.id)).to.deep.equal(found("id"));
    expect(await look(event.id.toUpperCase())).to.deep.equal(found("id"));
    expect(await look(key)).to.deep.equal(found("idempotencyKey"));
    expect(await look(order)).to.deep.equal(found("tag:order"));
    expect(await look(ours)).to.deep.equal(found("correlationId"));
    expect(await look(plain.requestId))
      .to.deep.equal([{ kind: "event", id: plain.id, label: plain.id, matched: "correlationId" }]);
    expect(await look(key.slice(1))).to.deep.equal([]);
  });

  it("finds the newest five events of a type or an owner, behind those with a tag of this value", async () => {
    const text = unique("shop");
    const tagged = await post({ "x-tags": `shop=${text}`, "x-event-type": text });
    const typed = [];
    for (let n = 0; n < 6; n += 1) typed.push((await post({ "x-event-type": text })).id);
    const owned = await post({ "x-owner-id": text });
    const items = await look(text);
    expect(items.map(({ id, matched }) => [id, matched])).to.deep.equal([
      [tagged.id, "tag:shop"],
      ...typed.toReversed().slice(0, 5).map((id) => [id, "eventType"]),
      [owned.id, "ownerId"],
    ]);
  });

  it("finds things by id, or by a part of their name, URL or email in any case, the best match first", async () => {
    const { client } = one.owner;
    const word = unique("Tülle");
    const url = `https://example.com/${encodeURIComponent(word)}`;
    const { id: destination } = await client.api.createDestination({ url });
    const sender = await client.api.createSender({ name: `A ${word}`, destinationUrlId: destination });
    const apiKey = await client.api.createApiKey({ name: word });
    const account = await client.api.createServiceAccount({ name: `${word} job`, role: 20 });
    expect(await look(word.toUpperCase())).to.deep.equal([
      { kind: "apiKey", id: apiKey.id, label: word, matched: "name" },
      { kind: "serviceAccount", id: account.id, label: `${word} job`, matched: "name" },
      { kind: "sender", id: sender.id, label: `A ${word}`, matched: "name" },
    ]);
    expect(await look(encodeURIComponent(word).toLowerCase())).to.deep.equal([
      { kind: "destination", id: destination, label: url, matched: "url" },
    ]);
    await client.api.updateDestination({ id: destination }, { name: `The ${word}` });
    const named = { kind: "destination", id: destination, label: `The ${word}` };
    expect(await look(word)).to.deep.include({ ...named, matched: "name" });
    expect(await look(encodeURIComponent(word))).to.deep.equal([{ ...named, matched: "url" }]);
    const { id, email } = one.admin;
    expect(await look(email.toUpperCase())).to.deep.equal([{ kind: "user", id, label: email, matched: "email" }]);
    for (const thing of [destination, sender.id, apiKey.id, account.id, id]) {
      expect((await look(thing)).map((item) => [item.id, item.matched]), thing).to.deep.equal([[thing, "id"]]);
    }
  });

  it("answers at most 20 items", async () => {
    const name = unique("many");
    for (let n = 0; n < 21; n += 1) await one.owner.client.api.createApiKey({ name: `${name} ${n}` });
    expect(await look(name)).to.have.length(20);
  });

  it("answers every role alike, and a service key as far as its scopes let it list", async () => {
    const text = unique("seen");
    await post({ "x-tags": `order=${text}` });
    const url = `https://example.com/${text}`;
    const { id: destinationUrlId } = await one.owner.client.api.createDestination({ url });
    await one.owner.client.api.createSender({ name: text, destinationUrlId });
    const kinds = async (client: Client) => (await look(text, client)).map(({ kind }) => kind);
    for (const { client } of [one.owner, one.admin, one.developer, one.viewer]) {
      expect(await kinds(client)).to.deep.equal(["sender", "event", "destination"]);
    }
    const keyed = async (...scopes: NonNullable<Parameters<typeof createService>[2]>) =>
      kinds((await createService(one.owner.client, "viewer", scopes)).client);
    expect(await keyed("events:read")).to.deep.equal(["event"]);
    expect(await keyed("senders:read", "destinations:write")).to.deep.equal(["sender", "destination"]);
    expect(await keyed("portal:write")).to.deep.equal([]);
  });

  it("finds nothing of another tenant", async () => {
    const { client } = one.owner;
    const text = unique("secret");
    const event = await post({
      "x-idempotency-key": text, "x-event-type": text, "x-owner-id": text, "x-tags": `order=${text}`,
    });
    const { id } = await client.api.createSender({ name: text, destinationUrlId: ingest.destinationId });
    const ids = [event.id, event.requestId, id, ingest.destinationId, one.owner.id, ingest.apiKeyId];
    for (const asked of [text, one.owner.email, ...ids]) {
      expect(await look(asked, other.owner.client), asked).to.deep.equal([]);
      expect(await look(asked), asked).not.to.deep.equal([]);
    }
  });

  it("shows no deleted events and things", async () => {
    const { client } = one.owner;
    const { id } = await client.api.createSender({ name: unique("gone"), destinationUrlId: ingest.destinationId });
    await client.api.deleteSender({ id });
    expect(await look(id)).to.deep.equal([]);
  });

  it("refuses a text that is missing, empty, too long or given twice", async () => {
    for (const [query, message] of [
      ["", "Q: is required"], ["?Q=", "Q: must not be empty"], ["?Q=a&Q=b", "Q: must be given once"],
      ["?q=a", "q: must be spelt Q"],
    ] as const) {
      const answer = await one.viewer.client.get(`/api/v1/lookup${query}`);
      expect([answer.status, answer.text], query).to.deep.equal([400, message]);
    }
    expect((await one.viewer.client.get(`/api/v1/lookup?Q=${"x".repeat(201)}`)).status).to.equal(400);
    expect(await look("\u{1f600}".repeat(200))).to.deep.equal([]);
    expect((await one.viewer.client.get("/api/v1/lookup?Q=%00")).status).to.equal(400);
    expect(await look("%_;~/")).to.deep.equal([]);
  });
});
