import { expect } from "chai";
import { TokenCache, type TenantGrant } from "../../../src/delivery/requests/token-cache.ts";
import type { OutboundClient } from "../../../src/kernel/ports/outbound.ts";
import { ManualClock } from "../../support/manual-clock.ts";
import { startReceiver, type Receiver } from "../../support/receiver.ts";
import { localClient } from "./setup.ts";

describe("token endpoints", () => {
  let receiver: Receiver;
  let client: OutboundClient;

  before(async () => {
    receiver = await startReceiver();
    client = localClient(receiver.caPem);
  });
  after(async () => {
    await client.close();
    await receiver.close();
  });

  const setUp = (path: string) => {
    const clock = new ManualClock();
    const tokens = new TokenCache({ outbound: client, clock, userAgent: "test", deadlineMs: 5_000, capacity: 10 });
    const grant: TenantGrant = {
      tenantId: "tenant", tokenEndpoint: receiver.url(path), clientId: "a client", clientSecret: "top:secret+",
    };
    return { clock, token: () => tokens.token(grant) };
  };

  for (const status of [400, 401, 403, 422, 500, 200]) {
    it(`get the client's secret in the form once they answered HTTP Basic with ${status}`, async () => {
      const path = `/refuses-with-${status}`;
      receiver.on(path, ({ headers, body }) => {
        const form = new URLSearchParams(body.toString());
        return headers["authorization"] === undefined && form.get("client_secret") === "top:secret+"
          ? { body: `\uFEFF${JSON.stringify({ access_token: "made", expires_in: "600" })}` }
          : { status, headers: { "content-type": "text/html" }, body: JSON.stringify({ error: "invalid_client" }) };
      });
      const { clock, token } = setUp(path);
      expect(await token()).to.deep.equal({ token: "made" });
      clock.advance(600_000);
      expect(await token()).to.deep.equal({ token: "made" });
      const isBasic = receiver.requestsTo(path).map(({ headers }) => headers["authorization"] !== undefined);
      expect(isBasic).to.deep.equal([true, false, false]);
    });
  }

  it("get no request before the longest Retry-After that they sent", async () => {
    receiver.on("/busy", () => ({ status: 429, headers: { "retry-after": ["60", "120"] } }));
    const { clock, token } = setUp("/busy");
    expect(await token()).to.include({ retryAfterMs: 120_000 });
    clock.advance(119_999);
    expect(await token()).to.include({ retryAfterMs: 1 });
    expect(receiver.requestsTo("/busy")).to.have.length(1);
    clock.advance(1);
    await token();
    expect(receiver.requestsTo("/busy")).to.have.length(2);
  });
});
