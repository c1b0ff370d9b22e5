import { expect } from "chai";
import { sign, signerOf } from "../../src/kernel/tools/signature.ts";
import { text } from "../support/api-client.ts";
import { startReceiver, type ReceivedRequest, type Receiver } from "../support/receiver.ts";
import { eventually, openAccount, startTestRelay, type TestRelay } from "../support/relay.ts";

/** A receiver's check of `webhook-signature` by its secrets, as in docs/verify-signatures.md. */
function isSignedByOne(secrets: readonly string[], { headers, body }: ReceivedRequest): boolean {
  const at = Number(headers["webhook-timestamp"]) * 1000;
  const signatures = secrets.map((secret) => sign(signerOf(secret), String(headers["webhook-id"]), at, body));
  return signatures.some((signed) => signed["webhook-signature"] === headers["webhook-signature"]);
}

describe("a webhook secret replaced as the document says", () => {
  let receiver: Receiver;
  let relay: TestRelay;
  beforeEach(async () => {
    receiver = await startReceiver();
    relay = await startTestRelay(receiver, { RELAY_RETRY_SCHEDULE: "10ms" });
  });
  afterEach(async () => {
    await relay.close();
    await receiver.close();
  });

  it("is refused by a receiver without the new secret, which gets the event again under that secret", async () => {
    const account = await openAccount(relay.url, { maxTrys: 1_000 });
    const secrets = [account.webhookSecret];
    receiver.on("/hook", (request) => ({ status: isSignedByOne(secrets, request) ? 204 : 401 }));
    const { ingest } = await account.destination({ url: receiver.url("/hook") });
    const event = async () => `/api/v1/events/${text(await account.producer.post(ingest, {}), "eventId")}`;
    const delivered = async (path: string) =>
      eventually(() => account.owner.get(path), ({ status }) => status === "Succeeded");

    await delivered(await event());
    const replaced = await account.owner.post(`/api/v1/tenants/${account.tenantId}/webhook-secret`, {});
    const refused = await event();
    await eventually(() => account.owner.get(refused), ({ currentRetryCount }) => Number(currentRetryCount) > 0);
    secrets.push(text(replaced, "webhookSecret"));
    await delivered(refused);
    const { items } = (await account.owner.get(`${refused}/attempts`)) as { items: { statusCode: number }[] };
    expect([items[0]?.statusCode, items.at(-1)?.statusCode]).to.deep.equal([401, 204]);
    // No delivery is signed with the former secret any more.
    secrets.shift();
    await delivered(await event());
  });
});
