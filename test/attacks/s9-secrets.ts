import { createPrivateKey, randomBytes } from "node:crypto";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect } from "chai";
import { createLogger } from "../../src/engines/pino/logger.ts";
import { destinations } from "../../src/features/destinations/facts.ts";
import { tenants } from "../../src/features/tenants/facts.ts";
import { places, Vault } from "../../src/kernel/sealing/vault.ts";
import { readConfig } from "../../src/main/config/config.ts";
import { readSecrets } from "../../src/main/config/secrets.ts";
import { atDesk } from "../../src/main/operator/commands.ts";
import { freshEmail, unique } from "../support/accounts.ts";
import { ApiClient } from "../support/api-client.ts";
import { Canaries } from "../support/canaries.ts";
import { certificatesOf } from "../support/certificates.ts";
import { startConnectProxy, type ConnectProxy } from "../support/connect-proxy.ts";
import { http, type HttpAnswer, type HttpOptions } from "../support/http.ts";
import { outsideContents } from "../support/outside-contents.ts";
import { startReceiver, type Receiver } from "../support/receiver.ts";
import { eventually } from "../support/relay.ts";
import { RelayProcess, runRelay } from "../support/relay-process.ts";
import type { outsideEngines, OutsideEngines } from "../support/topologies.ts";

/** A secret with a different text in every encoding. */
const secretText = (kind: string) => `canary ${kind} "\\ü/+=&% ${randomBytes(6).toString("hex")}`;
/** A secret that may stand in a header. */
const headerText = (kind: string) => `canary-${kind}-"\\/+=&%-${randomBytes(6).toString("hex")}`;
const password = (kind: string) => secretText(kind).slice(0, 70);

