import { once } from "node:events";
import { get, type IncomingMessage } from "node:http";
import { text } from "node:stream/consumers";
import { expect } from "chai";
import { createUser, login, password, signIn, type Account } from "../support/accounts.ts";
import { startApi, type TestApi } from "../support/api.ts";
import { describeOnEngines, type SharedEngines } from "../support/api-engines.ts";
import { apiStage } from "../support/api-stage.ts";
import { http, shaped, type HttpAnswer } from "../support/http.ts";

const dayMs = 24 * 60 * 60 * 1000;

/** The answer to a list under any `Host`, which `fetch` would set itself, and with headers given several times. */
async function listAt(url: string, headers: Readonly<Record<string, string | readonly string[]>>) {
  // Node would join several cookies of an object.
  const lines = Object.entries({ host: "localhost", ...headers }).flatMap(([name, values]) =>
    [values].flat().flatMap((value) => [name, value]));
  const [answer] = (await once(get(`${url}/api/v1/users`, { headers: lines }), "response")) as [IncomingMessage];
  return { status: answer.statusCode, body: await text(answer) };
}

describeOnEngines("sessions of browsers", (freshEngines) => {
  let engines: SharedEngines;
  let api: TestApi;
  let one: Account;
  apiStage(freshEngines, (stage) => ({ engines, api, one } = stage));

  type Headers = Readonly<Record<string, string>>;
  const enter = (headers: Headers = {}, secret = password) =>
    http("POST", `${api.url}/api/v1/auth/session`, { json: { email: one.owner.email, password: secret }, headers });
  const users = (headers: Headers) => http("GET", `${api.url}/api/v1/users`, { headers });
  const status = async (headers: Headers) => (await users(headers)).status;
  const renew = (headers: Headers) => http("POST", `${api.url}/api/v1/auth/session/renewal`, { headers });
  const cookieOf = (answer: HttpAnswer) => answer.headers.getSetCookie()[0]?.split(";")[0] ?? "";
  const own = { "sec-fetch-site": "same-origin" };

  describe("signing in", () => {
    it("gives 200 with the user and the end, and a cookie that only its own host gets, over TLS", async () => {
      const answer = await enter();
      const session = shaped(answer, "browser-session");
      expect(answer.status).to.equal(200);
      expect(Object.keys(session)).to.have.members(["user", "expiresAt"]);
      expect(session["user"]).to.deep.include({ id: one.owner.id, email: one.owner.email });
      const [cookie, other] = answer.headers.getSetCookie();
      expect(cookie).to.match(
        /^__Host-relay=[\w.-]+; Max-Age=3600; Path=\/; HttpOnly; Secure; SameSite=Strict$/,
      );
      expect(other).to.match(/^relay-local=; Max-Age=0; /);
    });

    for (const origin of ["http://localhost", "http://localhost:8080", "http://127.0.0.1:8080", "http://[::1]:8080"]) {
      it(`from ${origin} gives a cookie without Secure, and removes the other`, async () => {
        const [cookie, other] = (await enter({ origin })).headers.getSetCookie();
        expect(cookie).to.match(/^relay-local=[\w.-]+; Max-Age=3600; Path=\/; HttpOnly; SameSite=Strict$/);
        expect(other).to.match(/^__Host-relay=; Max-Age=0; Path=\/; HttpOnly; Secure; SameSite=Strict$/);
      });
    }

    for (const origin of ["https://localhost", "https://relay.example", "null"]) {
      it(`from ${origin} gives the secure cookie`, async () => {
        expect(cookieOf(await enter({ origin }))).to.match(/^__Host-relay=/);
      });
    }

    for (const origin of [
      "http://relay.example", "http://localhost.example", "http://192.168.0.1:8080", "http://127.0.0.2", "http:",
    ]) {
      it(`from ${origin} gives 400 without a look at the password, since browsers would drop the cookie`, async () => {
        for (const secret of [password, "another"]) {
          const answer = await enter({ origin }, secret);
          expect(answer.status).to.equal(400);
          expect(answer.text).to.match(/^Origin: must be https:.* TLS, or a tunnel to localhost$/);
          expect(answer.headers.getSetCookie()).to.deep.equal([]);
        }
      });
    }

    it("with a wrong password gives the 401 of a login, and no cookie", async () => {
      const answer = await enter({}, "another");
      expect([answer.status, answer.text]).to.deep.equal([401, "email or password is wrong"]);
      expect(answer.headers.getSetCookie()).to.deep.equal([]);
    });

    it("counts with logins towards their limit", async () => {
      const limits = { loginFailures: { max: 1, windowMs: dayMs }, tenantCreation: null, inviteRegistration: null };
      const limited = await startApi(engines, { limits });
      try {
        const { email } = await createUser(one.owner.client, "viewer");
        const wrong = { json: { email, password: "another" }, headers: {} };
        expect((await http("POST", `${limited.url}/api/v1/auth/login`, wrong)).status).to.equal(401);
        expect((await http("POST", `${limited.url}/api/v1/auth/session`, wrong)).status).to.equal(429);
      } finally {
        await limited.close();
      }
    });
  });

  describe("the cookie", () => {
    it("lets in requests of the relay's own pages", async () => {
      const headers = await signIn(api.url, one.viewer.email);
      expect(await status(headers)).to.equal(200);
      const issued = await http("POST", `${api.url}/api/v1/api-keys`, { headers, json: { name: "key" } });
      expect([issued.status, issued.text]).to.deep.equal([403, "only Developer or above may issue API keys"]);
    });

    for (const site of ["cross-site", "same-site", "none", "Same-Origin", undefined]) {
      it(`gives 403 with Sec-Fetch-Site ${site ?? "absent"}, and changes nothing`, async () => {
        const { cookie } = await signIn(api.url, one.owner.email);
        const headers = { cookie, ...(site === undefined ? {} : { "sec-fetch-site": site }) };
        const head = await engines.store.head();
        const issued = await http("POST", `${api.url}/api/v1/api-keys`, { headers, json: { name: "key" } });
        for (const answer of [await users(headers), issued]) {
          expect(answer.status).to.equal(403);
          expect(answer.text).to.include("Sec-Fetch-Site");
        }
        expect(await engines.store.head()).to.equal(head);
      });
    }

    it("gives 403 to a form of another site before its body is looked at", async () => {
      const { cookie } = await signIn(api.url, one.owner.email);
      const answer = await http("POST", `${api.url}/api/v1/events/purge`, {
        headers: {
          cookie, "sec-fetch-site": "cross-site", "content-type": "application/x-www-form-urlencoded",
          origin: "https://attacker.example",
        },
        body: "before=2030-01-01",
      });
      expect(answer.status).to.equal(403);
    });

    it("that is not valid gives 401 before that", async () => {
      const { cookie } = await signIn(api.url, one.owner.email);
      for (const bad of [`${cookie}x`, "__Host-relay=", "__Host-relay=x", `__Host-relay=${one.owner.client.token}`]) {
        for (const headers of [own, {}]) expect(await status({ cookie: bad, ...headers }), bad).to.equal(401);
      }
    });

    it("is ignored beside an Authorization, good or bad", async () => {
      const headers = await signIn(api.url, one.owner.email);
      expect(await status({ ...headers, authorization: "Bearer x" })).to.equal(401);
      expect(await status({ ...headers, authorization: "Basic x" })).to.equal(401);
      const authorization = `Bearer ${one.owner.client.token}`;
      expect(await status({ cookie: "__Host-relay=x", authorization })).to.equal(200);
      expect(await status({ cookie: headers.cookie, authorization })).to.equal(200);
    });

    it("is found among others", async () => {
      const { cookie } = await signIn(api.url, one.owner.email);
      expect(await status({ ...own, cookie: `a=1; __Host-relayed=x; ${cookie}; b=__Host-relay=2` })).to.equal(200);
      expect(await status({ ...own, cookie: "a=1; b=2" })).to.equal(401);
    });

    describe("beside another session cookie", () => {
      let own: string;
      let planted: string;
      before(async () => {
        const local = "http://localhost:8080";
        [own, planted] = await Promise.all([one.owner.email, one.viewer.email].map(async (email) =>
          (await signIn(api.url, email, local)).cookie)) as [string, string];
      });

      const secureOf = (cookie: string) => cookie.replace("relay-local", "__Host-relay");
      const spellings: Readonly<Record<string, () => string | readonly string[]>> = {
        "of the same name": () => `${planted}; ${own}`,
        "of the same name, behind it": () => `${own}; ${planted}`,
        "of the same name and value": () => `${own}; ${own}`,
        "of the other name": () => `${own}; ${secureOf(planted)}`,
        "of the other name, before it": () => `${secureOf(planted)}; ${own}`,
        "of the name with Secure, twice": () => `${secureOf(planted)}; ${secureOf(own)}`,
        "among others": () => `a=1; ${planted}; b=2; ${own}; c=3`,
        "in a header of its own": () => [planted, own],
        "in a header of its own, of the other name": () => [own, secureOf(planted)],
        "without a blank between them": () => `${planted};${own}`,
        "with blanks and tabs around its name": () => `\trelay-local = ${planted.split("=")[1]}; ${own}`,
        "that is empty": () => `relay-local=; ${own}`,
        "that is not valid": () => `${own}; relay-local=x`,
        "in quotes": () => `relay-local="${planted.split("=")[1]}"; ${own}`,
      };
      for (const [name, cookie] of Object.entries(spellings)) {
        it(`${name} gives 401 at every host`, async () => {
          for (const host of ["localhost:8080", "relay.example"]) {
            const answer = await listAt(api.url, { "sec-fetch-site": "same-origin", host, cookie: cookie() });
            expect(answer.status, host).to.equal(401);
            expect(answer.body).to.match(/^Cookie: several session cookies .* remove this site's cookies/);
          }
        });
      }

      it("is ignored beside an Authorization", async () => {
        const authorization = `Bearer ${one.owner.client.token}`;
        expect((await listAt(api.url, { authorization, cookie: `${planted}; ${own}` })).status).to.equal(200);
      });

      it("does not count as one where only its name or value begins alike", async () => {
        const cookie = `relay-locals=x; xrelay-local=x; RELAY-LOCAL=x; a=relay-local=x; ${own}; relay-local`;
        expect((await listAt(api.url, { "sec-fetch-site": "same-origin", host: "localhost", cookie })).status)
          .to.equal(200);
      });
    });

    it("is no access token", async () => {
      const { cookie } = await signIn(api.url, one.owner.email);
      expect(await status({ authorization: `Bearer ${cookie.split("=")[1]}` })).to.equal(401);
    });

    it("without Secure counts only where Host is the machine itself", async () => {
      const headers = await signIn(api.url, one.owner.email, "http://localhost:8080");
      expect(headers.cookie).to.match(/^relay-local=/);
      for (const host of ["localhost", "localhost:8080", "LOCALHOST:1", "127.0.0.1:8080", "[::1]", "[::1]:8080"]) {
        expect((await listAt(api.url, { ...headers, host })).status, host).to.equal(200);
      }
      for (const host of ["relay.example", "localhost.example", "127.0.0.1.example:8080", "[::2]", "x@localhost"]) {
        expect((await listAt(api.url, { ...headers, host })).status, host).to.equal(401);
      }
    });
  });

  describe("a renewal", () => {
    it("gives another cookie of the same name, and ends the old one", async () => {
      for (const origin of [undefined, "http://localhost:8080"]) {
        const headers = await signIn(api.url, one.owner.email, origin);
        engines.clock.advance(1_800_000);
        const answer = await renew(headers);
        expect(answer.status).to.equal(200);
        const { expiresAt } = shaped(answer, "browser-session");
        expect(new Date(String(expiresAt)).getTime() - engines.clock.now()).to.be.within(3_590_000, 3_600_000);
        const cookie = cookieOf(answer);
        expect(cookie.split("=")[0]).to.equal(headers.cookie.split("=")[0]);
        expect(await status({ ...own, cookie })).to.equal(200);
        expect(await status(headers)).to.equal(401);
        expect((await renew(headers)).status).to.equal(401);
      }
    });

    it("that races others gives cookies of one session, which a sign-out ends in every process", async () => {
      // As many as a caller has places.
      const racing = 16;
      const second = await startApi(engines);
      try {
        const headers = await signIn(api.url, one.viewer.email);
        const other = await signIn(api.url, one.viewer.email);
        // The first renewal ends the old cookie only once all of them are under way.
        const gate = Promise.withResolvers<undefined>();
        let waiting = 0;
        const append = engines.store.append.bind(engines.store);
        engines.store.append = async (...args) => {
          if (args[0].startsWith("session-") && (waiting += 1) === racing) gate.resolve(undefined);
          await gate.promise;
          return append(...args);
        };
        const renewals = await Promise.all(Array.from({ length: racing }, () => renew(headers)));
        engines.store.append = append;
        expect(renewals.map((answer) => answer.status)).to.deep.equal(Array(racing).fill(200));
        const cookies = renewals.map((answer) => ({ ...own, cookie: cookieOf(answer) }));
        expect(new Set(cookies.map(({ cookie }) => cookie)).size).to.equal(racing);
        const statuses = () => Promise.all(cookies.map(status));
        expect(await statuses()).to.deep.equal(Array(racing).fill(200));
        const [, , last = {}] = cookies;
        const renewedAgain = { ...own, cookie: cookieOf(await renew(last)) };
        expect((await http("DELETE", `${second.url}/api/v1/auth/session`, { headers: cookies[0] ?? {} })).status)
          .to.equal(204);
        expect(await statuses()).to.deep.equal(Array(racing).fill(401));
        expect(await status(renewedAgain)).to.equal(401);
        expect((await renew(renewedAgain)).status).to.equal(401);
        expect(await status(other), "another session of the same user").to.equal(200);
      } finally {
        await second.close();
      }
    });

    it("gives 401 to an access token, and 403 to a page of another site", async () => {
      const authorization = `Bearer ${(await login(api.url, one.owner.email)).token}`;
      expect((await renew({ authorization })).status).to.equal(401);
      expect(await status({ authorization })).to.equal(200);
      const { cookie } = await signIn(api.url, one.owner.email);
      expect((await renew({ cookie, "sec-fetch-site": "cross-site" })).status).to.equal(403);
    });

    it("keeps a session alive until 30 days after the password, and no longer", async () => {
      const longer = await startApi(engines, { accessTokenTtlMs: 7 * dayMs });
      try {
        const renewed = (headers: Headers) =>
          http("POST", `${longer.url}/api/v1/auth/session/renewal`, { headers });
        let headers: Headers = await signIn(longer.url, one.owner.email);
        // Not before the password was given.
        const begun = engines.clock.now();
        const ends: number[] = [];
        for (let day = 5; day < 30; day += 5) {
          engines.clock.advance(5 * dayMs);
          const answer = await renewed(headers);
          expect(answer.status).to.equal(200);
          ends.push((new Date(String(answer.json["expiresAt"])).getTime() - begun) / dayMs);
          headers = { ...own, cookie: cookieOf(answer) };
        }
        expect(ends.map(Math.round)).to.deep.equal([12, 17, 22, 27, 30]);
        expect(Math.max(...ends)).to.be.at.most(30);
        engines.clock.advance(begun + 30 * dayMs - engines.clock.now());
        expect(await status(headers)).to.equal(401);
        expect((await renewed(headers)).status).to.equal(401);
      } finally {
        await longer.close();
      }
    });
  });

  describe("signing out", () => {
    it("gives 204, removes both cookies, and ends this session only", async () => {
      const [first, second] = [await signIn(api.url, one.viewer.email), await signIn(api.url, one.viewer.email)];
      const answer = await http("DELETE", `${api.url}/api/v1/auth/session`, { headers: first });
      expect([answer.status, answer.text]).to.deep.equal([204, ""]);
      expect(answer.headers.getSetCookie().map((cookie) => cookie.split("; ").slice(0, 2))).to.deep.equal([
        ["__Host-relay=", "Max-Age=0"], ["relay-local=", "Max-Age=0"],
      ]);
      expect(await status(first)).to.equal(401);
      expect(await status(second)).to.equal(200);
    });
  });

  it("end when their user's password changes, and in every process", async () => {
    const person = await createUser(one.owner.client, "developer");
    const headers = await signIn(api.url, person.email);
    const second = await startApi(engines);
    try {
      expect((await http("GET", `${second.url}/api/v1/users`, { headers })).status).to.equal(200);
      await one.owner.client.api.updateUser({ id: person.id }, { password: "another password" });
      expect((await http("GET", `${second.url}/api/v1/users`, { headers })).status).to.equal(401);
      expect((await renew(headers)).status).to.equal(401);
    } finally {
      await second.close();
    }
  });
});
