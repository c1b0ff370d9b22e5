import { expect } from "chai";
import { DeliveryClient, type Delivery } from "../../../../src/delivery/requests/delivery-client.ts";
import type { SendOutcome } from "../../../../src/delivery/requests/outcome.ts";
import { TokenCache } from "../../../../src/delivery/requests/token-cache.ts";
import type { Destination } from "../../../../src/features/destinations/facts.ts";
import type { OutboundAnswer, OutboundFailure, OutboundRequest } from "../../../../src/kernel/ports/outbound.ts";
import type { Vault } from "../../../../src/kernel/sealing/vault.ts";
import { webhookSecret } from "../../../../src/kernel/tools/signature.ts";
import { ManualClock } from "../../../support/manual-clock.ts";

const hook = "https://receiver.example/hook";
const signingSecret = webhookSecret(new Uint8Array(32).fill(7));
const tokenEndpoint = "https://id.example/token";
const answer = (statusCode: number, fields: object = {}): OutboundAnswer =>
  ({ answered: true, statusCode, headers: {}, body: Buffer.from(JSON.stringify(fields)), truncated: false });

const failure = (connected: boolean): OutboundFailure =>
  ({ answered: false, reason: "connection", error: "the connection was reset", connected });

/** Sends to a destination that needs a fetched token; its requests get `results`, one after the other. */
function setUp(
  results: readonly (number | OutboundAnswer | OutboundFailure)[], tokenTakesMs = 0, refusal?: OutboundAnswer,
) {
  const clock = new ManualClock();
  const requests: OutboundRequest[] = [];
  const [left, tokens] = [[...results], { granted: 0 }];
  const outbound = {
    post: async (request: OutboundRequest) => {
      requests.push(request);
      if (request.url !== tokenEndpoint) {
        const result = left.shift() ?? 200;
        return typeof result === "number" ? answer(result) : result;
      }
      clock.advance(tokenTakesMs);
      if (refusal) return refusal;
      tokens.granted += 1;
      return answer(200, { access_token: `token-${tokens.granted}`, expires_in: 3_600 });
    },
    refusalOf: () => null,
    close: async () => undefined,
  };
  const settings = { outbound, clock, userAgent: "webhook-relay/1" };
  const vault = {
    headers: ({ headers }: Destination) => headers,
    webhookSecret: () => signingSecret,
    credentials: ({ auth }: Destination) => auth?.type === "BearerToken"
      ? { token: auth.credentials } : { tokenEndpoint, clientId: "me", clientSecret: "hush" },
  } as unknown as Vault;
  const cache = new TokenCache({ ...settings, deadlineMs: 15_000, capacity: 10 });
  const client = new DeliveryClient({ ...settings, tokens: cache, vault, deliveryTimeoutMs: 15_000 });
  const delivery = {
    webhook: { id: "event-1", payload: "{}", attempts: 1 }, tenant: { previousSecrets: [] },
    destination: { url: hook, auth: { type: "JwtBearer" }, headers: {} },
  } as unknown as Delivery;
  const send = (
    auth = delivery.destination.auth, timeoutMs: number | null = null, headers: Destination["headers"] = {},
  ): Promise<SendOutcome> => {
    const destination = { ...delivery.destination, auth, timeoutMs, headers };
    return client.send({ ...delivery, destination }) as Promise<SendOutcome>;
  };
  return { send, to: (url: string) => requests.filter((request) => request.url === url) };
}

