import { createHmac } from "node:crypto";
import { expect } from "chai";
import { hostileExpressions, hostilePayload } from "../../integration/jmespath/hostile-expressions.ts";
import { text, type Json } from "../../support/api-client.ts";
import { startReceiver, type Receiver } from "../../support/receiver.ts";
import { eventReaches, eventually, openAccount, type Account, type TestRelay } from "../../support/relay.ts";
import { onTopology } from "../../support/topologies.ts";

const jmespath = (expression: string) => ({ language: "jmespath", expression });

export const sendersSuite = onTopology("senders, end to end over TLS", ({ start, engines }) => {
  let receiver: Receiver;
  let relay: TestRelay;

  before(async function () {
    receiver = await startReceiver();
    relay = await start(this, receiver);
  });

  after(async () => {
    await (relay as TestRelay | undefined)?.close();
    await receiver.close();
  });

  /** A sender to its own path of the receiver, and a function to send through it. */
  async function open(account: Account, hook: string, expression: string | null) {
    const destination = await account.destination({ url: receiver.url(hook) });
    const mapping = expression === null ? null : jmespath(expression);
    const fields = { name: hook, destinationUrlId: destination.id, mapping };
    const sender = await account.owner.post("/api/v1/senders", fields);
    const path = `/api/v1/ingest/${account.tenantId}/${text(sender, "ingestToken")}`;
    const send = (body: string, headers: Record<string, string> = {}) =>
      fetch(relay.url + path, {
        method: "POST", body, headers: { "content-type": "application/json", ...account.producer.headers, ...headers },
      });
    return { id: text(sender, "id"), destinationId: destination.id, send };
  }

  const accepted = async (answer: Response) => {
    expect(answer.status).to.equal(202);
    return text((await answer.json()) as Json, "eventId");
  };

  it("delivers the received bytes unchanged without a mapping", async () => {
    const account = await openAccount(relay.url);
    const { send } = await open(account, "/unchanged", null);
    const bytes = '{"a":1.0, "a":2,\n"\\u00e9":"é"}';
    await eventReaches(account.owner, await accepted(await send(bytes)), "Succeeded");
    expect(receiver.requestsTo("/unchanged")[0]?.body.toString()).to.equal(bytes);
  });

  it("sends the same mapped payload on every retry, after changes of the sender too", async () => {
    const account = await openAccount(relay.url);
    const { id, send } = await open(account, "/retried", "{v: `1`}");
    receiver.on("/retried", ({ count }) => ({ status: count <= 2 ? 500 : 200 }));
    const eventId = await accepted(await send("{}"));
    await account.owner.patch(`/api/v1/senders/${id}`, { mapping: jmespath("{v: `2`}") });
    await account.owner.delete(`/api/v1/senders/${id}`);
    await eventReaches(account.owner, eventId, "Succeeded");
    const bodies = receiver.requestsTo("/retried").map(({ body }) => body.toString());
    expect(bodies).to.deep.equal(Array(3).fill('{"v":1}'));
  });

  it("still knows its senders and accepted keys after a restart", async () => {
    const account = await openAccount(relay.url);
    const { send } = await open(account, "/again", "{n: n}");
    const headers = { "x-idempotency-key": "once" };
    const first = await accepted(await send('{"n":1}', headers));
    await relay.restart();
    expect(await accepted(await send('{"n":2}'))).not.to.equal(first);
    const again = await send('{"n":3}', headers);
    expect([again.status, ((await again.json()) as Json)["eventId"]]).to.deep.equal([200, first]);
    await eventually(async () => receiver.requestsTo("/again").length, (count) => count === 2);
  });

  // Mappings do not depend on the engines.
  if (engines === "outside") return;

  it("delivers the mapped text, signs its bytes, and keeps the original in the history", async () => {
    const account = await openAccount(relay.url);
    const { id, send } = await open(account, "/mapped", "{order: data.id, who: data.name, total: sum(data.prices)}");
    const original = '{"data": {"id":12345678901234567890, "name":"J\\u00fcrgen", "prices":[1.0, 2.50]}}';
    const eventId = await accepted(await send(original));
    const event = await eventReaches(account.owner, eventId, "Succeeded");

    const mapped = '{"order":12345678901234567890,"who":"Jürgen","total":3.5}';
    expect(event["payload"]).to.equal(mapped);
    const [request] = receiver.requestsTo("/mapped");
    expect(request?.body.toString("utf8")).to.equal(mapped);
    const hmac = createHmac("sha256", account.webhookSecret).update(mapped, "utf8").digest("hex");
    expect(request?.headers["x-service-signature"]).to.equal(`sha256=${hmac}`);
    const key = Buffer.from(account.webhookSecret.slice("whsec_".length), "base64");
    const signed = `${eventId}.${String(request?.headers["webhook-timestamp"])}.${mapped}`;
    const signature = createHmac("sha256", key).update(signed, "utf8").digest("base64");
    expect(request?.headers["webhook-signature"]).to.equal(`v1,${signature}`);

    const history = (await account.owner.get(`/api/v1/events/${eventId}/history`))["items"] as Json[];
    expect(history[0]?.["data"]).to.include({ senderId: id, payload: mapped, original });
  });

  it("goes on for others while a tenant sends through hostile expressions", async () => {
    const [hostile, healthy] = [await openAccount(relay.url), await openAccount(relay.url)];
    const attacks: Promise<Response>[] = [];
    for (const expression of Object.values(hostileExpressions)) {
      const name = `/hostile-${attacks.length}`;
      const sender = await open(hostile, name, expression).catch(() => undefined);
      if (sender) attacks.push(sender.send(hostilePayload));
    }
    expect(attacks.length).to.be.greaterThan(15);
    const { send } = await open(healthy, "/healthy", "{n: n}");
    for (let n = 0; n < 50; n += 1) await accepted(await send(`{"n":${n}}`));
    await eventually(async () => receiver.requestsTo("/healthy").length, (count) => count === 50);
    for (const answer of await Promise.all(attacks)) {
      expect([answer.status, (await answer.text()).split(":")[0]]).to.deep.equal([400, "body"]);
    }
    const list = await hostile.owner.get("/api/v1/events");
    expect(list["total"]).to.equal(0);
  });
});
