import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { expect } from "chai";
import { appendBytesLimit } from "../../packages/embedded-engine/src/index.ts";
import { text, type Json } from "../support/api-client.ts";
import { startReceiver, type Receiver } from "../support/receiver.ts";
import { eventReaches, openAccount, startTestRelay, type Account, type TestRelay } from "../support/relay.ts";

describe("first attempts, claimed by the append that accepts their event", () => {
  let receiver: Receiver;
  let relay: TestRelay;
  let account: Account;

  before(async () => {
    receiver = await startReceiver();
    relay = await startTestRelay(receiver, { RELAY_MAX_BODY_BYTES: "2000000" });
    account = await openAccount(relay.url);
  });

  after(async () => {
    await relay.close();
    await receiver.close();
  });

  /** Posts an event; resolves to its facts once it is delivered. */
  async function delivered(
    ingest: string, headers: Record<string, string> = {}, hello = "world",
  ): Promise<readonly Json[]> {
    const eventId = text(await account.producer.post(ingest, { hello }, headers), "eventId");
    await eventReaches(account.owner, eventId, "Succeeded");
    return (await account.owner.get(`/api/v1/events/${eventId}/history`))["items"] as Json[];
  }

  /** Entries of the log with this text, in the order of the log. */
  function entriesNaming(name: string): Record<string, unknown>[] {
    const log = new DatabaseSync(join(relay.dataDir, "log.db"), { readOnly: true });
    try {
      return log.prepare("SELECT * FROM log WHERE data LIKE ? ORDER BY sequence").all(`%${name}%`);
    } finally {
      log.close();
    }
  }

  it("begin if the destination has room: both entries are adjacent in the log", async () => {
    const { id, ingest } = await account.destination({ url: receiver.url("/room"), serverRateLimit: 20 });
    await delivered(ingest);
    const histories = await Promise.all(Array.from({ length: 20 }, () => delivered(ingest)));
    for (const facts of histories) {
      expect(facts.map(({ type }) => type)).to.deep.equal(
        ["EventAccepted", "DeliveryAttemptStarted", "DeliverySucceeded"],
      );
    }
    const entries = entriesNaming(id);
    const begun = entries.filter(({ stream, type }, at) =>
      type === "EventAccepted" && entries[at + 1]?.["stream"] === stream
      && entries[at + 1]?.["type"] === "DeliveryAttemptStarted");
    expect(begun).to.have.length.at.least(20);
    expect(receiver.requestsTo("/room")).to.have.length(21);
  });

  it("free their place if the event was a duplicate", async () => {
    const { ingest } = await account.destination({ url: receiver.url("/key"), serverRateLimit: 1 });
    await delivered(ingest, { "x-idempotency-key": "once" });
    for (let n = 0; n < 3; n += 1) await delivered(ingest, { "x-idempotency-key": "once" });
    await delivered(ingest, { "x-idempotency-key": "another" });
    expect(receiver.requestsTo("/key")).to.have.length(2);
  });

  it("are left to the queue if the log accepts the event, but not both entries at once", async () => {
    const { ingest } = await account.destination({ url: receiver.url("/large") });
    await delivered(ingest, {}, "measured");
    const [measured] = entriesNaming("measured");
    const { type, data, metadata } = measured as Record<"type" | "data" | "metadata", string>;
    const most = appendBytesLimit - type.length - data.length - metadata.length + "measured".length;
    const facts = await delivered(ingest, {}, "x".repeat(most));
    expect(facts.map(({ type: each }) => each)).to.deep.equal(
      ["EventAccepted", "DeliveryAttemptStarted", "DeliverySucceeded"],
    );
    const refused: unknown =
      await account.producer.post(ingest, { hello: "x".repeat(most + 1) }).catch((error: unknown) => error);
    expect(refused).to.have.property("status", 413);
  });

  it("have their own salt and the producer's trace in the log, and neither in histories", async () => {
    const { ingest } = await account.destination({ url: receiver.url("/salt") });
    const traceparent = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";
    const history = JSON.stringify(await delivered(ingest, { traceparent }, "salted"));
    const entries = entriesNaming("");
    const salts = entries.map(({ metadata }) => (JSON.parse(String(metadata)) as { salt?: string }).salt ?? "none");
    expect(new Set(entries.map(({ stream }) => String(stream).split("-")[0]))).to.include.members(
      ["platform", "tenant", "person", "email", "tenantName", "destination", "apiKey", "event"],
    );
    expect(new Set(salts)).to.have.length(entries.length);
    for (const salt of salts) {
      expect(Buffer.from(salt, "base64url")).to.have.length(16);
      expect(history).to.not.include(salt);
    }
    expect(history).to.not.include(traceparent);
    expect(entriesNaming("salted").map(({ metadata }) => JSON.parse(String(metadata)) as object)[0])
      .to.include({ traceparent });
  });
});
