import { expect } from "chai";
import { streams } from "../../src/kernel/domain/streams.ts";
import { openIngest, type Account } from "../support/accounts.ts";
import type { TestApi } from "../support/api.ts";
import { describeOnEngines } from "../support/api-engines.ts";
import { apiStage } from "../support/api-stage.ts";
import { http, shaped } from "../support/http.ts";

interface Delivery {
  readonly eventId: string;
  readonly destinationUrlId: string;
}

describeOnEngines("messages of a sender that fans out", (freshEngines) => {
  let api: TestApi;
  let one: Account;
  apiStage(freshEngines, (stage) => ({ api, one } = stage));

  const get = (path: string) => one.viewer.client.get(`/api/v1/${path}`);
  const post = (path: string, body: object = {}) => one.developer.client.post(`/api/v1/${path}`, body);
  const destination = async () => {
    const url = `https://receiver.example/${Math.random()}`;
    return (await post("destinations", { url })).json["id"] as string;
  };
  const subscribe = async (senderId: string, fields: object) => {
    const answer = await post("subscriptions", { senderId, ...fields });
    expect(answer.status, answer.text).to.equal(201);
    return shaped(answer, "subscription")["id"] as string;
  };
  /** A sender that fans out, and a way to post through it. */
  const sender = async (fields: object = {}) => {
    const { apiKey } = await openIngest(one.owner.client, one.tenantId);
    const created = (await post("senders", { name: "fan", fanOut: true, ...fields })).json;
    const { id, ingestToken } = created as { id: string; ingestToken: string };
    const send = (body: object, headers: Record<string, string> = {}) =>
      http("POST", `${api.url}/api/v1/ingest/${one.tenantId}/${ingestToken}`, {
        json: body, headers: { "x-api-key": apiKey, ...headers },
      });
    return { id, send };
  };
  const accepted = async (answer: Awaited<ReturnType<Awaited<ReturnType<typeof sender>>["send"]>>) => {
    expect(answer.status, answer.text).to.equal(202);
    const { eventId, status, deliveries } = shaped(answer, "acceptance");
    return { id: eventId as string, status, deliveries: deliveries as readonly Delivery[] };
  };

  it("are events for each destination that subscribed, created with the message", async () => {
    const { id: senderId, send } = await sender();
    const [first, second] = [await destination(), await destination()];
    await subscribe(senderId, { destinationUrlId: first });
    await subscribe(senderId, { destinationUrlId: second, eventTypes: ["invoice.*"] });
    const { id, status, deliveries } = await accepted(await send({ n: 1 }, { "x-event-type": "invoice.paid" }));
    expect(status).to.equal("Pending");
    expect(deliveries.map(({ destinationUrlId }) => destinationUrlId)).to.have.members([first, second]);
    for (const { eventId, destinationUrlId } of deliveries) {
      const event = shaped(await get(`events/${eventId}`), "found-event");
      expect(event).to.include({
        id: eventId, destinationUrlId, messageId: id, status: "Pending", payload: '{"n":1}', eventType: "invoice.paid",
        senderId, idempotencyKey: null,
      });
    }
    const listed = (await get(`events?MessageId=${id}`)).json["items"] as { id: string }[];
    expect(listed.map((event) => event.id)).to.have.members(deliveries.map(({ eventId }) => eventId));
    const message = shaped(await get(`messages/${id}`), "message");
    expect(message).to.include({ id, status: "Pending", payload: '{"n":1}' });
    const asEvent = shaped(await get(`events/${id}`), "found-event");
    expect(asEvent).to.include({ id, status: "Pending", destinationUrlId: null });
    const only = await accepted(await send({ n: 2 }));
    expect(only.deliveries.map(({ destinationUrlId }) => destinationUrlId)).to.deep.equal([first]);
    const { items } = (await get("messages")).json as { items: { id: string }[] };
    expect(items.map((item) => item.id).slice(0, 2)).to.deep.equal([only.id, id]);
  });

  it("are found by id and by key, and the story of each delivery names its message and subscription", async () => {
    const { id: senderId, send } = await sender();
    const subscriptionId = await subscribe(senderId, { destinationUrlId: await destination() });
    const key = `found-${senderId}`;
    const { id, deliveries: [delivery] } =
      await accepted(await send({}, { "x-idempotency-key": key, "x-event-type": "invoice.paid" }));
    const found = async (text: string) => shaped(await get(`lookup?Q=${text}`), "found-items")["items"];
    const item = { kind: "message", id, label: "invoice.paid" };
    expect(await found(id.toUpperCase())).to.deep.equal([{ ...item, matched: "id" }]);
    expect(await found(key)).to.deep.equal([{ ...item, matched: "idempotencyKey" }]);
    const story = shaped(await get(`events/${delivery!.eventId}/story`), "story");
    const [{ because }] = story["chapters"] as readonly [{ readonly because: readonly object[] }];
    expect(because).to.have.length(1);
    expect(because[0]).to.deep.include({ code: "routed", values: { messageId: id, subscriptionId } });
  });

  it("are answered again with the recorded routing", async () => {
    const { id: senderId, send } = await sender();
    const here = await destination();
    await subscribe(senderId, { destinationUrlId: here });
    const { id, deliveries } = await accepted(await send({}, { "x-idempotency-key": "again" }));
    await subscribe(senderId, { destinationUrlId: await destination() });
    const again = await send({}, { "x-idempotency-key": "again" });
    expect(again.status).to.equal(200);
    expect(shaped(again, "duplicate")).to.deep.include({ eventId: id });
    expect((again.json["deliveries"] as Delivery[]).map(({ eventId }) => eventId)).to.deep.equal(
      deliveries.map(({ eventId }) => eventId));
  });

  it("are cancelled with each delivery that waits", async () => {
    const { id: senderId, send } = await sender();
    await subscribe(senderId, { destinationUrlId: await destination() });
    await subscribe(senderId, { destinationUrlId: await destination() });
    const { id, deliveries } = await accepted(await send({}));
    expect((await post(`events/${deliveries[0]!.eventId}/cancel`)).json).to.include({ status: "Cancelled" });
    expect((await get(`messages/${id}`)).json).to.include({ status: "Pending" });
    expect((await post(`events/${id}/cancel`)).json).to.include({ status: "Cancelled" });
    const none = await post(`events/${id}/cancel`);
    expect([none.status, none.text]).to.deep.equal([400, "none of the message's deliveries can be cancelled"]);
    const story = shaped(await get(`events/${deliveries[0]!.eventId}/story`), "story");
    const chapters = story["chapters"] as readonly { readonly kind: string }[];
    expect(chapters.map(({ kind }) => kind)).to.include.members(["accepted", "cancelled"]);
    const history = (await get(`events/${deliveries[0]!.eventId}/history`)).json["items"] as
      readonly { readonly type: string; readonly revision: number }[];
    expect(history.map(({ type, revision }) => [type, revision])).to.deep.equal([
      ["EventAccepted", 0], ["EventCancelled", 1],
    ]);
  });

  it("take one append each, however many destinations get them", async () => {
    const { id: senderId, send } = await sender();
    for (let n = 0; n < 5; n += 1) await subscribe(senderId, { destinationUrlId: await destination() });
    const { store } = api.world;
    const append = store.append.bind(store);
    const appended: string[] = [];
    store.append = (stream, ...given) => {
      appended.push(stream);
      return append(stream, ...given);
    };
    try {
      const { id, deliveries } = await accepted(await send({}));
      expect(deliveries).to.have.length(5);
      expect(appended).to.deep.equal([streams.event(id)]);
    } finally {
      store.append = append;
    }
  });

  it("are accepted once of 50 racing posts with one key, also after a purge", async () => {
    const { id: senderId, send } = await sender();
    await subscribe(senderId, { destinationUrlId: await destination() });
    for (let round = 0; round < 4; round += 1) {
      const answers = await Promise.all(Array.from({ length: 50 }, () => send({}, { "x-idempotency-key": "race" })));
      expect(answers.filter(({ status }) => status === 202), `of round ${round}`).to.have.length(1);
      const routed = answers.map(({ json }) =>
        [json["eventId"], (json["deliveries"] as readonly Delivery[]).map(({ eventId }) => eventId)]);
      for (const one of routed) expect(one).to.deep.equal(routed[0]);
      const id = String(routed[0]?.[0]);
      expect((await get(`messages/${id}`)).status).to.equal(200);
      expect((await post(`events/${id}/cancel`)).status).to.equal(200);
      expect((await one.owner.client.post("/api/v1/events/purge", {})).status).to.equal(204);
    }
  });

  it("are kept where another request of a purged one's key begins them again, whenever that is", async () => {
    const { id: senderId, send } = await sender();
    await subscribe(senderId, { destinationUrlId: await destination() });
    const { store } = api.world;
    const readStream = store.readStream.bind(store);
    let between = 0;
    for (let at = 1; between === at - 1; at += 1) {
      const key = { "x-idempotency-key": `between ${at}` };
      const { id: purged } = await accepted(await send({}, key));
      expect((await post(`events/${purged}/cancel`)).status).to.equal(200);
      expect((await one.owner.client.post("/api/v1/events/purge", {})).status).to.equal(204);
      let reads = 0;
      let other: Awaited<ReturnType<typeof send>> | undefined;
      store.readStream = async (stream, ...rest) => {
        if (stream === streams.event(purged)) reads += 1;
        if (stream === streams.event(purged) && reads === at) other = await send({}, key);
        return readStream(stream, ...rest);
      };
      const answer = await send({}, key).finally(() => Reflect.deleteProperty(store, "readStream"));
      if (!other) continue;
      between = at;
      expect([other.status, answer.json["eventId"]], `read ${at}`).to.deep.equal([202, other.json["eventId"]]);
      expect((await get(`messages/${String(other.json["eventId"])}`)).status, `read ${at}`).to.equal(200);
    }
    expect(between, "reads by a request that begins a message again").to.be.at.least(3);
  });

  it("without a matching subscription are Succeeded, or refused, which leaves the key free", async () => {
    const open = await sender();
    const { id, status, deliveries } = await accepted(await open.send({}));
    expect([status, deliveries]).to.deep.equal(["Succeeded", []]);
    expect((await get(`messages/${id}`)).json).to.include({ status: "Succeeded" });
    const { id: senderId, send } = await sender({ unmatched: "refuse" });
    const key = { "x-idempotency-key": "unmatched" };
    const refused = await send({}, key);
    expect([refused.status, refused.text]).to.deep.equal([422, "no subscription of the sender matches the message"]);
    await subscribe(senderId, { destinationUrlId: await destination() });
    expect((await accepted(await send({}, key))).deliveries).to.have.length(1);
  });

  it("of an owner reach a destination once, by the owner's subscription", async () => {
    const { id: senderId, send } = await sender();
    const destinationUrlId = await destination();
    const all = await subscribe(senderId, { destinationUrlId });
    const own = await subscribe(senderId, { destinationUrlId, ownerId: "customer-7" });
    for (const [ownerId, by] of [["customer-7", own], ["customer-8", all]] as const) {
      const { id } = await accepted(await send({}, { "x-owner-id": ownerId }));
      const message = (await get(`messages/${id}`)).json;
      expect((message["deliveries"] as { subscriptionId: string }[]).map(({ subscriptionId }) => subscriptionId))
        .to.deep.equal([by]);
    }
  });

  it("of more than 768 KiB with the payloads that are made of them are 413", async () => {
    const { id: senderId, send } = await sender();
    const mapping = { language: "jmespath", expression: "{copy: text}" };
    const text = "x".repeat(200 * 1024);
    for (let n = 0; n < 3; n += 1) await subscribe(senderId, { destinationUrlId: await destination(), mapping });
    const refused = await send({ text });
    expect([refused.status, refused.text]).to.deep.equal([
      413, "body: is too large: with what is made of it, 786432 bytes are the most",
    ]);
    expect((await accepted(await send({ text: text.slice(0, 150 * 1024) }))).deliveries).to.have.length(3);
  });
});