describe("delivery client", () => {
  it("gets a new token once the receiver has turned one down with 401, and for no other answer", async () => {
    const { send, to } = setUp([403, 401, 200, 500]);
    for (let attempt = 0; attempt < 5; attempt += 1) await send();
    expect(to(hook).map(({ headers }) => headers["Authorization"])).to.deep.equal(
      [1, 1, 2, 2, 2].map((number) => `Bearer token-${number}`),
    );
  });

  it("sends the newest credentials, and keeps them out of answers", async () => {
    const { send, to } = setUp(["one", "one", "two"].map((token) => answer(200, { echo: `${token}-token` })));
    const [one, two] = ["one-token", "two-token"].map((credentials) => ({ type: "BearerToken", credentials }) as const);
    for (const auth of [one, one, two]) {
      expect(await send(auth)).to.have.nested.property("answer.body", '{"echo":"***"}');
    }
    expect(to(hook).map(({ headers }) => headers["Authorization"])).to.deep.equal(
      ["Bearer one-token", "Bearer one-token", "Bearer two-token"],
    );
  });

  it("sends the destination's own headers, masked in the log and where the receiver sends them back", async () => {
    const { send, to } = setUp([answer(200, { echo: "their-value" })]);
    const outcome = await send({ type: "BearerToken", credentials: "a-token" }, null, { "X-Theirs": "their-value" });
    expect(to(hook)[0]?.headers).to.include({ "X-Theirs": "their-value", Authorization: "Bearer a-token" });
    expect(outcome.requestHeaders).to.include({ "X-Theirs": "***", Authorization: "Bearer ***" });
    expect(outcome).to.have.nested.property("answer.body", '{"echo":"***"}');
  });

  it("leaves the delivery the rest of the deadline after the token", async () => {
    const { send, to } = setUp([200], 6_000);
    expect((await send()).durationMs).to.equal(6_000);
    expect(to(hook)[0]?.timeoutMs).to.equal(9_000);
  });

  it("sends nothing once the deadline is over, also with a valid token", async () => {
    const { send, to } = setUp([200], 15_000);
    expect(await send()).to.include({ ok: false, reason: "token", durationMs: 15_000 });
    expect(to(hook)).to.be.empty;
  });

  it("takes the destination's timeout for the relay's, upwards, too", async () => {
    for (const [timeoutMs, restMs] of [[60_000, 54_000], [7_000, 1_000]] as const) {
      const { send, to } = setUp([200], 6_000);
      await send(undefined, timeoutMs);
      expect(to(hook)[0]).to.include({ timeoutMs: restMs, deadlineMs: timeoutMs });
      expect(to(tokenEndpoint)[0]?.deadlineMs).to.equal(Math.max(timeoutMs, 15_000));
    }
  });

  it("does not wait longer for a token than the destination's timeout", async () => {
    const { send, to } = setUp([200], 6_000);
    expect(await send(undefined, 5_000)).to.include({ ok: false, reason: "token" });
    expect(to(hook)).to.be.empty;
  });

  it("tells which headers it sent, and none where no connection came about", async () => {
    const { send } = setUp([503, failure(true), failure(false)]);
    for (const sent of [true, true, false]) {
      const { requestHeaders } = await send();
      if (sent) expect(requestHeaders).to.include({ Authorization: "Bearer ***" });
      else expect(requestHeaders).to.deep.equal({});
    }
  });

  it("says of a redirect that it is not followed", async () => {
    for (const [status, isRedirect] of [[199, false], [300, true], [399, true], [400, false]] as const) {
      const why = isRedirect ? "; redirects are not followed" : "";
      expect(await setUp([status]).send()).to.include({ error: `the receiver answered ${status}${why}` });
    }
  });

  it("takes 200 to 299 for success, and nothing else", async () => {
    for (const [status, ok] of [[199, false], [200, true], [299, true], [300, false], [304, false]] as const) {
      expect((await setUp([status]).send()).ok, String(status)).to.equal(ok);
    }
  });

  it("tries no sooner than the token endpoint asks for", async () => {
    const refusal: OutboundAnswer = { ...answer(429), headers: { "retry-after": "600" } };
    const { send, to } = setUp([], 0, refusal);
    for (let attempt = 0; attempt < 2; attempt += 1) {
      const outcome = await send();
      expect(outcome).to.include({ ok: false, reason: "token", retryAfterMs: 600_000 });
    }
    expect(to(tokenEndpoint)).to.have.length(1);
    expect(to(hook)).to.be.empty;
  });

  it("keeps answers without any secret that the receiver may know: token, client secret, signing secret", async () => {
    const key = signingSecret.slice("whsec_".length);
    const base64 = Buffer.from(key).toString("base64url");
    const said = { token: "token-1", client: "hush", signing: signingSecret, key, base64 };
    const { send } = setUp([{ ...answer(200, said), headers: { [`x-${key}`]: `Bearer token-1, ${signingSecret}` } }]);
    const { answer: kept } = await send();
    expect(JSON.parse(kept?.body ?? "")).to.deep.equal({
      token: "***", client: "***", signing: "whsec_***", key: "***", base64: "***",
    });
    expect(kept?.headers).to.deep.equal({ "x-***": "Bearer ***, whsec_***" });
  });
});
