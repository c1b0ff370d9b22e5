import { expect } from "chai";
import { TokenCache } from "../../../src/delivery/requests/token-cache.ts";
import type { OutboundClient } from "../../../src/kernel/ports/outbound.ts";
import { startReceiver, type Receiver } from "../../support/receiver.ts";
import { localClient, request, startSink, type Sink } from "./setup.ts";

const codes = [301, 302, 303, 307, 308];

describe("S3 redirects", () => {
  let receiver: Receiver;
  let sink: Sink;
  let client: OutboundClient;

  before(async () => {
    receiver = await startReceiver();
    sink = await startSink();
    client = localClient(receiver.caPem);
  });
  after(async () => {
    await client.close();
    await sink.close();
    await receiver.close();
  });

  const targets = () => [
    "/elsewhere",
    receiver.url("/elsewhere"),
    `https://127.0.0.1:${sink.port}/`,
    `http://127.0.0.1:${sink.port}/`,
    `//localhost:${sink.port}/`,
    `https://2130706433:${sink.port}/`,
  ];

  for (const status of codes) {
    it(`are answers like any other: ${status}`, async () => {
      for (const location of targets()) {
        const before = receiver.received;
        receiver.on("/moved", () => ({ status, headers: { Location: location } }));
        const answer = await client.post(request(receiver.url("/moved")));
        expect(answer).to.include({ answered: true, statusCode: status });
        expect(answer.answered && answer.headers.location).to.equal(location);
        expect(receiver.received).to.equal(before + 1);
      }
      expect(receiver.requestsTo("/elsewhere")).to.be.empty;
      expect(sink.connections).to.equal(0);
    });
  }

  it("of a token endpoint give no token", async () => {
    const tokens = new TokenCache({
      outbound: client,
      clock: { now: () => 0, monotonic: () => 0, schedule: () => ({ cancel: () => {} }) },
      userAgent: "test", deadlineMs: 1000, capacity: 10,
    });
    for (const status of codes) {
      for (const location of targets()) {
        receiver.on("/token", () => ({ status, headers: { Location: location } }));
        const result = await tokens.token({
          tenantId: "tenant", tokenEndpoint: receiver.url("/token"), clientId: "a", clientSecret: "b",
        });
        expect(result).to.deep.equal({ error: `the token endpoint answered ${status}`, retryAfterMs: null });
      }
    }
    expect(receiver.requestsTo("/elsewhere")).to.be.empty;
    expect(sink.connections).to.equal(0);
  });
});
