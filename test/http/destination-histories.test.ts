import { expect } from "chai";
import { decide, evolve, newCircuit } from "../../src/features/circuits/facts.ts";
import { destinations } from "../../src/features/destinations/facts.ts";
import { streams } from "../../src/kernel/domain/streams.ts";
import { timestamp } from "../../src/kernel/domain/time.ts";
import { entriesOf } from "../../src/kernel/log/origin.ts";
import type { LogEntry } from "../../src/kernel/ports/event-store.ts";
import { sha256 } from "../../src/kernel/tools/hashing.ts";
import { type Account } from "../support/accounts.ts";
import type { TestApi } from "../support/api.ts";
import { describeOnEngines, type SharedEngines } from "../support/api-engines.ts";
import { apiStage } from "../support/api-stage.ts";
import { attemptEnded, tellCircuit } from "../support/circuits.ts";
import { shaped } from "../support/http.ts";

const nowhere = "00000000-0000-7000-8000-000000000000";
const url = "https://receiver.example/hook?x=1";
const path = (id: unknown, rest = "") => `/api/v1/destinations/${String(id)}${rest}`;
const bearerToken = { authType: "BearerToken", credentials: { token: "canary-token" } };
const basicAuth = { authType: "BasicAuth", credentials: { username: "canary-user", password: "canary-password" } };
const failure = attemptEnded(nowhere, false, 2);
const success = attemptEnded(nowhere, true, 2);

interface Item {
  readonly type: string;
  readonly revision: number;
  readonly position: string;
  readonly time: string;
  readonly actor: object;
  readonly data: Readonly<Record<string, unknown>>;
}

/** The data without the fields of every fact. */
const told = ({ data: { destinationId: _id, tenantId: _tenantId, at: _at, ...data } }: Item) => data;

