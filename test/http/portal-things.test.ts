import { expect } from "chai";
import { openAccount, openIngest, unique, type Account } from "../support/accounts.ts";
import { startApi, type TestApi } from "../support/api.ts";
import { relayClient } from "../support/api-client.ts";
import { embeddedEngines, type SharedEngines } from "../support/api-engines.ts";
import { EventStream } from "../support/event-stream.ts";
import { openPortal, type Visitor } from "../support/portal.ts";

const url = "https://receiver.example/hook";
const everything = ["read", "replay", "test", "configure"] as const;

type Ingest = Awaited<ReturnType<typeof openIngest>>;
type Item = Readonly<Record<string, unknown>>;

describe("the things of a customer in the portal", () => {
  let engines: SharedEngines;
  let api: TestApi;
  let one: Account;
  let [first, second, others] = [] as unknown as [Ingest, Ingest, Ingest];
  let visitor: Visitor;
  before(async () => {
    engines = await embeddedEngines();
    api = await startApi(engines);
    one = await openAccount(api.url);
    const open = async (ownerId: string) => {
      const ingest = await openIngest(one.owner.client, one.tenantId);
      await one.owner.client.api.updateDestination({ id: ingest.destinationId }, { ownerId });
      return ingest;
    };
    first = await open("customer");
    second = await open("customer");
    others = await open("another");
    for (const ingest of [first, others, second, first]) await post(ingest);
    ({ visitor } = await openPortal(one, { ownerId: "customer", may: [...everything] }));
  });
  after(async () => {
    await api.close();
    await engines.close();
  });
  afterEach(() => expect(api.errors).to.deep.equal([]));

  const post = async ({ apiKey, ingestToken: token }: Ingest) =>
    (await relayClient(api.url, { apiKey }).ingest({ tenantId: one.tenantId, token }, { note: "hello" })).eventId;
  const items = async (path: string, by = visitor) =>
    (await by.get(`/api/v1/${path}`)).json["items"] as readonly Item[];
  const idsOf = (list: readonly Item[], field: string) => [...new Set(list.map((item) => item[field]))].sort();

  it("are the events of its destinations, in pages, totals, searches and exports", async () => {
    const own = [first.destinationId, second.destinationId].sort();
    const { json } = await visitor.get("/api/v1/events?Qt=2");
    expect(json["total"]).to.equal(3);
    const next = await visitor.get(`/api/v1/events?Qt=2&Cursor=${String(json["nextCursor"])}`);
    const all = [...json["items"] as readonly Item[], ...next.json["items"] as readonly Item[]];
    expect(all).to.have.length(3);
    expect(idsOf(all, "destinationUrlId")).to.deep.equal(own);
    expect(all.map(({ id }) => id)).to.deep.equal(all.map(({ id }) => id).sort().reverse());
    expect((await visitor.get("/api/v1/events/totals")).json).to.deep.include({ total: 3 });
    expect((await visitor.get("/api/v1/events/totals?From=2020-01-01&To=2099-01-01")).json["total"]).to.equal(3);
    expect(await items(`events?DestinationUrlId=${second.destinationId}`)).to.have.length(1);
    expect(await items("events?OwnerId=another")).to.have.length(0);
    for (const path of ["events/export", "events/search?Pointer=/none&Value=1", "events/search?Text=hello"]) {
      const { text } = await visitor.get(`/api/v1/${path}`);
      expect(text, path).not.to.include(others.destinationId);
      if (!path.includes("none")) expect(text.split(first.destinationId)).to.have.length.greaterThan(1);
    }
  });

  it("are its destinations, by status and in any order, also those that become its own later", async () => {
    const own = [first.destinationId, second.destinationId].sort();
    expect(idsOf(await items("destinations"), "id")).to.deep.equal(own);
    expect(idsOf(await items("destinations?Status=Active&CpOrd=url&TpOrd=Desc"), "id")).to.deep.equal(own);
    expect(await items("destinations?Status=Inactive")).to.deep.equal([]);
    const { id } = await one.owner.client.api.createDestination({ url, ownerId: "customer" });
    expect((await visitor.get(`/api/v1/destinations/${id}`)).status).to.equal(200);
    await one.owner.client.api.updateDestination({ id }, { ownerId: "another" });
    expect((await visitor.get(`/api/v1/destinations/${id}`)).status).to.equal(404);
    const { visitor: nobody } = await openPortal(one, { ownerId: "nobody yet", may: ["read"] });
    for (const path of ["destinations", "destinations?Status=Active", "events", "subscriptions"]) {
      expect(await items(path, nobody), path).to.deep.equal([]);
    }
    expect((await nobody.get("/api/v1/statistics")).status).to.equal(200);
  });

  it("are counted in its statistics alone", async () => {
    type Series = readonly { readonly total: { readonly accepted: number } }[];
    const accepted = (json: Item) => (json["series"] as Series).map(({ total }) => total.accepted);
    expect(accepted((await visitor.get("/api/v1/statistics?Bucket=1h")).json)).to.deep.equal([3]);
    const grouped = (await visitor.get("/api/v1/statistics?Bucket=1h&GroupBy=destination")).json;
    expect(accepted(grouped).sort()).to.deep.equal([1, 2]);
    expect(JSON.stringify(grouped)).not.to.include(others.destinationId);
  });

  it("show no names of people, and no message of a sender", async () => {
    const id = await post(first);
    await visitor.post(`/api/v1/destinations/${first.destinationId}/test`, {});
    const texts = await Promise.all([
      `events/${id}/history`, `events/${id}/story`, `destinations/${first.destinationId}/history`,
    ].map(async (path) => (await visitor.get(`/api/v1/${path}`)).text));
    for (const text of texts) expect(text).not.to.include(one.owner.email);
  });

  it("keep the owner of the link, whoever tries to change it", async () => {
    const made = await visitor.post("/api/v1/destinations", { url });
    expect([made.status, made.json["ownerId"]]).to.deep.equal([201, "customer"]);
    const id = String(made.json["id"]);
    const change = (json: object) => visitor.call("PATCH", `/api/v1/destinations/${id}`, { json });
    for (const ownerId of ["another", null]) {
      const refused = await change({ ownerId });
      expect([refused.status, refused.text]).to.deep.equal([403, "ownerId: is set by the portal link"]);
    }
    const renamed = { ownerId: "customer", name: "Mine" };
    expect((await change(renamed)).json).to.deep.include(renamed);
    expect((await visitor.post("/api/v1/destinations", { url, ownerId: "another" })).status).to.equal(403);
    expect((await visitor.post("/api/v1/destinations", { url, ownerId: "customer" })).status).to.equal(201);
    const { items: history } = await one.owner.client.api.listDestinationHistory({ id });
    expect(history.map(({ actor }) => actor.type)).to.deep.equal(["portalLink", "portalLink"]);
  });

  it("can be changed by a link to single destinations, which adds none", async () => {
    const { destinationId } = others;
    const { visitor: other } = await openPortal(one, { destinationUrlIds: [destinationId], may: [...everything] });
    expect(idsOf(await items("destinations", other), "id")).to.deep.equal([destinationId]);
    expect(await items("events", other)).to.have.length(1);
    const changed = await other.call("PATCH", `/api/v1/destinations/${destinationId}`, { json: { name: "Ours" } });
    expect(changed.status).to.equal(200);
    expect((await other.post("/api/v1/destinations", { url })).status).to.equal(403);
    expect((await other.get(`/api/v1/destinations/${first.destinationId}`)).status).to.equal(404);
  });

  it("are subscribed to senders that fan out, for its owner only", async () => {
    const { api: by } = one.owner.client;
    const { id: senderId } = await by.createSender({ name: unique("sender"), fanOut: true });
    const direct = await by.createSender({ name: "direct", destinationUrlId: others.destinationId });
    const { json: session } = await visitor.get("/api/v1/portal/session");
    expect(idsOf(session["senders"] as readonly Item[], "id")).to.deep.equal([senderId]);
    const subscribe = (json: object) => visitor.post("/api/v1/subscriptions", json);
    const made = await subscribe({ senderId, destinationUrlId: first.destinationId });
    expect([made.status, made.json["ownerId"]]).to.deep.equal([201, "customer"]);
    const more = { senderId, destinationUrlId: second.destinationId };
    expect((await subscribe({ ...more, ownerId: "another" })).status).to.equal(403);
    expect((await subscribe({ ...more, senderId: direct.id })).status).to.equal(404);
    expect((await subscribe({ ...more, destinationUrlId: others.destinationId })).status).to.equal(404);
    const ownerless = await by.createSubscription(more);
    const foreign = await by.createSubscription({ senderId, destinationUrlId: others.destinationId });
    expect(idsOf(await items("subscriptions"), "id")).to.deep.equal([String(made.json["id"]), ownerless.id].sort());
    const statusOf = async (id: string) =>
      (await visitor.call("PATCH", `/api/v1/subscriptions/${id}`, { json: { status: "inactive" } })).status;
    expect(await Promise.all([String(made.json["id"]), ownerless.id, foreign.id].map(statusOf)))
      .to.deep.equal([200, 403, 404]);
    const past = `/api/v1/subscriptions/${String(made.json["id"])}?AsOf=2099-01-01`;
    expect((await visitor.get(past)).status).to.equal(200);
    const { visitor: single } = await openPortal(one, { destinationUrlIds: [first.destinationId], may: ["configure"] });
    expect((await single.get("/api/v1/portal/session")).json["senders"]).to.deep.equal([]);
    expect((await single.post("/api/v1/subscriptions", { senderId, destinationUrlId: first.destinationId })).status)
      .to.equal(404);
  });

  it("come in the stream, which ends with the link", async () => {
    const link = await openPortal(one, { ownerId: "customer", may: ["read"] });
    const stream = await EventStream.open(`${api.url}/api/v1/stream`, link.visitor.headers);
    await post(others);
    const id = await post(first);
    const frames = await stream.until((all) => all.some(({ event }) => event === "moved"));
    expect(frames.filter(({ event }) => event !== "end").map(({ data }) => data["eventId"])).to.deep.equal([id]);
    expect((await link.visitor.get("/api/v1/stream?Kinds=audit")).status).to.equal(403);
    await one.admin.client.api.deletePortalLink({ id: link.id });
    const ended = await stream.until((all) => all.some(({ event }) => event === "end"));
    expect(ended.at(-1)?.data).to.deep.equal({ reason: "session over" });
    await stream.close();
  });

  it("are told apart from a person's by X-Relay-Principal", async () => {
    const link = await openPortal(one, { ownerId: "customer", may: ["read"] });
    const ask = async (principal: string) =>
      (await link.visitor.call("GET", "/api/v1/events", { headers: { "x-relay-principal": principal } })).status;
    expect(await ask(link.id)).to.equal(200);
    expect(await ask(one.owner.id)).to.equal(412);
  });
});
