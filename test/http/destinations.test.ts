import { expect } from "chai";
import { decide, newCircuit, circuits } from "../../src/features/circuits/facts.ts";
import { destinations } from "../../src/features/destinations/facts.ts";
import { tenants } from "../../src/features/tenants/facts.ts";
import { streams } from "../../src/kernel/domain/streams.ts";
import { timestamp } from "../../src/kernel/domain/time.ts";
import { entriesOf } from "../../src/kernel/log/origin.ts";
import { openIngest, type Account } from "../support/accounts.ts";
import type { TestApi } from "../support/api.ts";
import { describeOnEngines, type SharedEngines } from "../support/api-engines.ts";
import { apiStage } from "../support/api-stage.ts";
import { attemptEnded, tellCircuit } from "../support/circuits.ts";
import { http, shaped, type HttpAnswer } from "../support/http.ts";

const nowhere = "00000000-0000-7000-8000-000000000000";
const url = "https://receiver.example/hook?x=1";
const path = (id: unknown, rest = "") => `/api/v1/destinations/${String(id)}${rest}`;

const credentials = {
  ApiKey: { headerName: "X-Their-Key", value: "canary-value" },
  BearerToken: { token: "canary-token" },
  JwtBearer: { tokenEndpoint: "https://login.example/token", clientId: "canary-id", clientSecret: "canary-secret" },
  BasicAuth: { username: "canary-user", password: "canary-password" },
};
type AuthType = keyof typeof credentials;