describeOnEngines("histories of destinations", (freshEngines) => {
  let engines: SharedEngines;
  let api: TestApi;
  let one: Account;
  apiStage(freshEngines, (stage) => ({ engines, api, one } = stage));

  const register = (fields: object = {}) => one.developer.client.post("/api/v1/destinations", { url, ...fields });
  const registered = async (fields: object = {}) => (await register(fields)).json["id"] as string;
  const factsOf = async (id: string, rest: string) => {
    const answer = await one.viewer.client.get(path(id, rest));
    return shaped(answer, "history-page") as unknown as {
      readonly total: number; readonly items: readonly Item[]; readonly nextCursor: string | null;
    };
  };
  const tell = (id: string, ...commands: Parameters<typeof tellCircuit>[2][]) =>
    tellCircuit(api.world, { destinationId: id, tenantId: one.tenantId }, ...commands);

  /** Passes every read of a stream through `change` while `act` runs. */
  const whileRead = async (
    stream: string, change: (entries: readonly LogEntry[]) => readonly LogEntry[], act: () => Promise<void>,
  ) => {
    const { store } = engines;
    const read = store.readStream.bind(store);
    store.readStream = async (from, options) => {
      const entries = await read(from, options);
      return from === stream ? change(entries) : entries;
    };
    try {
      await act();
    } finally {
      // Deleting the override uncovers the method of the class.
      Reflect.deleteProperty(store, "readStream");
    }
  };

  it("show every change of a setting and its actor, and no secret", async () => {
    const made = await register(bearerToken);
    const id = String(made.json["id"]);
    const { client } = one.admin;
    await client.patch(path(id), { url: "https://new.example/", serverRateLimit: 9 });
    await client.patch(path(id), basicAuth);
    await client.patch(path(id), { removeAuth: true, status: "inactive" });
    await client.patch(path(id), { status: "active" });
    const regenerated = await client.post(path(id, "/ingest-token"));
    const { total, items } = await factsOf(id, "/history");
    expect(items.map((fact) => [fact.type, told(fact)])).to.deep.equal([
      ["DestinationRegistered", { url, serverRateLimit: 5, authType: "BearerToken" }],
      ["DestinationUrlChanged", { url: "https://new.example/" }],
      ["DestinationRateLimitChanged", { serverRateLimit: 9 }],
      ["DestinationAuthConfigured", { authType: "BasicAuth" }],
      ["DestinationAuthRemoved", {}],
      ["DestinationDeactivated", {}],
      ["DestinationActivated", {}],
      ["IngestTokenRegenerated", {}],
    ]);
    expect(items.map(({ revision }) => revision)).to.deep.equal([...items.keys()]);
    // An attempt records the revision of the destination in the memory of its process.
    const { revision } = await api.world.aggregates.current(destinations, id);
    expect([total, items.at(-1)?.revision]).to.deep.equal([items.length, revision]);
    expect(items[0]?.actor).to.include({ type: "user", id: one.developer.id, role: "Developer" });
    expect(items[1]?.actor).to.include({ type: "user", id: one.admin.id, role: "Admin" });
    for (const { time, data } of items) {
      expect(data).to.include({ destinationId: id, tenantId: one.tenantId, at: time });
    }
    const { state } = await api.world.aggregates.current(destinations, id);
    const text = JSON.stringify(items);
    expect(text).not.to.match(/canary|credentials|hash/i);
    for (const token of [made.json["ingestToken"], regenerated.json["ingestToken"]].map(String)) {
      for (const secret of [token, sha256(token)]) expect(text).not.to.include(secret);
    }
    expect(sha256(String(regenerated.json["ingestToken"]))).to.equal(state?.ingestTokenHash);
  });

  it("show that a destination has no authentication", async () => {
    const { items } = await factsOf(await registered(), "/history");
    expect(items.map(told)).to.deep.equal([{ url, serverRateLimit: 5, authType: null }]);
  });

  it("show why deliveries were held, and why they went on", async () => {
    const id = await registered();
    expect(await factsOf(id, "/circuit/history")).to.deep.equal({ total: 0, items: [], nextCursor: null });
    const before = api.world.clock.now();
    await tell(id, failure, failure);
    engines.clock.advance(300_000);
    const leaseUntil = timestamp(api.world.clock.now() + 30_000);
    await tell(id, { type: "ClaimProbe", eventId: nowhere, leaseUntil, lost: null }, success);
    const { items } = await factsOf(id, "/circuit/history");
    const openUntil = items[1]?.data["openUntil"];
    expect(Date.parse(String(openUntil))).to.be.within(before + 300_000, api.world.clock.now());
    const eventId = nowhere;
    const probe = { eventId, leaseUntil };
    expect(items.map((fact) => [fact.type, told(fact)])).to.deep.equal([
      ["CircuitCounted", { position: "Closed", failures: 1, openUntil: null, probe: null, eventId }],
      ["CircuitOpened", { position: "Open", failures: 2, openUntil, probe: null, eventId }],
      ["CircuitProbeClaimed", { position: "Open", failures: 2, openUntil, probe, eventId }],
      ["CircuitClosed", { position: "Closed", failures: 0, openUntil: null, probe: null, eventId }],
    ]);
    for (const { actor } of items) expect(actor).to.deep.equal({ type: "service", part: "test" });
  });

  it("come in pages, in either order", async () => {
    const id = await registered();
    for (const serverRateLimit of [6, 7, 8, 9]) await one.owner.client.patch(path(id), { serverRateLimit });
    await tell(id, failure, success, failure, success, failure);
    for (const rest of ["/history", "/circuit/history"]) {
      const { items } = await factsOf(id, rest);
      expect(items).to.have.length(5);
      for (const [direction, all] of [["Asc", items], ["Desc", items.toReversed()]] as const) {
        for (const quantity of [1, 2, 5, 7]) {
          const pages = [];
          for (let page = 1; page <= Math.ceil(5 / quantity) + 1; page += 1) {
            pages.push(await factsOf(id, `${rest}?TpOrd=${direction}&Qt=${quantity}&Pg=${page}`));
          }
          expect(pages.flatMap((page) => page.items), `${rest} ${direction} ${quantity}`).to.deep.equal(all);
          expect(new Set(pages.map(({ total }) => total))).to.deep.equal(new Set([5]));
        }
      }
      for (const bad of ["Qt=0", "Qt=101", "Pg=0", "CpOrd=time", "TpOrd=up"]) {
        const answer = await one.owner.client.get(path(id, `${rest}?${bad}`));
        expect([answer.status, answer.text.split(":")[0]]).to.deep.equal([400, bad.split("=")[0]]);
      }
    }
  });

  it("of circuits cost the reads of one page, at any length", async () => {
    const id = await registered();
    const { store } = engines;
    const stream = streams.circuit(id);
    const origin = { actor: { type: "service", part: "test" } as const, correlationId: "test", causationId: null };
    const facts = 5_000;
    let state = newCircuit(id, one.tenantId);
    for (let revision = -1; revision + 1 < facts; revision += 1_000) {
      const counted = Array.from({ length: 1_000 }, (_none, index) => {
        const command = index % 2 === 0 ? failure : success;
        const [fact] = decide(state, { ...command, at: timestamp(api.world.clock.now()) });
        if (!fact) throw new Error("nothing was counted");
        state = evolve(state, fact);
        return fact;
      });
      await store.append(stream, revision, entriesOf(counted, origin, api.world.ids));
    }
    let given = 0;
    const count = (entries: readonly LogEntry[]) => {
      given += entries.length;
      return entries;
    };
    await whileRead(stream, count, async () => {
      for (const [query, first, last] of [
        ["", 0, 19], ["?Pg=120", 2_380, 2_399], ["?Qt=100&Pg=50", 4_900, 4_999],
        ["?TpOrd=desc", 4_999, 4_980], ["?TpOrd=desc&Pg=120", 2_619, 2_600], ["?TpOrd=desc&Qt=3&Pg=1667", 1, 0],
        ["?Pg=251", undefined, undefined], ["?TpOrd=desc&Pg=1000000000", undefined, undefined],
      ] as const) {
        given = 0;
        const { total, items, nextCursor } = await factsOf(id, `/circuit/history${query}`);
        expect([total, items[0]?.revision, items.at(-1)?.revision], query).to.deep.equal([facts, first, last]);
        // One more: the revision of the newest fact gives the total; and the first of the next page.
        expect(given, query).to.equal(1 + items.length + (nextCursor === null ? 0 : 1));
      }
    });
  });

  for (const [newer, why] of [
    [false, "by any process: a part of it is damaged"],
    [true, "by this process: a newer release of the relay wrote a part of it"],
  ] as const) it(`of circuits give 503 for a page with a fact that cannot be read ${why}`, async () => {
    const id = await registered();
    await tell(id, failure, success);
    const spoil = (entries: readonly LogEntry[]): readonly LogEntry[] => entries.map((entry) =>
      (entry.revision === 0 ? { ...entry, unreadable: "a detail", newer } : entry));
    await whileRead(streams.circuit(id), spoil, async () => {
      const answer = await one.owner.client.get(path(id, "/circuit/history"));
      expect([answer.status, answer.text]).to.deep.equal([503, `a fact of this history cannot be read ${why}`]);
      const other = await factsOf(id, "/circuit/history?Qt=1&Pg=2");
      expect([other.total, other.items.map(({ revision }) => revision)]).to.deep.equal([2, [1]]);
    });
  });

  it("stay readable when the destination is deleted", async () => {
    const id = await registered();
    await tell(id, failure);
    await one.owner.client.delete(path(id));
    const [settings, circuit] = [await factsOf(id, "/history"), await factsOf(id, "/circuit/history")];
    expect(settings.items.map(({ type }) => type)).to.deep.equal(["DestinationRegistered", "DestinationDeleted"]);
    expect(circuit.items.map(({ type }) => type)).to.deep.equal(["CircuitCounted"]);
    expect(JSON.stringify(settings)).not.to.match(/hash/i);
    expect(await factsOf(id.toUpperCase(), "/history")).to.deep.equal(settings);
  });
});
