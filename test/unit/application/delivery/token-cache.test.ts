import { expect } from "chai";
import { TokenCache, type TenantGrant } from "../../../../src/application/delivery/token-cache.ts";
import type { OutboundAnswer, OutboundFailure, OutboundRequest } from "../../../../src/ports/outbound.ts";

type Respond = (request: OutboundRequest, count: number) => OutboundAnswer | OutboundFailure;

const grant: TenantGrant = {
  tenantId: "tenant", tokenEndpoint: "https://id.example/token",
  clientId: "some client", clientSecret: "top:secret+", scope: "a b",
};

function json(fields: object, statusCode = 200): OutboundAnswer {
  return { answered: true, statusCode, headers: {}, body: Buffer.from(JSON.stringify(fields)), truncated: false };
}

/** A cache over a scripted token endpoint and a clock that stands still until moved. */
function setUp(respond: Respond, capacity = 10) {
  const requests: OutboundRequest[] = [];
  let time = 1000;
  const cache = new TokenCache({
    outbound: {
      post: async (request) => {
        requests.push(request);
        return respond(request, requests.length);
      },
      refusalOf: () => null,
      close: async () => {},
    },
    clock: { now: () => 0, monotonic: () => time, schedule: () => ({ cancel: () => {} }) },
    userAgent: "webhook-relay/1", deadlineMs: 15_000, capacity,
  });
  return { cache, requests, advance: (ms: number) => void (time += ms) };
}

const numbered: Respond = (_request, count) =>
  json({ access_token: `token-${count}`, token_type: "Bearer", expires_in: 300 });

async function tokenOf(cache: TokenCache, wanted = grant): Promise<string> {
  const result = await cache.token(wanted);
  return "token" in result ? result.token : `failed: ${result.error}`;
}

