import { expect } from "chai";
import { apiKeySortFields } from "../../projections/api-keys/api-keys.ts";
import { destinationSortFields } from "../../projections/destinations/destinations.ts";
import { senderSortFields } from "../../projections/senders/senders.ts";
import { userSortFields } from "../../projections/users/users.ts";
import { eventStatuses } from "../../src/features/events/facts.ts";
import type { Schema } from "../../src/kernel/operations/description.ts";
import { Client, createTenant, createUser, openAccount, openIngest, type Account } from "../support/accounts.ts";
import { startApi, type TestApi } from "../support/api.ts";
import { describeOnEngines, type SharedEngines } from "../support/api-engines.ts";
import { attemptEnded, tellCircuit } from "../support/circuits.ts";
import { apiDocument } from "../support/document.ts";
import { http, shaped } from "../support/http.ts";
import { Deliveries } from "../support/outcomes.ts";

type Item = Readonly<Record<string, string | number | null>>;

const lists = [
  { path: "/api/v1/users", page: "user-page", sort: userSortFields },
  { path: "/api/v1/destinations", page: "destination-page", sort: destinationSortFields },
  { path: "/api/v1/senders", page: "sender-page", sort: senderSortFields },
  { path: "/api/v1/api-keys", page: "api-key-page", sort: apiKeySortFields },
  { path: "/api/v1/events", page: "event-page", sort: ["acceptedAt", "id"] },
];