/** The tests of a suite, on the embedded engines (null) or on others. */
export function secretsOn(startEngines: typeof outsideEngines | null): void {
  let engines: OutsideEngines | null = null;
  let receiver: Receiver;
  let relay: RelayProcess;
  let proxy: ConnectProxy;
  const canaries = new Canaries();
  const answers: { place: string; text: string }[] = [];
  const shown: { place: string; text: string; secret: string }[] = [];
  const masterKey = randomBytes(32);
  const turnstileSecret = secretText("turnstile secret");
  const fetched = headerText("fetched-token").replaceAll(/["\\]/g, ".");
  const grant = {
    tokenEndpoint: "", clientId: headerText("client-id"), clientSecret: headerText("client-secret"), scope: "all of it",
    extraParameters: { account: headerText("extra-parameter") },
  };
  const proxyPassword = secretText("proxy password");
  const certificates = certificatesOf();
  /** Destinations with a key that signs. */
  const signing: { readonly tenantId: string; readonly destinationId: string }[] = [];

  before(async function () {
    engines = startEngines && (await startEngines(this));
    receiver = await startReceiver();
    proxy = await startConnectProxy();
    proxy.answer = () => (proxy.requests.length === 10 ? 407 : "tunnel");
    const echo = (status: number) => ({ headers, body }: { headers: object; body: Buffer }) => {
      const authorization = String((headers as Record<string, string>)["authorization"] ?? "");
      const known = authorization.includes(fetched) ? [grant.clientSecret, grant.extraParameters] : [];
      const all = JSON.stringify({ headers, body: body.toString(), known });
      return { status, headers: { "x-echo": authorization }, body: all };
    };
    receiver.on("/siteverify", () => ({ body: JSON.stringify({ success: true }) }));
    receiver.on("/token", () => ({
      body: JSON.stringify({ access_token: fetched, refresh_token: grant.clientSecret, expires_in: 3600 }),
    }));
    receiver.on("/token-echo", ({ headers, body }) => ({
      status: 403, body: JSON.stringify({ error: grant.clientSecret, error_description: [headers, body.toString()] }),
    }));
    receiver.on("/echo", echo(200));
    receiver.on("/bad-echo", echo(500));
    receiver.on("/bad", () => ({ status: 500 }));
    relay = new RelayProcess(receiver, {
      env: {
        ...engines?.env,
        RELAY_LOG_LEVEL: "trace", RELAY_DELIVERY_TIMEOUT: "10s", RELAY_MASTER_KEY: masterKey.toString("base64"),
        RELAY_OFFERING: "cloud", RELAY_LIMIT_INVITE_REGISTRATION: "off",
        RELAY_TURNSTILE_SECRET: turnstileSecret, RELAY_TURNSTILE_VERIFY_URL: receiver.url("/siteverify"),
        RELAY_OUTBOUND_PROXY: `http://relay:${encodeURIComponent(proxyPassword)}@127.0.0.1:${proxy.port}`,
      },
    });
    canaries.add("the master key", masterKey);
    canaries.add("the Turnstile secret", turnstileSecret);
    canaries.add("a token that was fetched", fetched);
    canaries.add("a client id", grant.clientId);
    canaries.add("a client secret", grant.clientSecret);
    canaries.add("a further parameter of a grant", grant.extraParameters.account);
    canaries.add("the proxy's password", proxyPassword);
  });
  afterEach(() => relay.kill9());
  after(async () => {
    await relay.close();
    await receiver.close();
    await proxy.stop();
    await engines?.close();
  });

  /** Sends a request, again after each 503, and keeps every answer for the search. */
  const ask = (method: string, path: string, options: HttpOptions = {}): Promise<HttpAnswer> =>
    eventually(async () => {
      const answer = await http(method, relay.url + path, options);
      answers.push({ place: `${method} ${path}`, text: answer.text + JSON.stringify([...answer.headers]) });
      return answer;
    }, ({ status }) => status !== 503);
  /** Calls an operation that shows a secret only once; the secret becomes a canary. */
  const askOnce = async (kind: string, field: string, method: string, path: string, options: HttpOptions = {}) => {
    const answer = await ask(method, path, options);
    const secret = String(answer.json[field]);
    expect(answer.status, `${method} ${path}: ${answer.text}`).to.be.lessThan(300);
    canaries.add(kind, secret);
    shown.push({ ...(answers.pop() ?? expect.fail()), secret });
    return { secret, json: answer.json };
  };
  const canary = (kind: string, secret: string) => {
    canaries.add(kind, secret);
    return secret;
  };
  /** A client certificate. Canaries of its private key are its number and a line of its PEM. */
  const newCertificate = () => {
    const { pair } = certificates();
    const { d = "" } = createPrivateKey(pair.privateKey).export({ format: "jwk" });
    canaries.add("the number of a certificate's private key", Buffer.from(d, "base64url"));
    canary("the private key of a certificate", pair.privateKey.split("\n")[2] ?? "");
    return pair;
  };
  const as = (token: string, more: HttpOptions = {}): HttpOptions => ({
    ...more, headers: { authorization: `Bearer ${token}`, ...more.headers },
  });

  const openTenant = async () => {
    const ownerPassword = canary("an Owner's password", password("owner"));
    const ownerEmail = freshEmail();
    const { json } = await askOnce("a webhook secret", "webhookSecret", "POST", "/api/v1/tenants", {
      json: {
        name: unique("Canary"), ownerEmail, ownerPassword, maxTrys: 3, circuitBreakerTimer: 1,
        deviceFingerprint: canary("a device fingerprint", secretText("fingerprint")),
        cfTurnstileToken: canary("a Turnstile token", secretText("turnstile token")),
      },
    });
    const session = await askOnce("an access token", "accessToken", "POST", "/api/v1/auth/login", {
      json: { email: ownerEmail, password: ownerPassword },
    });
    return { tenantId: String(json["tenantId"]), ownerEmail, token: session.secret };
  };

  const people = async ({ token, ownerEmail }: Awaited<ReturnType<typeof openTenant>>) => {
    const email = freshEmail();
    const first = canary("a user's password", password("user"));
    const second = canary("a changed password", password("changed"));
    const user = await ask("POST", "/api/v1/users", as(token, { json: { email, password: first } }));
    const path = `/api/v1/users/${String(user.json["id"])}`;
    await ask("PATCH", path, as(token, { json: { password: second } }));
    const session = await askOnce("a token that is logged out", "accessToken", "POST", "/api/v1/auth/login", {
      json: { email, password: second },
    });
    await ask("POST", "/api/v1/auth/logout", as(session.secret));
    await ask("GET", "/api/v1/users", as(session.secret));
    const wrong = canary("a password that was wrong", password("wrong"));
    for (const login of [{ email: ownerEmail, password: wrong }, { email: freshEmail(), password: wrong }]) {
      expect((await ask("POST", "/api/v1/auth/login", { json: login })).status).to.equal(401);
    }
    const spoilt = canary("a password in a bad body", password("spoilt"));
    const bodies = [
      `{"email":"a@example.com","password":${JSON.stringify(spoilt)}`, JSON.stringify({ email: 1, password: [spoilt] }),
      JSON.stringify({ email: spoilt, password: { password: spoilt } }), JSON.stringify(spoilt),
    ];
    for (const body of bodies) {
      await ask("POST", "/api/v1/auth/login", { body });
      await ask("POST", "/api/v1/users", as(token, { body }));
      await ask("PATCH", path, as(token, { body }));
      await ask("POST", "/api/v1/auth/login", as(token, { body, headers: { "content-type": "text/plain" } }));
    }
    const invite = { json: { email: freshEmail(), role: 0 } };
    const used = await askOnce("an invite's token", "inviteToken", "POST", "/api/v1/invites", as(token, invite));
    const again = { json: { password: canary("an invited one's password", password("invited")) } };
    for (const status of [201, 409]) {
      expect((await ask("POST", `/api/v1/invites/${used.secret}/register`, again)).status).to.equal(status);
    }
    await ask("GET", `/api/v1/invites/${used.secret}/register`);
    await ask("POST", `/api/v1/invites/${used.secret}/nothing`);
    const revoked = await askOnce("a revoked invite's token", "inviteToken", "POST", "/api/v1/invites", as(token, {
      json: { email: freshEmail(), role: 20 },
    }));
    await ask("DELETE", `/api/v1/invites/${String(revoked.json["id"])}`, as(token));
    await ask("POST", `/api/v1/invites/${revoked.secret}/register`, again);
    await ask("DELETE", path, as(token));
  };

  const machines = async ({ token }: Awaited<ReturnType<typeof openTenant>>) => {
    const made = await ask("POST", "/api/v1/service-accounts", as(token, { json: { name: "Reports", role: 20 } }));
    const keys = `/api/v1/service-accounts/${String(made.json["id"])}/keys`;
    const name = { json: { name: "nightly" } };
    const key = await askOnce("a service key", "key", "POST", keys, as(token, name));
    const deleted = await askOnce("a deleted service key", "key", "POST", keys, as(token, name));
    await ask("DELETE", `${keys}/${String(deleted.json["id"])}`, as(token));
    expect((await ask("GET", "/api/v1/events", as(key.secret))).status).to.equal(200);
    expect((await ask("POST", "/api/v1/api-keys", as(key.secret, name))).status).to.equal(403);
    const strange = canary("a service key of nobody", `rsk_${randomBytes(32).toString("base64url")}`);
    for (const bad of [deleted.secret, strange]) {
      expect((await ask("GET", "/api/v1/events", as(bad))).status).to.equal(401);
    }
    for (const path of [keys, "/api/v1/service-accounts", "/api/v1/audit"]) await ask("GET", path, as(token));
  };

  const portal = async ({ token }: Awaited<ReturnType<typeof openTenant>>) => {
    const links = "/api/v1/portal-links";
    const link = await askOnce("the URL of a portal link", "url", "POST", links, as(token, {
      json: { ownerId: "customer", may: ["read"] },
    }));
    const code = canary("the code of a portal link", link.secret.split("#code=")[1] ?? "");
    const path = "/api/v1/portal/session";
    const opened = await ask("POST", path, { json: { code } });
    const [, name = "", secret = ""] = /^([^=]+)=(prs_[^;]+)/.exec(opened.headers.getSetCookie()[0] ?? "") ?? [];
    canary("the cookie of a portal's session", secret);
    shown.push({ ...(answers.pop() ?? expect.fail()), secret });
    const headers = { cookie: `${name}=${secret}`, "sec-fetch-site": "same-origin" };
    expect((await ask("GET", "/api/v1/events", { headers })).status).to.equal(200);
    expect((await ask("POST", path, { json: { code } })).status).to.equal(401);
    await ask("POST", path, { json: { code: [code] } });
    await ask("DELETE", path, { headers });
    expect((await ask("GET", path, { headers })).status).to.equal(401);
    for (const place of [links, "/api/v1/audit"]) await ask("GET", place, as(token));
  };

  const events = async ({ token, tenantId }: Awaited<ReturnType<typeof openTenant>>) => {
    const name = { json: { name: "producer" } };
    const key = await askOnce("an API key", "apiKey", "POST", "/api/v1/api-keys", as(token, name));
    const deleted = await askOnce("a deleted API key", "apiKey", "POST", "/api/v1/api-keys", as(token, name));
    await ask("DELETE", `/api/v1/api-keys/${String(deleted.json["id"])}`, as(token));
    const send = (ingestToken: string, apiKey = key.secret, method = "POST") =>
      ask(method, `/api/v1/ingest/${tenantId}/${ingestToken}`, {
        headers: { "x-api-key": apiKey }, ...(method === "POST" ? { json: { order: 1 } } : {}),
      });
    const fields = [
      ["ApiKey", () => ({ headerName: "X-Key", value: headerText("value") })],
      ["BearerToken", () => ({ token: headerText("bearer").replaceAll(/["\\]/g, "~") })],
      ["BasicAuth", () => ({ username: secretText("username").replace(":", ""), password: secretText("basic") })],
      ["JwtBearer", () => ({ ...grant, tokenEndpoint: receiver.url("/token") })],
      ["JwtBearer", () => ({ ...grant, tokenEndpoint: receiver.url("/token-echo") })],
    ] as const;
    const credentials = ([authType, make]: (typeof fields)[number]) => {
      const made = make();
      for (const [field, value] of Object.entries<unknown>(made)) {
        if (authType !== "JwtBearer" && field !== "headerName") canary(`${authType}'s ${field}`, String(value));
      }
      return { authType, credentials: made };
    };
    const tokens: string[] = [];
    const newDestination = (kind: string, json: object) =>
      askOnce(kind, "ingestToken", "POST", "/api/v1/destinations", as(token, { json }));
    for (const path of ["/good", "/bad", "/echo", "/bad-echo"]) {
      for (const auth of fields) {
        const headers = { "X-Own": canary("a header of a destination", headerText("own")) };
        const json = { url: receiver.url(path), ...credentials(auth), headers, clientCertificate: newCertificate() };
        const made = await newDestination("an ingest token", json);
        const changes = { ...credentials(auth), clientCertificate: newCertificate() };
        await ask("PATCH", `/api/v1/destinations/${String(made.json["id"])}`, as(token, { json: changes }));
        tokens.push(made.secret);
      }
    }
    const first = await newDestination("an old ingest token", { url: receiver.url("/good") });
    const renewed = `/api/v1/destinations/${String(first.json["id"])}/ingest-token`;
    tokens.push((await askOnce("a new ingest token", "ingestToken", "POST", renewed, as(token))).secret);
    const refused = canary("a credential that was refused", headerText("refused"));
    const bad = [
      ...[{ headerName: "Host", value: refused }, [refused], { [refused]: refused }].map((credentials) =>
        ({ authType: "ApiKey", credentials })),
      { authType: "JwtBearer", credentials: { ...grant, extraParameters: { account: `${refused}\n` } } },
      { clientCertificate: { ...newCertificate(), certificate: newCertificate().certificate } },
      { clientCertificate: { ...newCertificate(), certificate: newCertificate().privateKey } },
    ];
    for (const fields of bad) {
      const json = { url: receiver.url("/good"), ...fields };
      expect((await ask("POST", "/api/v1/destinations", as(token, { json }))).status).to.equal(400);
    }

    const mapping = { language: "jmespath", expression: "{mapped: order}" };
    const sender = await askOnce("a sender's token", "ingestToken", "POST", "/api/v1/senders", as(token, {
      json: { name: "Shop", destinationUrlId: String(first.json["id"]), mapping },
    }));
    const senderPath = `/api/v1/senders/${String(sender.json["id"])}`;
    await ask("POST", `${senderPath}/test-mapping`, as(token, { json: { payload: { order: 2 } } }));
    const next = await askOnce("a sender's new token", "ingestToken", "POST", `${senderPath}/ingest-token`, as(token));
    tokens.push(next.secret);

    for (const one of tokens) expect((await send(one)).status).to.equal(202);
    for (const old of [first.secret, sender.secret]) expect((await send(old)).status).to.equal(404);
    const strange = canary("an API key of nobody", `rk_${randomBytes(32).toString("base64url")}`);
    for (const apiKey of [strange, deleted.secret]) expect((await send(next.secret, apiKey)).status).to.equal(401);
    await send(next.secret, key.secret, "GET");
    await ask("POST", `/api/v1/ingest/${tenantId}/${next.secret}/more`, { json: {} });
    // Finished events stay finished, so their counts need not be taken at once.
    const finished = async () => {
      const totals = await Promise.all(["Succeeded", "CriticalFailure"].map(async (status) =>
        Number((await new ApiClient(relay.url, as(token).headers).get(`/api/v1/events?Status=${status}`))["total"])));
      return totals.reduce((sum, total) => sum + total, 0);
    };
    await eventually(finished, (count) => count === tokens.length, 60_000);
    for (const status of ["Succeeded", "CriticalFailure"]) {
      const list = await ask("GET", `/api/v1/events?Qt=100&Status=${status}`, as(token));
      expect(Number(list.json["total"])).to.be.greaterThan(5);
      for (const { id } of list.json["items"] as { id: string }[]) {
        for (const rest of ["", "/attempts", "/history"]) await ask("GET", `/api/v1/events/${id}${rest}`, as(token));
      }
    }
    await ask("POST", "/api/v1/events/replay", as(token, { json: {} }));
    await eventually(finished, (count) => count === tokens.length, 60_000);
  };

  const theRest = async ({ token, tenantId }: Awaited<ReturnType<typeof openTenant>>) => {
    const path = `/api/v1/tenants/${tenantId}/webhook-secret`;
    const read = await ask("GET", path, as(token));
    shown.push({ ...(answers.pop() ?? expect.fail()), secret: String(read.json["webhookSecret"]) });
    const renewed = await askOnce("a new webhook secret", "webhookSecret", "POST", path, as(token));
    await ask("POST", `${path}/verify`, as(token, { json: { payload: "{}", signature: renewed.secret } }));
    const supplied = canary("a supplied webhook secret", `whsec_${randomBytes(40).toString("base64")}`);
    await askOnce("a supplied webhook secret", "webhookSecret", "POST", path, as(token, {
      json: { secret: supplied, gracePeriodSeconds: 3_600 },
    }));
    await ask("POST", path, as(token, { json: { secret: supplied.slice(6) } }));
    await ask("POST", `${path}/expire`, as(token));
    const { items } = (await ask("GET", "/api/v1/destinations", as(token))).json as { items: { id: string }[] };
    const destinationId = String(items[0]?.id);
    signing.push({ tenantId, destinationId });
    const signed = `/api/v1/destinations/${destinationId}/signing`;
    for (const secret of [undefined, `whsec_${randomBytes(40).toString("base64")}`]) {
      await askOnce("a destination's signing secret", "webhookSecret", "POST", `${signed}-secret`, as(token, {
        json: { secret, gracePeriodSeconds: 3_600 },
      }));
    }
    await ask("POST", `${signed}-key`, as(token));
    await ask("GET", `/api/v1/tenants/${tenantId}/signing-keys`);
    await ask("POST", `${signed}-secret/expire`, as(token));
    for (const list of ["users", "destinations", "senders", "api-keys", "invites", "events"]) {
      await ask("GET", `/api/v1/${list}?Qt=100`, as(token));
    }
    const isRead = async (path: string) => {
      const answer = await ask("GET", `/api/v1/${path}`, as(token));
      expect(answer.status, path).to.equal(200);
    };
    const history = "/history?Qt=100";
    for (const rest of ["", history, `/purges${history}`]) await isRead(`tenants/${tenantId}${rest}`);
    const each = {
      users: [""], destinations: ["", history, `/circuit${history}`], senders: ["", history],
      "api-keys": [history], invites: [history],
    };
    for (const [list, rests] of Object.entries(each)) {
      const { items } = (await ask("GET", `/api/v1/${list}?Qt=100`, as(token))).json;
      expect(items, list).not.to.deep.equal([]);
      for (const { id } of items as { id: string }[]) {
        for (const rest of rests) await isRead(`${list}/${id}${rest}`);
      }
    }
    for (const page of ["/healthz", "/readyz", "/metrics", "/openapi.json", "/docs"]) await ask("GET", page);
    for (const authorization of [`Bearer ${token}x`, `Basic ${token}`, token]) {
      await ask("GET", `/api/v1/tenants/${tenantId}?access_token=${token}`, { headers: { authorization } });
    }
  };

  const desk = <Result>(use: Parameters<typeof atDesk<Result>>[1]) => {
    const config = readConfig(relay.environment);
    return atDesk({ config, secrets: readSecrets(relay.environment, config), logger: createLogger("silent") }, use);
  };
  /** The keys created by the relay. */
  const addKeys = (tenantIds: readonly string[]) =>
    desk(async ({ aggregates, keys, sealing, store }) => {
      const { nameHashKey, tokenKey } = await keys.get();
      canaries.add("the key of names", nameHashKey);
      canaries.add("the key of access tokens", tokenKey);
      const vault = new Vault(sealing);
      for (const tenantId of tenantIds) {
        const { state } = await aggregates.current(tenants, tenantId);
        if (!state) continue;
        canaries.add("a tenant's data key", vault.dataKey(state));
        for (const userId of state.users.keys()) {
          const [fact] = await store.readStream(`person-${userId}`);
          const { key } = (fact as unknown as { data: { key: string } }).data;
          const base64 = sealing.open(key, vault.dataKey(state), places.personKey(tenantId, userId));
          canaries.add("a person's key", Buffer.from(base64, "base64"));
        }
      }
      for (const { tenantId, destinationId } of signing) {
        const { state: tenant } = await aggregates.current(tenants, tenantId);
        const { state } = await aggregates.current(destinations, destinationId);
        const key = vault.secret(state!.signingKey!, tenant!, places.signingKey(tenantId, destinationId));
        canaries.add("a destination's private key", Buffer.from(key.slice("whsk_".length), "base64"));
      }
    });

  /** Searches the outside engines. The topic holds payloads, but no secret. */
  const searchEngines = async () => {
    if (!engines) return [];
    const contents = await outsideContents(relay.environment);
    const places = [...new Set(contents.map(({ place }) => place))].join("\n");
    for (const place of [/^log: EventAccepted$/m, /^topic$/m, /^database: .*events$/m]) expect(places).to.match(place);
    return contents.flatMap(({ place, text }) => canaries.search(place, text));
  };

  it("are in no file, log line, metric or answer, except the one answer that must show them", async () => {
    await relay.start();
    const one = await openTenant();
    const other = await openTenant();
    for (const tenant of [one, other]) {
      await people(tenant);
      await machines(tenant);
      await portal(tenant);
      await events(tenant);
      await theRest(tenant);
    }
    const early = [...canaries.searchFolder(join(relay.dataDir, "..")), ...(await searchEngines())];
    await ask("POST", "/api/v1/events/purge", as(other.token, { json: {} }));
    const copy = join(relay.dataDir, "..", "copy");
    if (!engines) await runRelay(relay.environment, ["backup", copy]);
    await relay.kill9();
    await relay.start();
    await theRest(one);
    await relay.sigterm();
    await addKeys([one.tenantId, other.tenantId]);
    const said = [await relay.command("keys"), await relay.command("rebuild")];
    said.push(await relay.command("erase-tenant", other.tenantId, "--yes"));

    const found = [
      ...early,
      ...canaries.searchFolder(join(relay.dataDir, "..")),
      ...(await searchEngines()),
      ...relay.lines.flatMap((line) => canaries.search(`the log: ${line.msg ?? ""}`, JSON.stringify(line))),
      ...canaries.search("what was printed", relay.output),
      ...said.flatMap(({ stdout, stderr }) => canaries.search("a command", stdout + stderr)),
      ...answers.flatMap(({ place, text }) => canaries.search(place, text)),
    ];
    expect(found).to.deep.equal([]);
    expect(proxy.requests.length).to.be.greaterThan(40);
    expect(answers.length).to.be.greaterThan(200);
    expect(canaries.kinds.size).to.be.greaterThan(30);
    for (const { place, text, secret } of shown) expect(text, place).to.include(secret);
  });

  it("would be found in any form", () => {
    const folder = join(relay.dataDir, "..", "planted");
    mkdirSync(folder, { recursive: true });
    const apart = () => randomBytes(7);
    const planted = canaries.forms.flatMap(({ bytes }) => [apart(), bytes]);
    writeFileSync(join(folder, "a file"), Buffer.concat([...planted, apart()]));
    const place = join("planted", "a file");
    const seen = canaries.searchFolder(join(relay.dataDir, "..")).filter((sighting) => sighting.place === place);
    const found = new Set(seen.map(({ kind, form }) => `${kind}, ${form}`));
    for (const { kind, form } of canaries.forms) expect(found, "found").to.include(`${kind}, ${form}`);
  });
}
