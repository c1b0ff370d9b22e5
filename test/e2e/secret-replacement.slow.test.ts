import { setTimeout as wait } from "node:timers/promises";
import { expect } from "chai";
import { sign, signerOf } from "../../src/kernel/tools/signature.ts";
import { text } from "../support/api-client.ts";
import { printed } from "../support/ledger.ts";
import { startReceiver, type Receiver } from "../support/receiver.ts";
import { eventually, openAccount } from "../support/relay.ts";
import { RelayProcess } from "../support/relay-process.ts";

const perSecond = 500;
const seconds = 12;
const graceSeconds = 5;
const events = perSecond * seconds;

describe("a webhook secret replaced under load", function () {
  this.timeout(180_000);
  let receiver: Receiver;
  let relay: RelayProcess;

  afterEach(async function () {
    await relay.closeAfter(this);
    await receiver.close();
  });

  it("fails no delivery to a receiver that changes at the end of the grace period, and then signs alone", async () => {
    receiver = await startReceiver({ record: false });
    relay = await RelayProcess.start(receiver);
    const account = await openAccount(relay.url);
    const old = signerOf(account.webhookSecret);
    let replaced = old;
    let endsAt = Infinity;
    const counts = { refused: 0, both: 0, oldAfter: 0, after: 0 };
    receiver.on("/hook", ({ headers, body }) => {
      const signedAt = Number(headers["webhook-timestamp"]) * 1_000;
      const signatures = String(headers["webhook-signature"]).split(" ");
      const isBy = (secret: typeof old) =>
        signatures.includes(sign(secret, String(headers["webhook-id"]), signedAt, body)["webhook-signature"]);
      if (signatures.length === 2) counts.both += 1;
      if (signedAt >= endsAt) {
        counts.after += 1;
        if (isBy(old)) counts.oldAfter += 1;
      }
      if (isBy(Date.now() < endsAt ? old : replaced)) return { status: 204 };
      counts.refused += 1;
      return { status: 401 };
    });
    const { ingest } = await account.destination({ url: receiver.url("/hook"), serverRateLimit: 50 });
    const began = performance.now();
    let posted = 0;
    const produce = async () => {
      for (let n = posted++; n < events; n = posted++) {
        await wait(Math.max(0, began + (n * 1_000) / perSecond - performance.now()));
        await account.producer.post(ingest, { n });
      }
    };
    const producing = Promise.all(Array.from({ length: 40 }, produce));

    await receiver.waitFor(({ received }) => received > perSecond);
    const path = `/api/v1/tenants/${account.tenantId}/webhook-secret`;
    const answer = await account.owner.post(path, { gracePeriodSeconds: graceSeconds });
    const { previous } = (await account.owner.get(path)) as { previous: readonly { readonly expiresAt: string }[] };
    endsAt = Date.parse(previous[0]!.expiresAt);
    replaced = signerOf(text(answer, "webhookSecret"));
    await producing;
    const achieved = Math.round(events / (performance.now() - began) * 1_000);
    await eventually(
      () => account.owner.get("/api/v1/events?Status=Succeeded&Qt=1"), ({ total }) => total === events, 90_000);
    printed("deliveries around the end of a secret", { events, "posted a second": achieved, ...counts });
    expect(counts).to.include({ refused: 0, oldAfter: 0 });
    expect(receiver.received).to.equal(events);
    expect(counts.both).to.be.above(0);
    expect(counts.after).to.be.above(0);
  });
});