describeOnEngines("lists", (freshEngines) => {
  let engines: SharedEngines;
  let api: TestApi;
  let one: Account;
  let other: Account;
  const targets: Awaited<ReturnType<typeof openIngest>>[] = [];
  const eventIds: string[] = [];
  before(async () => {
    engines = await freshEngines();
    api = await startApi(engines);
    [one, other] = await Promise.all([openAccount(api.url), openAccount(api.url)]);
    for (let n = 0; n < 3; n += 1) targets.push(await openIngest(one.owner.client, one.tenantId));
    const foreign = await openIngest(other.owner.client, other.tenantId);
    await other.owner.client.post("/api/v1/senders", { name: "Theirs", destinationUrlId: foreign.destinationId });
    for (const [name, target] of ["Shop", "Till", "Shop", "Bank"].map((name, n) => [name, targets[n % 3]] as const)) {
      engines.clock.advance(1_000);
      const answer = await one.owner.client.post("/api/v1/senders", { name, destinationUrlId: target?.destinationId });
      expect(answer.status).to.equal(201);
    }
    for (let n = 0; n < 9; n += 1) {
      const to = targets[n % 3] ?? expect.fail();
      engines.clock.advance(1_000);
      const answer = await http("POST", api.url + to.path, { json: { n }, headers: { "x-api-key": to.apiKey } });
      eventIds.push(answer.json["eventId"] as string);
    }
    const deliveries = new Deliveries(api.world);
    await deliveries.succeed(eventIds[0] ?? "");
    await deliveries.fail(eventIds[1] ?? "", 1);
    await deliveries.fail(eventIds[2] ?? "", 9);
  });
  after(() => api.close());
  afterEach(() => expect(api.errors).to.deep.equal([]));

  const list = async (path: string, by = one.viewer.client) => {
    const answer = await by.get(path);
    expect(answer.status, answer.text).to.equal(200);
    return answer.json as { total: number; items: Item[] };
  };
  const ids = async (path: string) => (await list(path)).items.map(({ id }) => id);

  for (const { path, page, sort } of lists) {
    describe(path, () => {
      it("gives the page envelope, the caller's tenant only", async () => {
        const answer = await one.viewer.client.get(path);
        const { total, items } = shaped(answer, page) as { total: number; items: Item[] };
        expect(total).to.equal(items.length).and.to.be.greaterThan(2);
        expect(items.every(({ tenantId }) => tenantId === one.tenantId)).to.equal(true);
      });

      it("gives 401 without a token, before any other error", async () => {
        expect((await new Client(api.url).get(`${path}?Qt=0`)).status).to.equal(401);
      });

      it("has pages without gap or overlap, and the total", async () => {
        const all = await ids(`${path}?Qt=100`);
        const paged: unknown[] = [];
        for (let page = 1; page <= Math.ceil(all.length / 2); page += 1)
          paged.push(...(await ids(`${path}?Qt=2&Pg=${page}`)));
        expect(paged).to.deep.equal(all);
        const beyond = await list(`${path}?Qt=100&Pg=90071992547409`);
        expect(beyond).to.deep.equal({ total: all.length, items: [], nextCursor: null });
      });

      for (const field of sort) {
        it(`sorts by ${field}, both ways`, async () => {
          const up = (await list(`${path}?Qt=100&CpOrd=${field}&TpOrd=Asc`)).items;
          const down = (await list(`${path}?Qt=100&CpOrd=${field}&TpOrd=dESC`)).items;
          expect(down).to.deep.equal(up.toReversed());
          for (let index = 1; index < up.length; index += 1) {
            const [a, b] = [up[index - 1]?.[field] ?? "", up[index]?.[field] ?? ""];
            expect(a <= b, `${a} before ${b}`).to.equal(true);
            if (a === b) expect(String(up[index - 1]?.["id"]) < String(up[index]?.["id"])).to.equal(true);
          }
        });
      }

      const bad = [
        "Qt=0",
        "Qt=101",
        "Qt=-1",
        "Qt=1.5",
        "Qt=x",
        "Qt=",
        "Qt=+1",
        "Qt=1e1",
        "Qt=0x10",
        "Qt=%31%00",
        "Qt=2&Qt=2",
        "Qt=99999999999999999999",
        "Pg=0",
        "Pg=-1",
        "Pg=x",
        "Pg=",
        "Pg=1&Pg=2",
        "Pg=90071992547410",
        "CpOrd=nope",
        "CpOrd=",
        "CpOrd=id&CpOrd=id",
        "CpOrd=ID",
        "CpOrd=tenantId",
        "CpOrd=id;drop",
        "CpOrd=__proto__",
        "TpOrd=up",
        "TpOrd=",
        "TpOrd=Asc&TpOrd=Asc",
        "TpOrd=1",
      ];
      it("gives 400 that names the parameter for a bad value", async () => {
        for (const query of bad) {
          const answer = await one.owner.client.get(`${path}?${query}`);
          expect([answer.status, answer.text.split(":")[0]], query).to.deep.equal([400, query.split("=")[0]]);
        }
      });

      it("gives 400 with the right name for a parameter in another case", async () => {
        for (const [given, known] of [["qt", "Qt"], ["PG", "Pg"], ["cpOrd", "CpOrd"], ["TPORD", "TpOrd"]] as const) {
          const answer = await one.owner.client.get(`${path}?${given}=1`);
          expect([answer.status, answer.text]).to.deep.equal([400, `${given}: must be spelt ${known}`]);
        }
      });

      it("ignores other parameters", async () => {
        expect(await ids(`${path}?x=1&x=2&Qt2=0&__proto__=1`)).to.deep.equal(await ids(path));
      });
    });
  }

  const textFilters = Object.entries(apiDocument.paths).flatMap(([path, methods]) =>
    (methods["get"]?.parameters ?? []).flatMap((one) => {
      if (!("in" in one) || one.in !== "query") return [];
      const { type, items = {}, ...schema } = one.schema as Schema & { readonly items?: Schema };
      const isText = type === "string" || (type === "array" && items["type"] === "string");
      // A payload may contain control characters, so it is searched for them.
      const isOfPayload = ["Text", "Pointer", "Value"].includes(one.name);
      return isText && !isOfPayload && !("enum" in { ...schema, ...items }) ? [{ path, name: one.name }] : [];
    }));
  const underNul = textFilters.filter(({ name }) => name === "OwnerId").map(({ path }) => path);
  expect(underNul).to.include.members(["/api/v1/events", "/api/v1/events/totals", "/api/v1/stream"]);
  for (const path of new Set(textFilters.map((one) => one.path))) {
    it(`of ${path} give 400 for control characters in any text, naming the parameter`, async () => {
      const target = path.replaceAll(/\{\w+\}/g, one.tenantId);
      for (const { name } of textFilters.filter((filter) => filter.path === path)) {
        for (const text of ["%00", "a%00b", "%0A", "a:%1F", "%7F", "a%C2%85"]) {
          const answer = await one.owner.client.get(`${target}?${name}=${text}`);
          expect([answer.status, answer.text.split(/[:.]/)[0]], `${name}=${text}`).to.deep.equal([400, name]);
        }
      }
    });
  }

  it("have their defaults: 20 items, by id, events by acceptedAt and newest first", async () => {
    const { owner } = await createTenant(api.url);
    for (let n = 0; n < 21; n += 1) await owner.client.post("/api/v1/api-keys", { name: `${n}` });
    const { total, items } = (await owner.client.get("/api/v1/api-keys")).json as { total: number; items: Item[] };
    expect([total, items.length]).to.deep.equal([21, 20]);
    const sorted = items.map(({ id }) => String(id));
    expect(sorted).to.deep.equal([...sorted].sort());
    expect(await ids("/api/v1/events")).to.deep.equal(eventIds.toReversed());
  });

  describe("filters of users", () => {
    it("narrow the list and its total", async () => {
      const { owner } = await createTenant(api.url);
      const [first] = [await createUser(owner.client, "developer"), await createUser(owner.client, "viewer")];
      await owner.client.patch(`/api/v1/users/${first.id}`, { status: 1 });
      const table: [string, number][] = [
        ["Status=0", 2],
        ["Status=1", 1],
        ["Role=0", 1],
        ["Role=1", 0],
        ["Role=10", 1],
        ["Role=20", 1],
        ["Status=1&Role=0", 1],
        ["Status=0&Role=0", 0],
      ];
      for (const [query, total] of table) {
        const page = await list(`/api/v1/users?${query}`, owner.client);
        expect([page.total, page.items.length], query).to.deep.equal([total, total]);
      }
    });

    for (const query of [
      "Status=2",
      "Status=Active",
      "Status=",
      "Status=0&Status=1",
      "Role=2",
      "Role=Owner",
      "Role=",
    ]) {
      it(`give 400 for ${query}`, async () => {
        expect((await one.owner.client.get(`/api/v1/users?${query}`)).status).to.equal(400);
      });
    }
  });

  describe("filters of destinations", () => {
    it("narrow the list and its total to a status, by each way into that status", async () => {
      const { owner, tenantId } = await createTenant(api.url);
      const made = async () => (await openIngest(owner.client, tenantId)).destinationId;
      const fail = (destinationId: string) =>
        tellCircuit(api.world, { destinationId, tenantId }, attemptEnded(eventIds[0] ?? "", false));
      const [active, off, suspended, offAndOpen, halfOpen] =
        [await made(), await made(), await made(), await made(), await made()] as const;
      for (const id of [suspended, offAndOpen, halfOpen]) await fail(id);
      for (const id of [off, offAndOpen]) {
        await owner.client.patch(`/api/v1/destinations/${id}`, { status: "inactive" });
      }
      engines.clock.advance(300_000);
      await tellCircuit(api.world, { destinationId: halfOpen, tenantId }, { type: "HalfOpen", lost: null });
      const table = { Active: [active, halfOpen], Inactive: [off, offAndOpen], Suspended: [suspended] };
      for (const [status, wanted] of Object.entries(table)) {
        for (const sort of destinationSortFields) {
          const query = `/api/v1/destinations?Status=${status}&CpOrd=${sort}`;
          const { total, items } = await list(query, owner.client);
          expect(total, query).to.equal(wanted.length);
          expect(items.map(({ id }) => id), query).to.have.members(wanted);
          expect(items.every((item) => item["status"] === status), query).to.equal(true);
        }
        const second = await list(`/api/v1/destinations?Status=${status}&Qt=1&Pg=2`, owner.client);
        expect([second.total, second.items.map(({ id }) => id)]).to.deep.equal([wanted.length, wanted.slice(1)]);
      }
      expect((await list("/api/v1/destinations", owner.client)).total).to.equal(5);
    });

    for (const query of ["Status=active", "Status=0", "Status=", "Status=Active&Status=Active", "status=Active"]) {
      it(`give 400 for ${query}`, async () => {
        const answer = await one.owner.client.get(`/api/v1/destinations?${query}`);
        expect([answer.status, answer.text.split(":")[0]]).to.deep.equal([400, query.split("=")[0]]);
      });
    }
  });

  describe("filters of events", () => {
    it("narrow the list and its total", async () => {
      const { items } = await list("/api/v1/events?TpOrd=Asc");
      const at = (index: number) => String(items[index]?.["acceptedAt"]);
      const plus = (time: string, ms: number) => new Date(Date.parse(time) + ms).toISOString();
      const table: [string, number[]][] = [
        ["Status=Succeeded", [0]],
        ["Status=CriticalFailure", [1]],
        ["Status=WaitingRetry", [2]],
        ["Status=Cancelled", []],
        ["Status=Pending", [3, 4, 5, 6, 7, 8]],
        [`DestinationUrlId=${targets[0]?.destinationId ?? ""}`, [0, 3, 6]],
        [`DestinationUrlId=${(targets[0]?.destinationId ?? "").toUpperCase()}&Status=Pending`, [3, 6]],
        [`From=${at(4)}`, [4, 5, 6, 7, 8]],
        [`To=${at(4)}`, [0, 1, 2, 3, 4]],
        [`From=${at(3)}&To=${at(5)}`, [3, 4, 5]],
        [`From=${plus(at(4), 1)}`, [5, 6, 7, 8]],
        [`To=${plus(at(4), -1)}`, [0, 1, 2, 3]],
        [`From=${at(5)}&To=${at(3)}`, []],
        ["From=2001-01-01", [0, 1, 2, 3, 4, 5, 6, 7, 8]],
        ["To=0001-01-01", []],
        [`From=${at(3)}&Status=Pending&DestinationUrlId=${targets[1]?.destinationId ?? ""}`, [4, 7]],
        [`From=${encodeURIComponent(at(4).replace("Z", "+00:00"))}`, [4, 5, 6, 7, 8]],
      ];
      for (const [query, wanted] of table) {
        const page = await list(`/api/v1/events?TpOrd=Asc&${query}`);
        expect(
          page.items.map(({ id }) => eventIds.indexOf(String(id))),
          query,
        ).to.deep.equal(wanted);
        expect(page.total, query).to.equal(wanted.length);
      }
    });

    it("keep pages stable while events arrive, by a fixed To or from the oldest on", async () => {
      const { owner, tenantId } = await createTenant(api.url);
      const to = await openIngest(owner.client, tenantId);
      const accept = async () => {
        engines.clock.advance(1_000);
        const answer = await http("POST", api.url + to.path, { json: {}, headers: { "x-api-key": to.apiKey } });
        return answer.json as { eventId: string; acceptedAt: string };
      };
      const accepted = [await accept(), await accept(), await accept(), await accept()];
      const ids = accepted.map(({ eventId }) => eventId);
      const table: [string, string[]][] = [
        [`To=${accepted[3]?.acceptedAt ?? ""}`, ids.toReversed()], ["TpOrd=Asc", ids],
      ];
      for (const [query, wanted] of table) {
        const walked: unknown[] = [];
        for (const page of [1, 2]) {
          const { items } = await list(`/api/v1/events?Qt=2&Pg=${page}&${query}`, owner.client);
          walked.push(...items.map(({ id }) => id));
          await accept();
        }
        expect(walked, query).to.deep.equal(wanted);
      }
    });

    it("give an empty page for another tenant's destination, and for an unknown one", async () => {
      const theirs = (await other.owner.client.get("/api/v1/destinations")).json["items"] as Item[];
      for (const id of [theirs[0]?.["id"], "00000000-0000-7000-8000-000000000000"]) {
        const page = await list(`/api/v1/events?DestinationUrlId=${id ?? ""}`);
        expect(page).to.deep.equal({ total: 0, items: [], nextCursor: null });
      }
    });

    const bad = [
      "Status=pending",
      "status=Failed",
      "destinationUrlId=00000000-0000-7000-8000-000000000000",
      "Status=Nope",
      "Status=",
      "Status=0",
      "Status=Pending&Status=Failed",
      "DestinationUrlId=x",
      "DestinationUrlId=",
      "DestinationUrlId=urn:uuid:00000000-0000-7000-8000-000000000000",
      "From=yesterday",
      "From=",
      "From=2024-02-30",
      "From=2024-01-01T00:00:00+02:00",
      "From=1704067200000",
      "To=2024-1-1",
      "To=2024-01-01T25:00:00Z",
      "From=2024-01-01&From=2024-01-01",
      "To=",
      "To=%00",
    ];
    for (const query of bad) {
      it(`give 400 for ${query}`, async () => {
        const answer = await one.owner.client.get(`/api/v1/events?${query}`);
        expect([answer.status, answer.text.split(":")[0]], answer.text).to.deep.equal([400, query.split("=")[0]]);
      });
    }
  });

  describe("totals of events", () => {
    const totals = async (query: string, by = one.viewer.client) =>
      shaped(await by.get(`/api/v1/events/totals?${query}`), "event-totals");

    it("by status are those of the list under every filter", async () => {
      const { items } = await list("/api/v1/events?TpOrd=Asc");
      const at = (index: number) => String(items[index]?.["acceptedAt"]);
      const [first = "", second = ""] = targets.map(({ destinationId }) => destinationId);
      const queries = [
        "", `DestinationUrlId=${first}`, `DestinationUrlId=${second.toUpperCase()}`, `From=${at(2)}`, `To=${at(1)}`,
        `DestinationUrlId=${first}&From=${at(1)}&To=${at(5)}`, `From=${at(5)}&To=${at(3)}`,
      ];
      for (const query of queries) {
        const of = async (status: string) => (await list(`/api/v1/events?${query}${status}`)).total;
        const ofEach = eventStatuses.map(async (status) => [status, await of(`&Status=${status}`)] as const);
        expect(await totals(query), query).to.deep.equal({
          total: await of(""), statuses: Object.fromEntries(await Promise.all(ofEach)),
        });
      }
      expect(await totals("")).to.deep.include({
        statuses: {
          Pending: 6, Processing: 0, Succeeded: 1, Failed: 0, WaitingRetry: 1, CriticalFailure: 1, Cancelled: 0,
        },
      });
    });

    it("cover the caller's tenant only, and include every earlier write", async () => {
      const theirs = (await other.owner.client.get("/api/v1/destinations")).json["items"] as Item[];
      expect(await totals(`DestinationUrlId=${theirs[0]?.["id"] ?? ""}`)).to.include({ total: 0 });
      const { owner, tenantId } = await createTenant(api.url);
      const to = await openIngest(owner.client, tenantId);
      for (let total = 1; total <= 5; total += 1) {
        await http("POST", api.url + to.path, { json: {}, headers: { "x-api-key": to.apiKey } });
        expect(await totals("", owner.client)).to.deep.include({ total }).and.to.have.nested.include({
          "statuses.Pending": total,
        });
      }
    });

    it("give 401 without a token, 400 for a bad value, 405 to other methods", async () => {
      const path = "/api/v1/events/totals";
      expect((await new Client(api.url).get(`${path}?To=`)).status).to.equal(401);
      for (const query of ["DestinationUrlId=x", "From=yesterday", "To=", "To=2024-01-01&To=2024-01-01", "from=2024"]) {
        const answer = await one.owner.client.get(`${path}?${query}`);
        expect([answer.status, answer.text.split(":")[0]], query).to.deep.equal([400, query.split("=")[0]]);
      }
      expect((await one.owner.client.post(path)).status).to.equal(405);
    });
  });

  it("sort by the indexed fields of the read models", async () => {
    for (const { path, sort } of lists) {
      const { text } = await one.owner.client.get(`${path}?CpOrd=nope`);
      expect(text).to.equal(`CpOrd: must be one of ${sort.join(", ")}`);
    }
  });
});
