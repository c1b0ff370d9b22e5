import { expect } from "chai";
import { LogUnavailable } from "../../src/kernel/ports/event-store.ts";
import { createTenant, createUser, freshEmail, password, unique } from "../support/accounts.ts";
import { startApi, type TestApi } from "../support/api.ts";
import { inMemoryEngines, type InMemoryEngines } from "../support/api-engines.ts";
import { http, type HttpAnswer } from "../support/http.ts";

const minutes = 60_000;

describe("S6 throttles", () => {
  let engines: InMemoryEngines;
  let api: TestApi;
  const start = async (trustedProxies = 0) => {
    engines = await inMemoryEngines();
    const limits = {
      loginFailures: { max: 10, windowMs: 5 * minutes },
      tenantCreation: { max: 5, windowMs: 60 * minutes },
      inviteRegistration: { max: 10, windowMs: 60 * minutes },
    };
    api = await startApi(engines, { limits, trustedProxies });
  };
  afterEach(async () => {
    expect(api.errors).to.deep.equal([]);
    await api.close();
  });

  const enter = (email: string, secret: string, forwarded?: string): Promise<HttpAnswer> =>
    http("POST", `${api.url}/api/v1/auth/login`, {
      json: { email, password: secret },
      headers: forwarded === undefined ? {} : { "x-forwarded-for": forwarded },
    });
  /** Counts the passwords that are checked from now on. */
  const countedChecks = () => {
    const { passwords } = api.world;
    const matches = passwords.matches.bind(passwords);
    let checks = 0;
    passwords.matches = (...asked) => {
      checks += 1;
      return matches(...asked);
    };
    return () => checks;
  };
  const create = (fields: object = {}, forwarded?: string): Promise<HttpAnswer> =>
    http("POST", `${api.url}/api/v1/tenants`, {
      json: { name: unique("T"), ownerEmail: freshEmail(), ownerPassword: password, ...fields },
      headers: forwarded === undefined ? {} : { "x-forwarded-for": forwarded },
    });

  describe("logins", () => {
    it("are refused after 10 failures from one address for 5 minutes, even with the right password", async () => {
      await start();
      const { owner } = await createTenant(api.url);
      for (let n = 0; n < 10; n += 1) expect((await enter(freshEmail(), "wrong password")).status).to.equal(401);
      const refused = await enter(owner.email, password);
      expect([refused.status, refused.headers.get("retry-after")]).to.deep.equal([429, null]);
      engines.clock.advance(5 * minutes + 1_000);
      expect((await enter(owner.email, password)).status).to.equal(200);
    });

    it("are refused after 10 failures for one email, from any address", async () => {
      await start(1);
      const { owner } = await createTenant(api.url);
      for (let n = 0; n < 10; n += 1)
        expect((await enter(owner.email.toUpperCase(), "wrong password", `192.0.2.${n}`)).status).to.equal(401);
      expect((await enter(owner.email, password, "192.0.2.99")).status).to.equal(429);
      const second = await createUser(owner.client, "viewer");
      expect((await enter(second.email, password, "192.0.2.99")).status).to.equal(200);
    });

    it("that succeed neither count nor reset the count", async () => {
      await start();
      const { owner } = await createTenant(api.url);
      for (let n = 0; n < 12; n += 1) expect((await enter(owner.email, password)).status).to.equal(200);
      for (let n = 0; n < 9; n += 1) await enter(owner.email, "wrong password");
      expect((await enter(owner.email, password)).status).to.equal(200);
      expect((await enter(owner.email, "wrong password")).status).to.equal(401);
      expect((await enter(owner.email, password)).status).to.equal(429);
    });

    it("get no more than 10 checks when they come in parallel", async () => {
      await start();
      const { owner } = await createTenant(api.url);
      const checks = countedChecks();
      const answers = await Promise.all(Array.from({ length: 40 }, () => enter(owner.email, "wrong password")));
      expect(answers.filter(({ status }) => status === 401)).to.have.length(10);
      expect(answers.filter(({ status }) => status === 429)).to.have.length(30);
      expect(checks(), "passwords checked").to.equal(10);
    });

    it("count by the connection's address, and ignore headers of forwarding", async () => {
      await start();
      const { owner } = await createTenant(api.url);
      for (let n = 0; n < 10; n += 1) {
        const headers = {
          "x-forwarded-for": `192.0.2.${n}`, forwarded: `for=192.0.2.${n}`, "x-real-ip": `192.0.2.${n}`,
          "true-client-ip": `192.0.2.${n}`, "cf-connecting-ip": `192.0.2.${n}`,
        };
        const json = { email: freshEmail(), password: "wrong password" };
        expect((await http("POST", `${api.url}/api/v1/auth/login`, { json, headers })).status).to.equal(401);
      }
      expect((await enter(owner.email, password, "192.0.2.99")).status).to.equal(429);
    });

    it("behind a proxy ignore forwarded addresses written by the client, in any form", async () => {
      await start(1);
      const { owner } = await createTenant(api.url);
      const forged = [
        "", " ", ",", "127.0.0.1,", "unknown, ", "192.0.2.5, ", `${"x".repeat(2_000)}, `, "[::1]:1, ", "1.2.3.4 ,,",
        "-,",
      ].map((before) => `${before}198.51.100.7`);
      for (const from of forged) expect((await enter(freshEmail(), "wrong password", from)).status).to.equal(401);
      for (const from of forged) expect((await enter(owner.email, password, from)).status).to.equal(429);
      for (const same of ["198.51.100.7:5000", "::ffff:198.51.100.7", "[::ffff:198.51.100.7]:80"]) {
        expect((await enter(owner.email, password, same)).status, same).to.equal(429);
      }
      expect((await enter(owner.email, password, "198.51.100.8")).status).to.equal(200);
    });

    it("count an IPv6 client by its /64 in any notation, and the neighbouring /64 separately", async () => {
      await start(1);
      const { owner } = await createTenant(api.url);
      const own = [
        "2001:db8:1:2::", "2001:db8:1:2::1", "2001:DB8:1:2:ffff:ffff:ffff:ffff", "[2001:db8:1:2::3]:4711",
        "2001:0db8:0001:0002:0000:0000:0000:0005", "[2001:db8:1:2::6]", "2001:db8:1:2::192.0.2.1", "2001:db8:1:2::8%1",
        "198.51.100.1, 2001:db8:1:2::9", " 2001:db8:1:2::a ",
      ];
      for (const from of own) expect((await enter(freshEmail(), "wrong password", from)).status, from).to.equal(401);
      for (const from of [...own, "2001:db8:1:2::99"]) {
        expect((await enter(owner.email, password, from)).status, from).to.equal(429);
      }
      for (const from of ["2001:db8:1:3::1", "2001:db8:0:2::1", "::ffff:1.2.0.0"]) {
        expect((await enter(owner.email, password, from)).status, from).to.equal(200);
      }
    });

    it("are allowed again exactly at the end of each window", async () => {
      await start();
      const { owner } = await createTenant(api.url);
      for (let n = 0; n < 5; n += 1) await enter(owner.email, "wrong password");
      engines.clock.advance(2 * minutes);
      for (let n = 0; n < 5; n += 1) await enter(owner.email, "wrong password");
      engines.clock.advance(3 * minutes - 5_000);
      expect((await enter(owner.email, password)).status).to.equal(429);
      engines.clock.advance(5_000);
      for (let n = 0; n < 5; n += 1) expect((await enter(owner.email, "wrong password")).status).to.equal(401);
      expect((await enter(owner.email, password)).status).to.equal(429);
      engines.clock.advance(2 * minutes);
      expect((await enter(owner.email, password)).status).to.equal(200);
    });

    it("answered with 503, since the log is unavailable, are no failures", async () => {
      await start();
      const { owner } = await createTenant(api.url);
      const readStream = engines.store.readStream.bind(engines.store);
      engines.store.readStream = async () => {
        throw new LogUnavailable("away");
      };
      for (let n = 0; n < 12; n += 1) expect((await enter(owner.email, password)).status).to.equal(503);
      engines.store.readStream = readStream;
      expect((await enter(owner.email, password)).status).to.equal(200);
    });

    it("with a malformed body are no failures", async () => {
      await start();
      const { owner } = await createTenant(api.url);
      for (let n = 0; n < 12; n += 1) {
        expect((await http("POST", `${api.url}/api/v1/auth/login`, { json: { email: owner.email } })).status).to.equal(
          400,
        );
      }
      expect((await enter(owner.email, password)).status).to.equal(200);
    });
  });

  describe("tenant creations", () => {
    it("are refused after 5 requests from one address within the hour, successful or not", async () => {
      await start();
      const answers = [await create(), await create({ name: "" }), await create({ ownerEmail: 5 }), await create()];
      expect(answers.map(({ status }) => status)).to.deep.equal([201, 400, 400, 201]);
      expect((await http("POST", `${api.url}/api/v1/tenants`, { body: "no json" })).status).to.equal(400);
      for (const answer of [await create(), await http("POST", `${api.url}/api/v1/tenants`, { body: "no json" })]) {
        expect([answer.status, answer.headers.get("retry-after")]).to.deep.equal([429, null]);
      }
      engines.clock.advance(60 * minutes + 1_000);
      expect((await create()).status).to.equal(201);
    });

    it("are no more than 5 when they come in parallel", async () => {
      await start();
      const answers = await Promise.all(Array.from({ length: 40 }, () => create()));
      expect(answers.filter(({ status }) => status === 201)).to.have.length(5);
      expect(answers.filter(({ status }) => status === 429)).to.have.length(35);
      expect(answers.every(({ headers }) => headers.get("retry-after") === null)).to.equal(true);
      engines.clock.advance(60 * minutes - 5_000);
      expect((await create()).status).to.equal(429);
      engines.clock.advance(5_000);
      expect((await create()).status).to.equal(201);
    });

    it("count by the connection's address, and ignore X-Forwarded-For", async () => {
      await start();
      for (let n = 0; n < 5; n += 1) expect((await create({}, `192.0.2.${n}`)).status).to.equal(201);
      expect((await create({}, "192.0.2.99")).status).to.equal(429);
    });

    it("behind trusted proxies count by the client address seen by the first proxy", async () => {
      await start(2);
      // The client can write anything to the left of the addresses that the proxies add.
      for (let n = 0; n < 5; n += 1)
        expect((await create({}, `203.0.113.${n}, 192.0.2.1, 10.0.0.1`)).status).to.equal(201);
      expect((await create({}, "203.0.113.99, 192.0.2.1, 10.0.0.2")).status).to.equal(429);
      expect((await create({}, "192.0.2.1, 192.0.2.2, 10.0.0.1")).status).to.equal(201);
    });
  });

  const register = (token: string, body: string, forwarded?: string): Promise<HttpAnswer> =>
    http("POST", `${api.url}/api/v1/invites/${token}/register`, {
      body,
      headers: forwarded === undefined ? {} : { "x-forwarded-for": forwarded },
    });
  for (const [what, max, ask] of [
    ["tenant creations", 5, (from: string) => create({ name: "" }, from)],
    ["invite registrations", 10, (from: string) => register("inv_none", "{}", from)],
  ] as const) {
    it(`count ${what} of an IPv6 client by its /64, and of a mapped IPv4 client by its address`, async () => {
      await start(1);
      for (let n = 0; n < max; n += 1) {
        expect((await ask(`2001:db8:1:2:${n}::1`)).status).to.equal(400);
        expect((await ask(n % 2 === 0 ? "192.0.2.1" : "[::FFFF:192.0.2.1]:80")).status).to.equal(400);
      }
      for (const from of ["2001:db8:1:2:ffff::1", "[2001:DB8:1:2::]:80", "::ffff:192.0.2.1", "192.0.2.1:80"]) {
        expect((await ask(from)).status, from).to.equal(429);
      }
      for (const from of ["2001:db8:1:3::1", "::ffff:192.0.2.2"]) {
        expect((await ask(from)).status, from).to.equal(400);
      }
    });
  }

  describe("invite registrations", () => {
    it("are refused after 10 requests from one address within the hour, successful or not", async () => {
      await start();
      const { owner } = await createTenant(api.url);
      const invite = async () =>
        String((await owner.client.post("/api/v1/invites", { email: freshEmail(), role: 0 })).json["inviteToken"]);
      const good = JSON.stringify({ password });
      const tokens = await Promise.all([invite(), invite(), invite()]);
      const [first = "", second = "", third = ""] = tokens;
      for (const [token, body, status] of [
        [first, good, 201],
        [first, good, 409],
        [second, "no json", 400],
        ...Array.from({ length: 6 }, () => ["inv_none", good, 404] as const),
        [second, good, 201],
      ] as const) {
        expect((await register(token, body)).status).to.equal(status);
      }
      for (const body of [good, "no json"]) {
        const refused = await register(third, body);
        expect([refused.status, refused.headers.get("retry-after")]).to.deep.equal([429, null]);
      }
      engines.clock.advance(60 * minutes + 1_000);
      expect((await register(third, good)).status).to.equal(201);
    });

    it("are no more than 10 when they come in parallel, with any X-Forwarded-For", async () => {
      await start();
      const { owner } = await createTenant(api.url);
      const invite = { email: freshEmail(), role: 0 };
      const token = String((await owner.client.post("/api/v1/invites", invite)).json["inviteToken"]);
      const answers = await Promise.all(
        Array.from({ length: 40 }, (_, n) => register(token, JSON.stringify({ password }), `192.0.2.${n}`)),
      );
      expect(answers.filter(({ status }) => status === 201)).to.have.length(1);
      expect(answers.filter(({ status }) => status === 429)).to.have.length(30);
      expect(answers.every(({ headers }) => headers.get("retry-after") === null)).to.equal(true);
    });

    it("behind trusted proxies count by the client address seen by the first proxy", async () => {
      await start(1);
      for (let n = 0; n < 10; n += 1) {
        expect((await register("inv_none", JSON.stringify({ password }), "192.0.2.1")).status).to.equal(404);
      }
      expect((await register("inv_none", "{}", "192.0.2.1")).status).to.equal(429);
      expect((await register("inv_none", "{}", "192.0.2.2")).status).to.equal(400);
    });
  });
});
