import { expect } from "chai";
import { TokenCache, type TenantGrant } from "../../../../src/delivery/requests/token-cache.ts";
import { dayMs } from "../../../../src/kernel/domain/time.ts";
import type { OutboundAnswer, OutboundFailure, OutboundRequest } from "../../../../src/kernel/ports/outbound.ts";

type Respond = (request: OutboundRequest, count: number) => OutboundAnswer | OutboundFailure;

const grant: TenantGrant = {
  tenantId: "tenant", tokenEndpoint: "https://id.example/token",
  clientId: "some client", clientSecret: "top:secret+", scope: "a b",
};

function json(fields: object, statusCode = 200, headers: Record<string, string> = {}): OutboundAnswer {
  return { answered: true, statusCode, headers, body: Buffer.from(JSON.stringify(fields)), truncated: false };
}

const isBasic = ({ headers }: OutboundRequest) => headers["Authorization"] !== undefined;

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

  const refusals: Readonly<Record<string, OutboundAnswer>> = {
    "a redirect": json({}, 302),
    ...Object.fromEntries([400, 401, 403, 404, 405, 415, 422, 500].map((status) =>
      [String(status), json({ error: "invalid_client" }, status)])),
    "200 with an error": json({ error: "invalid_client" }),
    "200 with an error of its own": json({ ok: false, error: "bad_auth" }),
    "200 without JSON": { ...json({}), body: Buffer.from("<html>Sign in</html>") },
    "200 and an empty token": json({ access_token: "", error: null }),
  };
  for (const [what, refusal] of Object.entries(refusals)) {
    it(`proves the client in the form where HTTP Basic is answered by ${what}`, async () => {
      const { cache, requests } = setUp((request, count) => (isBasic(request) ? refusal : numbered(request, count)));
      expect(await tokenOf(cache)).to.equal("token-2");
      const body = new URLSearchParams(String(requests[1]?.body));
      expect(Object.fromEntries(body)).to.deep.equal({
        grant_type: "client_credentials", scope: "a b", client_id: "some client", client_secret: "top:secret+",
      });
      expect(requests.map(isBasic)).to.deep.equal([true, false]);
    });

    it(`asks twice, and no more, where both proofs are answered by ${what}`, async () => {
      const { cache, requests } = setUp(() => refusal);
      expect(await tokenOf(cache)).to.match(/^failed: the token endpoint('s answer| answered)[^;]+$/);
      expect(requests.map(isBasic)).to.deep.equal([true, false]);
    });
  }

  it("asks once if the endpoint is overloaded, unavailable, or may not be called", async () => {
    const failure: OutboundFailure = { answered: false, reason: "timeout", error: "no answer", connected: true };
    for (const outcome of [...[429, 502, 503, 504].map((status) => json({}, status)), failure]) {
      const { cache, requests } = setUp(() => outcome);
      expect(await tokenOf(cache)).to.match(/^failed: /);
      expect(requests.map(isBasic)).to.deep.equal([true]);
    }
  });

  it("uses the proof that last worked, and the other one if that is refused", async () => {
    let accepts = false;
    const { cache, requests, advance } = setUp((request, count) =>
      isBasic(request) === accepts ? numbered(request, count) : json({}, 401));
    const proofs = async () => {
      const before = requests.length;
      expect(await tokenOf(cache)).to.match(/^token-/);
      return requests.slice(before).map(isBasic);
    };
    expect(await proofs()).to.deep.equal([true, false]);
    advance(240_000);
    expect(await proofs()).to.deep.equal([false]);
    cache.drop(grant, `token-${requests.length}`);
    expect(await proofs()).to.deep.equal([false]);
    accepts = true;
    advance(240_000);
    expect(await proofs()).to.deep.equal([false, true]);
    advance(240_000);
    expect(await proofs()).to.deep.equal([true]);
  });

  it("remembers the proof although no token lives long enough to be kept, and after a failure", async () => {
    let fails = false;
    const { cache, requests } = setUp((request) =>
      (fails ? json({}, 503) : isBasic(request) ? json({}, 403) : json({ access_token: "short", expires_in: 1 })));
    await cache.token(grant);
    await cache.token(grant);
    fails = true;
    await cache.token(grant);
    fails = false;
    await cache.token(grant);
    expect(requests.map(isBasic)).to.deep.equal([true, false, false, false, false]);
  });

  it("reports both answers if they differ", async () => {
    const { cache } = setUp((request) =>
      (isBasic(request) ? json({ error: "invalid_client" }, 401) : json({ error: "invalid_scope" }, 400)));
    expect(await tokenOf(cache)).to.equal(
      "failed: the token endpoint answered 401 (invalid_client); "
      + "when the client proved itself in the form, the token endpoint answered 400 (invalid_scope)",
    );
  });

  it("asks no endpoint again before the Retry-After of its 429 or 503, and tells how long that is", async () => {
    for (const status of [429, 503]) {
      const { cache, requests, advance } = setUp((request, count) =>
        (count === 1 ? json({}, status, { "retry-after": "90" }) : numbered(request, count)));
      const error = (left: number) =>
        `the token endpoint answered ${status}; it asked to be left alone for another ${left} s`;
      expect(await cache.token(grant)).to.deep.equal({ error: error(90), retryAfterMs: 90_000 });
      advance(30_500);
      expect(await cache.token(grant)).to.deep.equal({ error: error(60), retryAfterMs: 59_500 });
      expect(await tokenOf(cache, { ...grant, clientId: "another" })).to.equal("token-2");
      advance(59_499);
      expect(await tokenOf(cache)).to.match(/^failed/);
      advance(1);
      expect(await tokenOf(cache)).to.equal("token-3");
      expect(requests).to.have.lengthOf(3);
    }
  });

  it("waits for a Retry-After of the second answer, a day at most; not for one of 0, or of other answers", async () => {
    const answerBy = async (first: OutboundAnswer, second: OutboundAnswer) =>
      setUp((request) => (isBasic(request) ? first : second)).cache.token(grant);
    const long = json({}, 429, { "retry-after": "Sun, 06 Nov 2095 08:49:37 GMT" });
    expect(await answerBy(json({}, 401), long)).to.deep.include({ retryAfterMs: dayMs });
    const none = json({}, 403, { "retry-after": "90" });
    expect(await answerBy(none, none))
      .to.deep.equal({ error: "the token endpoint answered 403", retryAfterMs: null });
    expect(await answerBy(json({}, 503, { "retry-after": "0" }), none))
      .to.deep.equal({ error: "the token endpoint answered 503", retryAfterMs: 0 });
  });

  it("reads JSON behind a byte order mark and of any type, and a token of any or no type", async () => {
    for (const type of [undefined, "bearer", "Bearer", "BEARER", "jwt", 7, null]) {
      const fields = JSON.stringify({ access_token: "made", token_type: type });
      for (const contentType of ["application/json; charset=utf-8", "text/html", "", "APPLICATION/JSON"]) {
        const answer = json({}, 200, { "content-type": contentType });
        for (const text of [fields, `\uFEFF${fields}`, `\n ${fields}\r\n`]) {
          const { cache } = setUp(() => ({ ...answer, body: Buffer.from(text) }));
          expect(await tokenOf(cache), `${contentType}: ${text}`).to.equal("made");
        }
      }
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

  it("keeps no token for longer than an hour, and none with a life of a minute", async () => {
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

  it("takes a token's lifetime from a text, too", async () => {
    for (const end of ["600", " 600 ", "600.0", "6e2"]) {
      const { cache, advance } = setUp((_request, count) => json({ access_token: `token-${count}`, expires_in: end }));
      await cache.token(grant);
      advance(539_999);
      expect(await tokenOf(cache), end).to.equal("token-1");
      advance(1);
      expect(await tokenOf(cache), end).to.equal("token-2");
    }
  });

  it("takes five minutes for a token's lifetime where that is missing or no number", async () => {
    // JavaScript throws at converting the last one to a number.
    for (const end of [undefined, null, true, "", " ", "soon", [600], { toString: 1 }]) {
      const { cache, advance } = setUp((_request, count) => json({ access_token: `token-${count}`, expires_in: end }));
      await cache.token(grant);
      advance(239_999);
      expect(await tokenOf(cache), JSON.stringify(end)).to.equal("token-1");
      advance(1);
      expect(await tokenOf(cache), JSON.stringify(end)).to.equal("token-2");
    }
  });

  it("fetches once for all concurrent callers, and once for each grant of a tenant", async () => {
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
        /may not be called$/,
      ],
      [json({ error: "invalid_scope" }, 403), /answered 403 \(invalid_scope\)$/],
      [json({ error: "invalid_scope" }), /answered 200 \(invalid_scope\)$/],
      [json({ error: "top:secret+ is wrong", error_description: "top:secret+" }, 500), /answered 500$/],
      [json({ error: "top:secret+ is wrong" }), /no usable access_token$/],
      [json({ error: ["top:secret+"] }, 400), /answered 400$/],
      [json({}, 302, { location: "https://id.example/top:secret+" }), /answered 302$/],
      [json({ access_token: "split\r\nX-Evil: 1" }), /no usable access_token$/],
      [json({ access_token: 7 }), /no usable access_token$/],
      [json([]), /no usable access_token$/],
      [{ ...json({}), body: Buffer.from("null") }, /no usable access_token$/],
      [{ ...json({}), body: Buffer.from("<html>top:secret+") }, /no usable access_token$/],
    ];
    for (const [response, error] of failures) {
      let fails = true;
      const { cache } = setUp((request, count) => (fails ? response : numbered(request, count)));
      const failed = await tokenOf(cache);
      expect(failed).to.match(error).and.to.not.include("top:secret");
      fails = false;
      expect(await tokenOf(cache)).to.match(/^token-/);
    }
  });

  it("shares one deadline between the requests with both proofs", async () => {
    const { cache, requests, advance } = setUp(() => {
      advance(9000);
      return json({}, 401);
    });
    expect(await tokenOf(cache)).to.match(/answered 401$/);
    expect(requests.map(({ timeoutMs }) => timeoutMs)).to.deep.equal([15_000, 6000]);
  });

  it("sends the audience, the resource and further parameters, which never replace the grant's own", async () => {
    const { cache, requests } = setUp(numbered);
    await cache.token({
      ...grant, audience: "an audience", resource: "https://api.example/",
      extraParameters: { tenant: "t&1", scope: "all" },
    });
    expect(Object.fromEntries(new URLSearchParams(requests[0]?.body as string))).to.deep.equal({
      grant_type: "client_credentials", scope: "a b", audience: "an audience", resource: "https://api.example/",
      tenant: "t&1",
    });
  });

  it("keeps a token for each set of parameters and each client certificate", async () => {
    const { cache, requests } = setUp(numbered);
    const pair = { certificate: "", privateKey: "" };
    const grants = [
      {}, { audience: "a" }, { resource: "a" }, { extraParameters: { a: "b" } }, { extraParameters: { a: "c" } },
      { clientAuthentication: "form" }, { clientCertificate: { ...pair, id: "1" } },
      { clientCertificate: { ...pair, id: "2" } },
    ] as const;
    for (const more of [...grants, ...grants]) await cache.token({ ...grant, ...more });
    expect(requests).to.have.lengthOf(grants.length);
    expect(requests.slice(-2).map(({ clientCertificate }) => clientCertificate?.id)).to.deep.equal(["1", "2"]);
  });

  for (const clientAuthentication of ["basic", "form"] as const) {
    it(`proves the client by ${clientAuthentication} alone where the grant says so`, async () => {
      const { cache, requests } = setUp(() => json({ error: "invalid_client" }, 401));
      expect(await tokenOf(cache, { ...grant, clientAuthentication })).to.match(/answered 401 \(invalid_client\)$/);
      expect(requests.map(isBasic)).to.deep.equal([clientAuthentication === "basic"]);
    });
  }
});
