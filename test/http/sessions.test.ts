import { expect } from "chai";
import { SignJWT, UnsecuredJWT } from "jose";
import { PlatformKeys } from "../../src/kernel/sealing/platform-keys.ts";
import { Client, createUser, freshEmail, login, openAccount, password, type Account } from "../support/accounts.ts";
import { startApi, type TestApi } from "../support/api.ts";
import { describeOnEngines, type SharedEngines } from "../support/api-engines.ts";
import { http, shaped } from "../support/http.ts";

const base64url = (value: object) => Buffer.from(JSON.stringify(value)).toString("base64url");

describeOnEngines("sessions", (freshEngines) => {
  let engines: SharedEngines;
  let api: TestApi;
  let one: Account;
  let other: Account;
  let key: Uint8Array;
  before(async () => {
    engines = await freshEngines();
    api = await startApi(engines);
    [one, other] = await Promise.all([openAccount(api.url), openAccount(api.url)]);
    key = (await new PlatformKeys(api.world).get()).tokenKey;
  });
  after(() => api.close());
  afterEach(() => expect(api.errors).to.deep.equal([]));

  const enter = (fields: object) => http("POST", `${api.url}/api/v1/auth/login`, { json: fields });
  const status = async (authorization: string) =>
    (await http("GET", `${api.url}/api/v1/users`, { headers: { authorization } })).status;
  const claimsOf = (token: string) =>
    JSON.parse(Buffer.from(token.split(".")[1] ?? "", "base64url").toString()) as Record<string, string | number>;

  describe("login", () => {
    it("gives 200 with a token and the user, in any case of the email", async () => {
      const answer = await enter({ email: one.admin.email.toUpperCase(), password });
      expect(answer.status).to.equal(200);
      const session = shaped(answer, "session");
      expect(session).to.include({ tokenType: "Bearer", expiresIn: 3600 });
      expect(session["user"]).to.deep.include({
        id: one.admin.id,
        tenantId: one.tenantId,
        email: one.admin.email,
        role: "Admin",
      });
      const claims = claimsOf(String(session["accessToken"]));
      expect(claims).to.include({ sub: one.admin.id, tenantId: one.tenantId, role: "Admin" });
      expect(claims).to.include.keys("jti", "iat", "exp", "iss", "aud");
      // Many readers of tokens accept whole numbers only.
      expect(claims["exp"]).to.satisfy(Number.isInteger);
      expect(new Date(Number(claims["exp"]) * 1000).toISOString()).to.equal(session["expiresAt"]);
      expect(Number(claims["exp"]) - Number(claims["iat"])).to.equal(3600);
    });

    it("gives the same 401 to every failure", async () => {
      const inactive = await createUser(one.owner.client, "developer");
      await one.owner.client.patch(`/api/v1/users/${inactive.id}`, { status: 1 });
      const long = await createUser(one.owner.client, "developer");
      const full = "x".repeat(72);
      await long.client.patch(`/api/v1/users/${long.id}`, { password: full });
      const table: [string, string][] = [
        [freshEmail(), password],
        ["no email", password],
        ["", ""],
        [one.owner.email, "wrong password"],
        [one.owner.email, ""],
        [one.owner.email, `${password} `],
        [one.owner.email, password.toUpperCase()],
        [one.owner.email, `${password}\0${password}`],
        [one.owner.email, `${password}\0`],
        [one.owner.email, "x".repeat(100_000)],
        [inactive.email, password],
        [inactive.email, "wrong password"],
        [long.email, `${full}x`],
        [long.email, full.slice(1)],
        [`${one.owner.email} `, password],
        ["\0", "\ud800"],
      ];
      const answers = await Promise.all(table.map(([email, secret]) => enter({ email, password: secret })));
      for (const answer of answers)
        expect([answer.status, answer.text]).to.deep.equal([401, "email or password is wrong"]);
      expect((await enter({ email: long.email, password: full })).status).to.equal(200);
    });

    for (const fields of [
      {},
      { email: "a@b.c" },
      { password },
      { email: 1, password },
      { email: "a@b.c", password: null },
      { email: ["a"], password },
    ]) {
      it(`gives 400 for ${JSON.stringify(fields)}`, async () => {
        expect((await enter(fields)).status).to.equal(400);
      });
    }
  });

  describe("logout", () => {
    it("gives 204 and ends this session only", async () => {
      const first = await login(api.url, one.developer.email);
      const second = await login(api.url, one.developer.email);
      const answer = await first.post("/api/v1/auth/logout");
      expect([answer.status, answer.text]).to.deep.equal([204, ""]);
      expect((await first.get("/api/v1/users")).status).to.equal(401);
      expect((await first.post("/api/v1/auth/logout")).status).to.equal(401);
      expect((await second.get("/api/v1/users")).status).to.equal(200);
    });

    it("gives 401 without a session", async () => {
      expect((await new Client(api.url).post("/api/v1/auth/logout")).status).to.equal(401);
    });
  });

  describe("S7 access tokens", () => {
    it("end when they expire", async () => {
      const client = await login(api.url, one.developer.email);
      engines.clock.advance(3_599_000 - 1_000);
      expect((await client.get("/api/v1/users")).status).to.equal(200);
      engines.clock.advance(2_000);
      expect((await client.get("/api/v1/users")).status).to.equal(401);
      one = { ...one, owner: { ...one.owner, client: await login(api.url, one.owner.email) } };
      other = { ...other, owner: { ...other.owner, client: await login(api.url, other.owner.email) } };
    });

    it("are accepted in one spelling only", async () => {
      const token = one.owner.client.token ?? "";
      const [head = "", body = "", signature = ""] = token.split(".");
      expect(await status(`Bearer ${token}`)).to.equal(200);
      expect(await status(`bearer ${token}`)).to.equal(200);
      // Two bits of the last base64url character of 32 bytes are unused.
      const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
      const last = alphabet.indexOf(signature.at(-1) ?? "");
      const respelled = signature.slice(0, -1) + (alphabet[last ^ 1] ?? "");
      expect(Buffer.from(respelled, "base64url")).to.deep.equal(Buffer.from(signature, "base64url"));
      const spellings = [
        `${head}.${body}.${respelled}`,
        `${token}=`,
        `${head}.${body}.${signature}==`,
        `${head}=.${body}.${signature}`,
        `${head}.${body}=.${signature}`,
        `${token}.`,
        `.${token}`,
        `${head}.${body}`,
        `${head}.${body}.`,
        `${head}..${signature}`,
        `${head}.${body}.${Buffer.from(signature, "base64url").toString("base64")}`,
        token.toLowerCase(),
        `"${token}"`,
        `${token},x`,
      ];
      for (const spelling of spellings) expect(await status(`Bearer ${spelling}`), spelling.slice(-50)).to.equal(401);
    });

    it("are the only credentials", async () => {
      const token = one.owner.client.token ?? "";
      for (const header of [
        "",
        "Bearer",
        "Bearer ",
        `Basic ${token}`,
        token,
        `Bearer ${token} ${token}`,
        `Token ${token}`,
        "Bearer ü",
      ]) {
        expect(await status(header), header.slice(0, 20)).to.equal(401);
      }
      expect((await http("GET", `${api.url}/api/v1/users`, { headers: { "x-api-key": token } })).status).to.equal(401);
    });

    it("need every claim, this algorithm and this key", async () => {
      const claims = claimsOf(one.owner.client.token ?? "");
      const signature = (one.owner.client.token ?? "").split(".")[2] ?? "";
      const sign = (change: object, header: object = {}, by: Uint8Array = key) =>
        new SignJWT({ ...claims, ...change }).setProtectedHeader({ alg: "HS256", typ: "JWT", ...header }).sign(by);
      expect(await status(`Bearer ${await sign({})}`)).to.equal(200);
      const forged = [
        ...(await Promise.all(Object.keys(claims).map((name) => sign({ [name]: undefined })))),
        ...(await Promise.all(
          [
            sign({ role: "Root" }),
            sign({ role: 10 }),
            sign({ role: "Admin" }),
            sign({ role: ["Owner"] }),
            sign({ tenantId: other.tenantId }),
            sign({ sub: other.owner.id }),
            sign({ sub: one.viewer.id }),
            sign({ sub: 5 }),
            sign({ iss: "another" }),
            sign({ aud: "another" }),
            sign({ ver: 1 }),
            sign({ ver: "0" }),
            sign({ ver: -1 }),
            sign({ exp: "never" }),
            sign({ exp: 1 }),
            sign({ iat: "x" }),
            sign({ nbf: Number(claims["exp"]) }),
            sign({ jti: 5 }),
            sign({ tenantId: "x", sub: "\0" }),
            sign({}, { typ: "secevent+jwt" }),
            sign({}, { crit: ["b64"], b64: true }),
            sign({}, { alg: "HS512" }),
            sign({}, {}, new Uint8Array(32)),
            sign({}, {}, new TextEncoder().encode("secret")),
          ].map((token) => token.catch(() => "unsigned")),
        )),
        new UnsecuredJWT(claims).encode(),
        `${base64url({ alg: "none" })}.${base64url(claims)}.`,
        `${base64url({ alg: "HS256", typ: "JWT" })}.${base64url({ ...claims, sub: one.viewer.id })}.${signature}`,
        `${base64url({ alg: "HS256", typ: "JWT", jwk: { kty: "oct", k: "AA" } })}.${base64url(claims)}.AA`,
        `${"x".repeat(8_000)}.${"y".repeat(4_000)}.z`,
      ];
      for (const token of forged) expect(await status(`Bearer ${token}`), token.slice(0, 300)).to.equal(401);
    });

    it("without a role give 401 on deleting a user", async () => {
      const { role: _role, ...claims } = claimsOf(one.owner.client.token ?? "");
      const token = await new SignJWT(claims).setProtectedHeader({ alg: "HS256", typ: "JWT" }).sign(key);
      const answer = await http("DELETE", `${api.url}/api/v1/users/${one.viewer.id}`, {
        headers: { authorization: `Bearer ${token}` },
      });
      expect(answer.status).to.equal(401);
    });
  });
});
