import { expect } from "chai";
import { inMemoryEngines, startApi, type InMemoryEngines, type TestApi } from "../support/api.ts";
import { freshEmail, login, openAccount, openIngest, type Account } from "../support/accounts.ts";
import { http } from "../support/http.ts";

/** The forms a secret may be hidden in. */
const formsOf = (secret: string) => {
  const bytes = Buffer.from(secret);
  // Without its first and last characters, which depend on what stands beside it.
  const inner = (text: string) => text.replace(/=+$/, "").slice(4, -4);
  return [
    secret,
    bytes.toString("hex"),
    inner(bytes.toString("base64")),
    inner(bytes.toString("base64url")),
    encodeURIComponent(secret),
  ];
};

describe("secrets", () => {
  let engines: InMemoryEngines;
  let api: TestApi;
  let one: Account;
  before(async () => {
    engines = await inMemoryEngines();
    api = await startApi(engines);
    one = await openAccount(api.url);
  });
  after(async () => {
    await api.close();
    await engines.close();
  });

  it("are nowhere in clear: not in the log, the read models, the log lines, nor in any later answer", async () => {
    const { client } = one.owner;
    const passwords = ["canary password one", "canary password two"] as const;
    const email = freshEmail();
    const user = await client.post("/api/v1/users", { email, password: passwords[0] });
    const path = `/api/v1/users/${String(user.json["id"])}`;
    await client.patch(path, { password: passwords[1] });
    const session = await login(api.url, email, passwords[1]);
    const ingest = await openIngest(client, one.tenantId);
    await http("POST", api.url + ingest.path, { json: {}, headers: { "x-api-key": ingest.apiKey } });
    const credentials = [
      { authType: "ApiKey", credentials: { headerName: "X-Key", value: "canary-api-key-value" } },
      { authType: "BearerToken", credentials: { token: "canary-bearer-token" } },
      { authType: "BasicAuth", credentials: { username: "canary-username", password: "canary-basic-password" } },
      {
        authType: "JwtBearer",
        credentials: {
          tokenEndpoint: "https://login.example/",
          clientId: "canary-client-id",
          clientSecret: "canary-client-secret",
        },
      },
    ];
    for (const auth of credentials) {
      await client.post("/api/v1/destinations", { url: "https://receiver.example", ...auth });
      await client.patch(`/api/v1/destinations/${ingest.destinationId}`, auth);
    }
    const regenerated = String(
      (await client.post(`/api/v1/tenants/${one.tenantId}/webhook-secret`)).json["webhookSecret"],
    );
    const token = String(
      (await client.post(`/api/v1/destinations/${ingest.destinationId}/ingest-token`)).json["ingestToken"],
    );
    await session.post("/api/v1/auth/logout");

    const secrets = [
      ...passwords,
      one.webhookSecret,
      regenerated,
      ingest.apiKey,
      ingest.ingestToken,
      token,
      client.token ?? "",
      session.token ?? "",
      ...credentials.flatMap((auth) => Object.values(auth.credentials)).filter((value) => value.startsWith("canary")),
    ];
    const { entries } = await engines.store.readLog("", 10_000);
    const { items } = (await client.get("/api/v1/events")).json as { items: { id: string }[] };
    const answers = await Promise.all(
      [
        "/api/v1/users",
        "/api/v1/destinations?Qt=100",
        "/api/v1/api-keys",
        "/api/v1/events",
        path,
        `/api/v1/tenants/${one.tenantId}`,
        `/api/v1/destinations/${ingest.destinationId}`,
        `/api/v1/destinations/${ingest.destinationId}/history`,
        `/api/v1/destinations/${ingest.destinationId}/circuit/history`,
        `/api/v1/tenants/${one.tenantId}/history?Qt=100`,
        `/api/v1/tenants/${one.tenantId}/purges/history`,
        `/api/v1/api-keys/${ingest.apiKeyId}/history`,
        `/api/v1/events/${items[0]?.id ?? ""}/history`,
        "/metrics",
      ].map((known) => client.get(known)),
    );
    const places = {
      "the log": JSON.stringify(entries),
      "the read models": JSON.stringify(engines.readModels.contents()),
      "the log lines": JSON.stringify([api.lines, api.errors]),
      "the answers": answers.map(({ text, headers }) => text + JSON.stringify([...headers])).join("\n"),
    };
    expect(secrets).to.have.length(15);
    for (const [place, text] of Object.entries(places)) {
      for (const secret of secrets) {
        for (const form of formsOf(secret)) expect(text.includes(form), `${secret} in ${place}`).to.equal(false);
      }
    }
    expect(places["the log"]).to.include(ingest.apiKeyId);
  });
});