describe("token cache", () => {
  it("asks by the client-credentials grant, the client proven by HTTP Basic", async () => {
    const { cache, requests } = setUp(numbered);
    expect(await cache.token(grant)).to.deep.equal({ token: "token-1" });
    const [request] = requests;
    expect(request?.url).to.equal(grant.tokenEndpoint);
    expect(request?.body).to.equal("grant_type=client_credentials&scope=a+b");
    expect(request?.headers).to.include({
      "Content-Type": "application/x-www-form-urlencoded",
      // RFC 6749, 2.3.1: both parts form-encoded first.
      Authorization: `Basic ${Buffer.from("some+client:top%3Asecret%2B").toString("base64")}`,
    });
  });

  it("leaves the scope out when there is none", async () => {
    const { cache, requests } = setUp(numbered);
    await cache.token({ ...grant, scope: undefined });
    expect(requests[0]?.body).to.equal("grant_type=client_credentials");
  });

  it("proves the client in the form to an endpoint that turns HTTP Basic down", async () => {
    for (const status of [400, 401]) {
      const { cache, requests } = setUp(({ headers }, count) =>
        headers.Authorization ? json({ error: "invalid_client" }, status) : numbered({} as OutboundRequest, count));
      expect(await tokenOf(cache)).to.equal("token-2");
      const body = new URLSearchParams(String(requests[1]?.body));
      expect(Object.fromEntries(body)).to.deep.equal({
        grant_type: "client_credentials", scope: "a b", client_id: "some client", client_secret: "top:secret+",
      });
      expect(requests[1]?.headers).to.not.have.property("Authorization");
    }
  });

  it("takes the token of any 2xx answer", async () => {
    for (const status of [200, 201, 299]) {
      const { cache } = setUp(() => json({ access_token: "made", expires_in: 300 }, status));
      expect(await tokenOf(cache)).to.equal("made");
    }
    for (const status of [199, 300]) {
      const { cache } = setUp(() => json({ access_token: "made", expires_in: 300 }, status));
      expect(await tokenOf(cache)).to.match(/^failed: the token endpoint answered \d+$/);
    }
  });

  it("keeps a token until a minute before its end", async () => {
    const { cache, requests, advance } = setUp(numbered);
    await cache.token(grant);
    advance(239_999);
    expect(await tokenOf(cache)).to.equal("token-1");
    advance(1);
    expect(await tokenOf(cache)).to.equal("token-2");
    expect(requests).to.have.lengthOf(2);
  });

  it("keeps no token for longer than an hour, nor one that lives a minute", async () => {
    const long = setUp((_request, count) => json({ access_token: `long-${count}`, expires_in: 86_400 }));
    await long.cache.token(grant);
    long.advance(3_599_999);
    expect(await tokenOf(long.cache)).to.equal("long-1");
    long.advance(1);
    expect(await tokenOf(long.cache)).to.equal("long-2");

    const short = setUp((_request, count) => json({ access_token: `short-${count}`, expires_in: 60 }));
    expect(await tokenOf(short.cache)).to.equal("short-1");
    expect(await tokenOf(short.cache)).to.equal("short-2");
  });

  it("takes a token's end from a text, too", async () => {
    const { cache, advance } = setUp((_request, count) => json({ access_token: `token-${count}`, expires_in: "600" }));
    await cache.token(grant);
    advance(539_999);
    expect(await tokenOf(cache)).to.equal("token-1");
    advance(1);
    expect(await tokenOf(cache)).to.equal("token-2");
  });

  it("takes a token's end for not said, five minutes then, where it is missing or no number", async () => {
    // Of the last, JavaScript throws at making a number.
    for (const end of [undefined, null, "soon", { toString: 1 }]) {
      const { cache, advance } = setUp((_request, count) => json({ access_token: `token-${count}`, expires_in: end }));
      await cache.token(grant);
      advance(239_999);
      expect(await tokenOf(cache), JSON.stringify(end)).to.equal("token-1");
      advance(1);
      expect(await tokenOf(cache), JSON.stringify(end)).to.equal("token-2");
    }
  });

  it("fetches once for all who ask at the same time, and once for each grant of a tenant", async () => {
    const { cache, requests } = setUp(numbered);
    const tokens = await Promise.all(Array.from({ length: 50 }, () => tokenOf(cache)));
    expect(new Set(tokens)).to.deep.equal(new Set(["token-1"]));
    for (const field of ["tenantId", "tokenEndpoint", "clientId", "clientSecret", "scope"] as const) {
      await cache.token({ ...grant, [field]: `${grant[field]}/other` });
    }
    expect(requests).to.have.lengthOf(6);
  });

  it("drops the token that was turned down, and not a newer one", async () => {
    const { cache, requests } = setUp(numbered);
    await cache.token(grant);
    cache.drop(grant, "token-1");
    expect(await tokenOf(cache)).to.equal("token-2");
    cache.drop(grant, "token-1");
    expect(await tokenOf(cache)).to.equal("token-2");
    expect(requests).to.have.lengthOf(2);
  });

  it("remembers a bounded number of grants", async () => {
    const { cache, requests } = setUp(numbered, 2);
    for (const clientId of ["a", "b", "c", "c", "a"]) await cache.token({ ...grant, clientId });
    expect(requests).to.have.lengthOf(4);
  });

  it("says why there is no token, keeps no failure, and repeats no secret", async () => {
    const failures: readonly (readonly [ReturnType<Respond>, RegExp])[] = [
      [
        {
          answered: false, reason: "address refused", connected: false,
          error: "address refused: the host has an address that may not be called",
        },
        /may not be called/,
      ],
      [json({ error: "invalid_scope" }, 403), /answered 403 \(invalid_scope\)$/],
      [json({ error: "top:secret+ is wrong" }, 500), /answered 500$/],
      [json({}, 302), /answered 302$/],
      [json({ access_token: "split\r\nX-Evil: 1" }), /no usable access_token/],
      [json({ access_token: 7 }), /no usable access_token/],
      [json([]), /no usable access_token/],
      [{ ...json({}), body: Buffer.from("<html>top:secret+") }, /no usable access_token/],
    ];
    for (const [response, error] of failures) {
      const { cache } = setUp((_request, count) => (count === 1 ? response : numbered({} as OutboundRequest, count)));
      const failed = await tokenOf(cache);
      expect(failed).to.match(error).and.to.not.include("top:secret");
      expect(await tokenOf(cache)).to.equal("token-2");
    }
  });

  it("shares one deadline between both ways of asking", async () => {
    const { cache, requests, advance } = setUp(() => {
      advance(9000);
      return json({}, 401);
    });
    expect(await tokenOf(cache)).to.match(/answered 401$/);
    expect(requests.map(({ timeoutMs }) => timeoutMs)).to.deep.equal([15_000, 6000]);
  });
});