describeOnEngines("destinations", (freshEngines) => {
  let engines: SharedEngines;
  let api: TestApi;
  let one: Account;
  apiStage(freshEngines, (stage) => ({ engines, api, one } = stage));

  const register = (fields: object = {}, by = one.developer.client) =>
    by.post("/api/v1/destinations", { url, ...fields });
  const registered = async (fields: object = {}) => (await register(fields)).json["id"] as string;

  describe("registration", () => {
    it("gives 201 with the token, and the defaults", async () => {
      const answer = await register();
      expect(answer.status).to.equal(201);
      const { ingestToken, ...rest } = shaped(answer, "created-destination");
      expect(rest).to.include({ tenantId: one.tenantId, url, status: "Active", serverRateLimit: 5 });
      expect(rest).not.to.have.property("authType");
      const read = await one.viewer.client.get(path(rest["id"]));
      expect(shaped(read, "destination")).to.deep.equal(rest);
      expect(read.text).not.to.include(String(ingestToken));
    });

    it("takes all parameters of a JwtBearer, and never shows them", async () => {
      const given = {
        ...credentials.JwtBearer, scope: "canary-scope", audience: "canary-audience",
        resource: "https://canary.example/", clientAuthentication: "form",
        extraParameters: { tenant: "canary-tenant", empty: "" },
      };
      const answer = await register({ authType: "JwtBearer", credentials: given });
      expect(answer.status).to.equal(201);
      expect(answer.text).not.to.include("canary");
      const { state } = await api.world.aggregates.current(destinations, String(answer.json["id"]));
      const { state: tenant } = await api.world.aggregates.current(tenants, one.tenantId);
      expect(JSON.stringify(state)).not.to.include("canary");
      expect(api.world.vault.credentials(state!, tenant!)).to.deep.equal(given);
    });

    for (const authType of Object.keys(credentials) as AuthType[]) {
      it(`takes ${authType} and never shows its credentials`, async () => {
        const given = { ...credentials[authType], unknown: "canary-unknown" };
        const answer = await register({ serverRateLimit: 1, authType, credentials: given });
        expect(answer.json).to.include({ authType, serverRateLimit: 1 });
        const read = await one.owner.client.get(path(answer.json["id"]));
        const list = await one.owner.client.get("/api/v1/destinations?Qt=100");
        for (const { text } of [answer, read, list]) expect(text).not.to.include("canary");
        // The log holds them sealed, and the delivery worker can open them.
        const { state } = await api.world.aggregates.current(destinations, answer.json["id"] as string);
        const { state: tenant } = await api.world.aggregates.current(tenants, one.tenantId);
        if (!state || !tenant) throw new Error("not in the log");
        expect(JSON.stringify(state)).not.to.include("canary");
        expect(api.world.vault.credentials(state, tenant)).to.deep.equal(credentials[authType]);
      });
    }

    const bad: [object, string][] = [
      [{ url: undefined }, "url"],
      [{ url: "" }, "url"],
      [{ url: "receiver.example" }, "url"],
      [{ url: 1 }, "url"],
      [{ url: "http://receiver.example/" }, "url"],
      [{ url: "ftp://receiver.example/" }, "url"],
      [{ url: "https:receiver.example" }, "url"],
      [{ url: "https:/receiver.example/" }, "url"],
      [{ url: "https:///receiver.example/" }, "url"],
      [{ url: "https:\\\\receiver.example\\" }, "url"],
      [{ url: "https://receiver.example\\hook" }, "url"],
      [{ url: "https://" }, "url"],
      [{ url: "https://user@receiver.example/" }, "url"],
      [{ url: "https://:secret@receiver.example/" }, "url"],
      [{ url: "https://@receiver.example/" }, "url"],
      [{ url: "HTTPS://:@receiver.example/?a@b" }, "url"],
      [{ url: "https://receiver..example/" }, "url"],
      [{ url: "https://.example/" }, "url"],
      [{ url: "https://receiver.example/a b" }, "url"],
      [{ url: "https://receiver.example/\n" }, "url"],
      [{ url: `https://receiver.example/${"x".repeat(2_048)}` }, "url"],
      [{ url: "https://127.0.0.1/" }, "url"],
      [{ url: "https://[::1" }, "url"],
      [{ url: "https://receiver.example:0/" }, "url"],
      [{ url: "https://receiver.example:00" }, "url"],
      [{ url: "https://a\u0000b.example/" }, "url"],
      [{ serverRateLimit: 0 }, "serverRateLimit"],
      [{ serverRateLimit: 1.5 }, "serverRateLimit"],
      [{ serverRateLimit: "5" }, "serverRateLimit"],
      [{ serverRateLimit: 1e6 }, "serverRateLimit"],
      [{ authType: "Digest", credentials: {} }, "authType"],
      [{ authType: "apikey", credentials: credentials.ApiKey }, "authType"],
      [{ authType: null }, "authType"],
      [{ authType: "BearerToken" }, "credentials"],
      [{ credentials: credentials.BearerToken }, "authType"],
      [{ authType: "BearerToken", credentials: "token" }, "credentials"],
      [{ authType: "BearerToken", credentials: [] }, "credentials"],
      [{ authType: "BearerToken", credentials: null }, "credentials"],
      [{ authType: "BearerToken", credentials: {} }, "credentials.token"],
      [{ authType: "BearerToken", credentials: { token: "" } }, "credentials.token"],
      [{ authType: "BearerToken", credentials: { token: "t", username: 5 } }, "credentials.username"],
      [{ authType: "BearerToken", credentials: { token: 5 } }, "credentials.token"],
      [{ authType: "BearerToken", credentials: { token: "a\r\nX-Evil: 1" } }, "credentials.token"],
      [{ authType: "BearerToken", credentials: { token: "ü" } }, "credentials.token"],
      [{ authType: "BearerToken", credentials: { token: "x".repeat(4_097) } }, "credentials.token"],
      [{ authType: "ApiKey", credentials: { headerName: "X-Key" } }, "credentials.value"],
      [{ authType: "ApiKey", credentials: { value: "v" } }, "credentials.headerName"],
      ...[
        "Host",
        "content-length",
        "Transfer-Encoding",
        "CONNECTION",
        "X-Service-Signature",
        "webhook-id",
        "Content-Type",
        "User-Agent",
        "X-Relay-Attempt",
        "a b",
        "a:b",
        "",
      ].map((headerName): [object, string] => [
        { authType: "ApiKey", credentials: { headerName, value: "v" } },
        "credentials.headerName",
      ]),
      [{ authType: "BasicAuth", credentials: { username: "a:b", password: "p" } }, "credentials.username"],
      [{ authType: "BasicAuth", credentials: { username: "a\nb", password: "p" } }, "credentials.username"],
      [{ authType: "BasicAuth", credentials: { username: "a" } }, "credentials.password"],
      [
        { authType: "JwtBearer", credentials: { ...credentials.JwtBearer, tokenEndpoint: "http://login.example" } },
        "credentials.tokenEndpoint",
      ],
      [
        { authType: "JwtBearer", credentials: { ...credentials.JwtBearer, tokenEndpoint: "https://127.0.0.1" } },
        "credentials.tokenEndpoint",
      ],
      [
        { authType: "JwtBearer", credentials: { ...credentials.JwtBearer, tokenEndpoint: "https://login.example:0/" } },
        "credentials.tokenEndpoint",
      ],
      [
        { authType: "JwtBearer", credentials: { ...credentials.JwtBearer, clientId: undefined } },
        "credentials.clientId",
      ],
      [
        { authType: "JwtBearer", credentials: { ...credentials.JwtBearer, clientSecret: 1 } },
        "credentials.clientSecret",
      ],
      ...([
        ["scope", 1], ["audience", ""], ["audience", ["a"]], ["resource", ""], ["resource", "a\nb"],
        ["clientAuthentication", "Basic"], ["clientAuthentication", "none"], ["clientAuthentication", null],
        ["extraParameters", "a=b"], ["extraParameters", [["a", "b"]]],
        ["extraParameters", Object.fromEntries(Array.from({ length: 11 }, (_, at) => [`p${at}`, "v"]))],
      ] as const).map(([name, value]): [object, string] => [
        { authType: "JwtBearer", credentials: { ...credentials.JwtBearer, [name]: value } }, `credentials.${name}`,
      ]),
      ...([
        ["grant_type", "password"], ["client_id", "a"], ["client_secret", "a"], ["scope", "a"], ["audience", "a"],
        ["resource", "a"], ["tenant", 1], ["tenant", "a\u0000b"],
      ] as const).map(([name, value]): [object, string] => [
        { authType: "JwtBearer", credentials: { ...credentials.JwtBearer, extraParameters: { [name]: value } } },
        `credentials.extraParameters.${name}`,
      ]),
    ];
    for (const [fields, field] of bad) {
      it(`gives 400 naming ${field} for ${JSON.stringify(fields).slice(0, 90)}`, async () => {
        const answer = await register(fields, one.viewer.client);
        expect([answer.status, answer.text.split(":")[0]], answer.text).to.deep.equal([400, field]);
        expect(answer.text).not.to.include("canary");
      });
    }

    it("takes a scheme in any case, and keeps the URL as given", async () => {
      const odd = "HTTPS://RECEIVER.example/Hook";
      const answer = await register({ url: odd });
      expect([answer.status, answer.json["url"]]).to.deep.equal([201, odd]);
      const changed = await one.developer.client.patch(path(String(answer.json["id"])), { url: odd.replace("S", "s") });
      expect([changed.status, changed.json["url"]]).to.deep.equal([200, odd.replace("S", "s")]);
    });

    it("takes a JwtBearer with a scope", async () => {
      expect(
        (await register({ authType: "JwtBearer", credentials: { ...credentials.JwtBearer, scope: "a b" } })).status,
      ).to.equal(201);
    });
  });

  describe("change", () => {
    it("changes the given fields", async () => {
      const id = await registered();
      const answer = await one.developer.client.patch(path(id), { url: "https://new.example/", serverRateLimit: 9 });
      expect(answer.status).to.equal(200);
      expect(shaped(answer, "destination")).to.include({
        id,
        url: "https://new.example/",
        serverRateLimit: 9,
        status: "Active",
      });
      expect((await one.developer.client.get(path(id))).text).to.equal(answer.text);
      expect((await one.developer.client.patch(path(id), {})).text).to.equal(answer.text);
    });

    it("switches it off and on", async () => {
      const id = await registered();
      expect((await one.developer.client.patch(path(id), { status: "inactive" })).json["status"]).to.equal("Inactive");
      expect((await one.developer.client.patch(path(id), { status: "active" })).json["status"]).to.equal("Active");
    });

    it("takes a user or a password that is empty, as RFC 7617 allows", async () => {
      const id = await registered();
      for (const [username, password] of [["", "token"], ["token", ""], ["", ""]]) {
        const given = { authType: "BasicAuth", credentials: { username, password } };
        expect((await one.developer.client.patch(path(id), given)).json["authType"]).to.equal("BasicAuth");
      }
    });

    it("configures, replaces and removes authentication", async () => {
      const id = await registered();
      const set = (authType: AuthType) =>
        one.developer.client.patch(path(id), { authType, credentials: credentials[authType] });
      expect((await set("BearerToken")).json["authType"]).to.equal("BearerToken");
      expect((await set("BasicAuth")).json["authType"]).to.equal("BasicAuth");
      expect((await one.developer.client.patch(path(id), { removeAuth: false })).json["authType"]).to.equal(
        "BasicAuth",
      );
      expect((await one.developer.client.patch(path(id), { removeAuth: true })).json).not.to.have.property("authType");
    });

    it("takes the status in any case, and an integer in any notation",
      async () => {
        const id = await registered();
        const set = async (body: string) => {
          const answer = await one.developer.client.call("PATCH", path(id), { body });
          expect(answer.status, answer.text).to.equal(200);
          return answer.json;
        };
        for (const status of ["Inactive", "Active", "INACTIVE", "aCTIVE"]) {
          const { status: shown } = await set(JSON.stringify({ status }));
          expect(shown).to.equal(status.toLowerCase() === "active" ? "Active" : "Inactive");
        }
        for (const written of ["7", "7.0", "0.7e1"]) {
          expect((await set(`{"serverRateLimit":${written}}`))["serverRateLimit"]).to.equal(7);
        }
      });

    it("closes the circuit when it is set active, from either status", async () => {
      const { destinationId, path: ingest, apiKey } = await openIngest(one.owner.client, one.tenantId);
      const send = () => http("POST", api.url + ingest, { json: {}, headers: { "x-api-key": apiKey } });
      for (const first of ["active", "inactive"]) {
        await one.owner.client.patch(path(destinationId), { status: first });
        const { state, revision } = await api.world.aggregates.current(circuits, destinationId);
        const at = timestamp(api.world.clock.now());
        const attempt = { ok: false, late: false, eventId: nowhere, maxTrys: 1, timerS: 300, at };
        const opened = decide(state ?? newCircuit(destinationId, one.tenantId), { type: "Record", ...attempt });
        const origin = { actor: { type: "service", part: "test" } as const, correlationId: "test", causationId: null };
        const entries = entriesOf(opened, origin, api.world.ids);
        await api.world.store.append(streams.circuit(destinationId), revision, entries);
        const shown = first === "active" ? "Suspended" : "Inactive";
        expect((await one.owner.client.get(path(destinationId))).json["status"]).to.equal(shown);
        expect((await one.owner.client.patch(path(destinationId), { status: "active" })).json["status"]).to.equal(
          "Active",
        );
        expect((await send()).status).to.equal(202);
      }
    });

    it("shows the end of its suspension: in gets, in lists, and to refused producers", async () => {
      const { destinationId: id, path: ingest, apiKey } = await openIngest(one.owner.client, one.tenantId);
      const shown = async () => {
        const read = shaped(await one.viewer.client.get(path(id)), "destination");
        const { items } = (await one.viewer.client.get("/api/v1/destinations?Qt=100")).json as { items: object[] };
        expect(items).to.deep.include(read);
        return read;
      };
      const refusal = async () => {
        const { status, text } = await http("POST", api.url + ingest, { json: {}, headers: { "x-api-key": apiKey } });
        expect(status).to.equal(422);
        return text;
      };
      expect(await shown()).to.include({ status: "Active", suspendedUntil: null });
      await tellCircuit(api.world, { destinationId: id, tenantId: one.tenantId }, attemptEnded(nowhere, false));
      const suspendedUntil = (await api.world.aggregates.current(circuits, id)).state?.openUntil;
      expect(await shown()).to.include({ status: "Suspended", suspendedUntil });
      expect(await refusal()).to.equal(`the destination is suspended until ${suspendedUntil}`);
      await one.owner.client.patch(path(id), { status: "inactive" });
      expect(await shown()).to.include({ status: "Inactive", suspendedUntil: null });
      expect(await refusal()).to.equal("the destination is inactive");
    });

    it("shows its health, the same in gets, lists and changes; of the past only its circuit", async () => {
      const { destinationId: id, path: ingest, apiKey } = await openIngest(one.owner.client, one.tenantId);
      const healthOf = ({ json }: HttpAnswer) => json["health"];
      const get = async (query = "") => healthOf(await one.viewer.client.get(`${path(id)}${query}`));
      const none = { lastSuccessAt: null, lastFailureAt: null };
      const closed = { position: "closed", failures: 0, openUntil: null };
      expect(healthOf(await register())).to.deep.equal(
        { waiting: 0, inFlight: 0, oldestDueAt: null, circuit: closed, ...none });
      const post = async () =>
        (await http("POST", api.url + ingest, { json: {}, headers: { "x-api-key": apiKey } })).json["acceptedAt"];
      const oldestDueAt = await post();
      await post();
      const backlog = { waiting: 2, inFlight: 0, oldestDueAt, ...none };
      expect(await get()).to.deep.equal({ ...backlog, circuit: closed });
      const circuitOf = async () => {
        const { failures = 0, openUntil = null } = (await api.world.aggregates.current(circuits, id)).state ?? {};
        return { position: openUntil === null ? "closed" : "open", failures, openUntil };
      };
      for (const maxTrys of [3, 2]) {
        await tellCircuit(
          api.world, { destinationId: id, tenantId: one.tenantId }, attemptEnded(nowhere, false, maxTrys));
        const health = { ...backlog, circuit: await circuitOf() };
        expect(await get()).to.deep.equal(health);
        const { items } = (await one.viewer.client.get("/api/v1/destinations?Qt=100")).json as { items: object[] };
        expect(items.find((item) => (item as { id: string }).id === id)).to.deep.include({ health });
        expect(healthOf(await one.owner.client.patch(path(id), { serverRateLimit: 2 }))).to.deep.equal(health);
      }
      const head = await api.world.store.head();
      const past = { waiting: null, inFlight: null, oldestDueAt: null, circuit: await circuitOf(), ...none };
      expect(past.circuit).to.include({ position: "open", failures: 2 });
      expect(healthOf(await one.owner.client.patch(path(id), { status: "active" }))).to.deep.equal(
        { ...backlog, circuit: closed });
      expect(await get(`?AsOf=${head}`)).to.deep.equal(past);
    });

    it("keeps its circuit open through all other changes, until it is set active", async () => {
      const { destinationId: id } = await openIngest(one.owner.client, one.tenantId);
      await tellCircuit(api.world, { destinationId: id, tenantId: one.tenantId }, attemptEnded(nowhere, false));
      const position = async () => (await api.world.aggregates.current(circuits, id)).state?.position;
      for (const change of [{ serverRateLimit: 2 }, { status: "inactive" }]) {
        expect((await one.owner.client.patch(path(id), change)).status).to.equal(200);
        expect(await position()).to.equal("Open");
      }
      expect((await one.owner.client.patch(path(id), { status: "active" })).status).to.equal(200);
      expect(await position()).to.equal("Closed");
    });

    const bad: [object, string][] = [
      [{ status: "suspended" }, "status"],
      [{ status: "Suspended" }, "status"],
      [{ status: " active" }, "status"],
      [{ status: "act\u0130ve" }, "status"],
      [{ status: "" }, "status"],
      [{ status: 0 }, "status"],
      [{ status: ["active"] }, "status"],
      [{ status: null }, "status"],
      [{ url: "http://receiver.example" }, "url"],
      [{ serverRateLimit: 0 }, "serverRateLimit"],
      [{ serverRateLimit: "5" }, "serverRateLimit"],
      [{ serverRateLimit: 5.5 }, "serverRateLimit"],
      [{ serverRateLimit: true }, "serverRateLimit"],
      [{ serverRateLimit: null }, "serverRateLimit"],
      [{ removeAuth: "true" }, "removeAuth"],
      [{ removeAuth: null }, "removeAuth"],
      [{ removeAuth: true, authType: "BearerToken", credentials: credentials.BearerToken }, "removeAuth"],
      [{ removeAuth: true, credentials: credentials.BearerToken }, "authType"],
      [{ authType: "BearerToken" }, "credentials"],
      [{ credentials: {} }, "authType"],
      [{ authType: "Nope", credentials: {} }, "authType"],
      [{ authType: "bearertoken", credentials: credentials.BearerToken }, "authType"],
    ];
    for (const [change, field] of bad) {
      it(`gives 400 naming ${field} for ${JSON.stringify(change)}`, async () => {
        const answer = await one.owner.client.patch(path(nowhere), change);
        expect([answer.status, answer.text.split(":")[0]], answer.text).to.deep.equal([400, field]);
      });
    }
  });

  describe("ingest token", () => {
    it("is replaced: the old one is unknown at once, the new one works at once", async () => {
      const { destinationId, ingestToken, apiKey } = await openIngest(one.owner.client, one.tenantId);
      const answer = await one.developer.client.post(path(destinationId, "/ingest-token"));
      expect(answer.status).to.equal(200);
      const fresh = String(shaped(answer, "ingest-token")["ingestToken"]);
      const send = (token: string) =>
        http("POST", `${api.url}/api/v1/ingest/${one.tenantId}/${token}`, {
          json: {},
          headers: { "x-api-key": apiKey },
        });
      expect([(await send(ingestToken)).status, (await send(fresh)).status]).to.deep.equal([404, 202]);
    });
  });

  describe("deletion", () => {
    it("gives 204, and then 404, for its token too", async () => {
      const { destinationId, path: ingest, apiKey } = await openIngest(one.owner.client, one.tenantId);
      const answer = await one.developer.client.delete(path(destinationId));
      expect([answer.status, answer.text]).to.deep.equal([204, ""]);
      const later: Promise<HttpAnswer>[] = [
        one.owner.client.get(path(destinationId)),
        one.owner.client.patch(path(destinationId), {}),
        one.owner.client.delete(path(destinationId)),
        one.owner.client.post(path(destinationId, "/ingest-token")),
        http("POST", api.url + ingest, { json: {}, headers: { "x-api-key": apiKey } }),
      ];
      for (const { status } of await Promise.all(later)) expect(status).to.equal(404);
      const listed = (await one.owner.client.get("/api/v1/destinations?Qt=100")).json["items"] as { id: string }[];
      expect(listed.map(({ id }) => id)).not.to.include(destinationId);
    });
  });

  it("has a log line when its circuit opens, half-opens or closes, and no other", async () => {
    const id = await registered({ authType: "BasicAuth", credentials: credentials.BasicAuth });
    const ids = { destinationId: id, tenantId: one.tenantId };
    const [failure, success] = [attemptEnded(nowhere, false, 2), attemptEnded(nowhere, true, 2)];
    const lines = () => api.lines.filter((line) => "destinationId" in line && line.destinationId === id);
    await tellCircuit(api.world, ids, failure, success);
    expect(lines()).to.deep.equal([]);
    // Failures do not change an open circuit.
    await tellCircuit(api.world, ids, failure, failure, failure);
    const openUntil = (await api.world.aggregates.current(circuits, id)).state?.openUntil;
    engines.clock.advance(300_000);
    await tellCircuit(api.world, ids, { type: "HalfOpen", lost: null });
    for (const _twice of [1, 2]) await one.owner.client.patch(path(id), { status: "active" });
    expect(lines()).to.deep.equal([
      { ...ids, failures: 2, openUntil, message: "circuit opened" },
      { ...ids, failures: 2, openUntil: null, message: "circuit half-opened" },
      { ...ids, failures: 0, openUntil: null, message: "circuit closed" },
    ]);
  });
});
