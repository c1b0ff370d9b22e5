import { expect } from "chai";
import { createLogger } from "../../../src/engines/pino/logger.ts";
import { freshEmail, password, unique } from "../../support/accounts.ts";
import { http, shaped, type HttpAnswer } from "../../support/http.ts";
import { startReceiver, type Receiver, type Reply } from "../../support/receiver.ts";
import { startTestRelay, type TestRelay } from "../../support/relay.ts";
import { onTopology } from "../../support/topologies.ts";

const secret = "turnstile-s3cret";
const verdict = (json: unknown, status = 200): Reply => ({ status, body: JSON.stringify(json) });
const cloud = (receiver: Receiver, port = receiver.port): Record<string, string> => ({
  RELAY_OFFERING: "cloud",
  RELAY_TURNSTILE_SECRET: secret,
  RELAY_TURNSTILE_VERIFY_URL: `https://127.0.0.1:${port}/siteverify`,
});

export const cloudSuite = onTopology("creating a tenant in the cloud offering", ({ start, engines }) => {
  let turnstile: Receiver;
  let relay: TestRelay;

  before(async function () {
    turnstile = await startReceiver();
    relay = await start(this, turnstile, { ...cloud(turnstile), RELAY_DELIVERY_TIMEOUT: "500ms" });
  });
  beforeEach(() => turnstile.on("/siteverify", () => verdict({ success: true })));
  after(async () => {
    await (relay as TestRelay | undefined)?.close();
    await turnstile.close();
  });

  const create = (fields: object, url = relay.url): Promise<HttpAnswer> =>
    http("POST", `${url}/api/v1/tenants`, {
      json: {
        name: unique("Cloud"), ownerEmail: freshEmail(), ownerPassword: password, cfTurnstileToken: "a token",
        deviceFingerprint: unique("device"), ...fields,
      },
    });
  const asked = () => turnstile.requestsTo("/siteverify");

  it("gives 3 tenants a day to a device, under concurrency too; refused requests do not count", async () => {
    const deviceFingerprint = unique("busy");
    const name = unique("Taken");
    expect((await create({ name, deviceFingerprint })).status).to.equal(201);
    for (let n = 0; n < 4; n += 1) expect((await create({ name, deviceFingerprint })).status).to.equal(409);
    const answers = await Promise.all(Array.from({ length: 10 }, () => create({ deviceFingerprint })));
    const statuses = answers.map(({ status }) => status).sort();
    expect(statuses).to.deep.equal([201, 201, ...Array<number>(8).fill(429)]);
    expect(answers.every(({ headers }) => headers.get("retry-after") === null)).to.equal(true);
    await relay.restart();
    expect((await create({ deviceFingerprint })).status).to.equal(429);
    expect((await create({ deviceFingerprint: undefined })).status).to.equal(201);
  });

  // All else does not depend on the engines.
  if (engines === "outside") return;

  it("sends Turnstile the secret, the token and the address, in a form", async () => {
    const cfTurnstileToken = "token with & and = and ü";
    expect((await create({ cfTurnstileToken })).status).to.equal(201);
    const { method, headers, body } = asked().at(-1)!;
    expect([method, headers["content-type"]]).to.deep.equal(["POST", "application/x-www-form-urlencoded"]);
    expect(Object.fromEntries(new URLSearchParams(body.toString()))).to.deep.equal({
      secret, response: cfTurnstileToken, remoteip: "127.0.0.1",
    });
  });

  for (const [name, token, status] of [
    ["no token", undefined, 422], ["an empty token", "", 422], ["a token that is null", null, 422],
    ["a token that is too long", "x".repeat(2049), 422],
    ["a token that is a number", 1, 400], ["a token that is an object", {}, 400],
  ] as const) {
    it(`gives ${status} to ${name}, without asking`, async () => {
      const before = asked().length;
      const refused = await create({ cfTurnstileToken: token });
      expect([refused.status, refused.text.split(":")[0]]).to.deep.equal([status, "cfTurnstileToken"]);
      expect(asked().length).to.equal(before);
    });
  }

  const verdicts: readonly (readonly [name: string, reply: Reply | "silence"])[] = [
    ["refused", verdict({ success: false, "error-codes": ["invalid-input-response"] })],
    ["refused for our own secret", verdict({ success: false, "error-codes": ["invalid-input-secret"] })],
    ["answered with success that is no truth", verdict({ success: "true" })],
    ["answered with null", verdict(null)],
    ["answered with no JSON", { body: "<html>" }],
    ["answered with more than is read", { body: `{"success":true}${" ".repeat(20_000)}` }],
    ["answered with success in an error", verdict({ success: true }, 500)],
    ["redirected", { status: 302, headers: { location: "/elsewhere" } }],
    ["not answered", "silence"],
  ];
  for (const [name, reply] of verdicts) {
    it(`gives 422 when the token is ${name}`, async () => {
      turnstile.on("/siteverify", () => reply);
      const fields = { name: unique("Refused"), ownerEmail: freshEmail() };
      const refused = await create(fields);
      expect([refused.status, refused.text.split(":")[0]]).to.deep.equal([422, "cfTurnstileToken"]);
      turnstile.on("/siteverify", () => verdict({ success: true }));
      expect((await create(fields)).status).to.equal(201);
    });
  }

  it("gives 422 when Turnstile cannot be reached, or may not be called", async () => {
    for (const [port, env] of [[1, {}], [turnstile.port, { RELAY_ALLOWED_NETWORKS: "10.0.0.0/8" }]] as const) {
      const other = await startTestRelay(turnstile, { ...cloud(turnstile, port), ...env });
      const before = asked().length;
      expect((await create({}, other.url)).status).to.equal(422);
      expect(asked().length).to.equal(before);
      await other.close();
    }
  });

  it("gives 422 as JSON to a disposable address, in any case and subdomain", async () => {
    const before = asked().length;
    for (const domain of ["mailinator.com", "MAILINATOR.com", "inbox.mailinator.com"]) {
      const refused = await create({ ownerEmail: `someone@${domain}` });
      expect(refused.status).to.equal(422);
      expect(refused.headers.get("content-type")).to.match(/^application\/json/);
      expect(shaped(refused, "disposable-email")["error"]).to.equal("disposable_email");
    }
    expect(asked().length).to.equal(before);
    expect((await create({ ownerEmail: `${unique("x")}@notmailinator.com.example.com` })).status).to.equal(201);
  });

  it("checks the body first, then the cloud offering's rules, then taken names and emails", async () => {
    turnstile.on("/siteverify", () => verdict({ success: false }));
    const name = unique("Order");
    expect((await create({ ownerPassword: "short", cfTurnstileToken: undefined })).status).to.equal(400);
    expect((await create({ deviceFingerprint: 7, cfTurnstileToken: undefined })).status).to.equal(400);
    expect((await create({ deviceFingerprint: "x".repeat(1025) })).status).to.equal(400);
    turnstile.on("/siteverify", () => verdict({ success: true }));
    expect((await create({ name })).status).to.equal(201);
    turnstile.on("/siteverify", () => verdict({ success: false }));
    expect((await create({ name })).status).to.equal(422);
  });

  it("counts against the address before anything else", async () => {
    const limited = await startTestRelay(turnstile, { ...cloud(turnstile), RELAY_LIMIT_TENANT_CREATION: "1/1h" });
    expect((await create({ ownerPassword: "short" }, limited.url)).status).to.equal(400);
    const before = asked().length;
    expect((await create({}, limited.url)).status).to.equal(429);
    expect(asked().length).to.equal(before);
    await limited.close();
  });

  it("logs why no challenge can be verified, once for each reason, and counts each time", async () => {
    const lines: string[] = [];
    const logger = createLogger("warn", { write: (line) => void lines.push(line) });
    const told = await startTestRelay(turnstile, { ...cloud(turnstile), RELAY_DELIVERY_TIMEOUT: "500ms" }, logger);
    const ownFault = verdict({ success: false, "error-codes": ["invalid-input-secret"] });
    for (const reply of [ownFault, ownFault, { status: 500 }, "silence", verdict({ success: false })] as const) {
      turnstile.on("/siteverify", () => reply);
      await create({}, told.url);
    }
    const metrics = await (await fetch(`${told.url}/metrics`)).text();
    expect(metrics).to.include('relay_troubles_total{kind="turnstile"} 4\n');
    await told.close();
    const reasons = lines.map((line) => JSON.parse(line) as Record<string, unknown>)
      .filter(({ msg }) => msg === "a challenge could not be verified").map(({ reason }) => reason);
    expect(reasons).to.deep.equal([
      "invalid-input-secret", "an answer of 500 without a verdict", "timeout: no answer within 500 ms",
    ]);
  });

  it("writes neither the secret nor a token into the log, for any answer of Turnstile", async () => {
    const lines: string[] = [];
    const logger = createLogger("trace", { write: (line) => void lines.push(line) });
    const told = await startTestRelay(turnstile, cloud(turnstile), logger);
    for (const reply of [verdict({ success: false, secret }, 400), { body: secret }, verdict({ success: true })]) {
      turnstile.on("/siteverify", () => reply);
      await create({ cfTurnstileToken: "canary-turnstile-token" }, told.url);
    }
    await told.close();
    expect(lines.join("")).to.include("ready").and.not.include(secret).and.not.include("canary-turnstile-token");
  });
});
