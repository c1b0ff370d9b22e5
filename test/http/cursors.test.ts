import { expect } from "chai";
import fc from "fast-check";
import { apiKeySortFields } from "../../projections/api-keys/api-keys.ts";
import { destinationSortFields } from "../../projections/destinations/destinations.ts";
import { inviteSortFields } from "../../projections/invites/invites.ts";
import { senderSortFields } from "../../projections/senders/senders.ts";
import { userSortFields } from "../../projections/users/users.ts";
import { createTenant, openIngest, unique, type Account, type Client } from "../support/accounts.ts";
import { startApi, type TestApi } from "../support/api.ts";
import { describeOnEngines, type SharedEngines } from "../support/api-engines.ts";
import { eventfulAccount, type EventfulAccount } from "../support/eventful-account.ts";
import { http, shaped } from "../support/http.ts";
import { sized } from "../support/size.ts";

type Item = Readonly<Record<string, unknown>>;

interface Page {
  readonly total?: number;
  readonly items: readonly Item[];
  readonly nextCursor: string | null;
}

/** A list of the account: its path, made when the account is there, the schema of its pages, and its sort fields. */
type List = readonly [name: string, path: () => string, schema: string, sorts: readonly string[], least: number];

describeOnEngines("cursors", (freshEngines) => {
  let engines: SharedEngines;
  let api: TestApi;
  let one: Account;
  let other: Account;
  let ids: EventfulAccount["ids"];
  before(async function () {
    this.timeout(60_000);
    engines = await freshEngines();
    api = await startApi(engines);
    ({ one, other, ids } = await eventfulAccount(api));
  });
  after(() => api.close());
  afterEach(() => expect(api.errors).to.deep.equal([]));

  const lists: readonly List[] = [
    ["users", () => "users", "user-page", userSortFields, 4],
    ["destinations", () => "destinations", "destination-page", destinationSortFields, 3],
    ["senders", () => "senders", "sender-page", senderSortFields, 4],
    ["API keys", () => "api-keys", "api-key-page", apiKeySortFields, 4],
    ["invites", () => "invites", "invite-page", inviteSortFields, 3],
    ["events", () => "events", "event-page", ["acceptedAt", "id"], 5],
    ["refusals", () => "refusals", "refusal-page", ["lastAt"], 4],
    ["the audit", () => "audit", "audit-page", ["time"], 20],
    ["attempts", () => `events/${ids.event}/attempts`, "attempt-page", ["number"], 5],
    ["an event's history", () => `events/${ids.event}/history`, "history-page", ["revision"], 10],
    ["a tenant's history", () => `tenants/${one.tenantId}/history`, "history-page", ["revision"], 5],
    ["purges", () => `tenants/${one.tenantId}/purges/history`, "history-page", ["revision"], 2],
    ["replays", () => `tenants/${one.tenantId}/replays/history`, "history-page", ["revision"], 2],
    ["an API key's history", () => `api-keys/${ids.apiKey}/history`, "history-page", ["revision"], 1],
    ["an invite's history", () => `invites/${ids.invite}/history`, "history-page", ["revision"], 2],
    ["a destination's history", () => `destinations/${ids.destination}/history`, "history-page", ["revision"], 5],
    ["a circuit's history", () => `destinations/${ids.destination}/circuit/history`, "history-page", ["revision"], 4],
    ["a sender's history", () => `senders/${ids.sender}/history`, "history-page", ["revision"], 4],
  ];

  const get = async (path: string, schema: string, client: Client = one.viewer.client): Promise<Page> => {
    const answer = await client.get(`/api/v1/${path}`);
    expect(answer.status, answer.text).to.equal(200);
    return shaped(answer, schema) as unknown as Page;
  };
  /** The items of all pages, each page asked for with the cursor of the one before. */
  const walk = async (path: string, schema: string, client?: Client, between?: () => Promise<void>) => {
    const items: Item[] = [];
    let page = await get(path, schema, client);
    for (;;) {
      items.push(...page.items);
      if (page.nextCursor === null) return items;
      expect(page.items.length, "a page that is not the last").to.be.greaterThan(0);
      await between?.();
      page = await get(`${path}&Cursor=${page.nextCursor}`, schema, client);
    }
  };
  const refused = async (path: string, client: Client = one.viewer.client) => {
    const { status, text } = await client.get(`/api/v1/${path}`);
    return [status, text.split(":")[0]];
  };

  for (const [name, path, schema, sorts, least] of lists) {
    describe(`of ${name}`, () => {
      for (const sort of sorts) {
        it(`lead through the whole list by ${sort}, either way, with any size of pages`, async () => {
          for (const direction of ["Asc", "Desc"]) {
            const order = `CpOrd=${sort}&TpOrd=${direction}`;
            const { items, total, nextCursor } = await get(`${path()}?Qt=100&${order}`, schema);
            expect(items.length).to.be.at.least(least);
            expect([total, nextCursor]).to.deep.equal([items.length, null]);
            for (const size of [1, 2, 3]) {
              expect(await walk(`${path()}?Qt=${size}&${order}`, schema), `${order} by ${size}`).to.deep.equal(items);
            }
          }
        });
      }

      it("go on behind a page with a number, with pages of another size, without a total", async () => {
        const { items } = await get(`${path()}?Qt=100`, schema);
        const second = await get(`${path()}?Qt=1&Pg=2`, schema);
        if (second.nextCursor === null) return;
        const { total, items: rest } = await get(`${path()}?Qt=100&Total=false&Cursor=${second.nextCursor}`, schema);
        expect(total).to.equal(undefined);
        expect(rest).to.deep.equal(items.slice(2));
        expect(await get(`${path()}?Total=false&Pg=900`, schema)).to.deep.equal({ items: [], nextCursor: null });
      });

      it("are refused together with Pg, in another order, of another tenant, or changed", async () => {
        const { nextCursor: cursor, items } = await get(`${path()}?Qt=1`, schema);
        if (cursor === null) {
          expect(items).to.have.length(least);
          return;
        }
        for (const query of [
          `Cursor=${cursor}&Pg=1`,
          `Cursor=${cursor}&TpOrd=${["events", "audit", "refusals"].includes(path()) ? "Asc" : "Desc"}`,
          ...sorts.slice(1).map((sort) => `Cursor=${cursor}&CpOrd=${sort}`),
          `Cursor=${cursor}A`, `Cursor=${cursor.slice(1)}`, `Cursor=${cursor}=`, "Cursor=", "Cursor=W10",
          `Cursor=${Buffer.from(JSON.stringify([{}, {}, {}])).toString("base64url")}`,
        ]) {
          expect(await refused(`${path()}?${query}`), query).to.deep.equal([400, "Cursor"]);
        }
        const theirs = await other.owner.client.get(`/api/v1/${path()}?Cursor=${cursor}`);
        expect([theirs.status, theirs.text.split(":")[0]]).to.deep.equal([400, "Cursor"]);
      });
    });
  }

  it("are refused with another filter, and on another list with the same parameters", async () => {
    const { nextCursor: ofEvents } = await get("events?Qt=1&Status=Pending", "event-page");
    for (const query of [
      "", "&Status=Failed", "&Status=Pending&From=2001-01-01", `&Status=Pending&DestinationUrlId=${ids.destination}`,
    ]) {
      expect(await refused(`events?Cursor=${ofEvents}${query}`), query).to.deep.equal([400, "Cursor"]);
    }
    const { nextCursor: ofHistory } = await get(`destinations/${ids.destination}/history?Qt=1`, "history-page");
    expect(await refused(`senders/${ids.sender}/history?Cursor=${ofHistory}`)).to.deep.equal([400, "Cursor"]);
    const { nextCursor: ofUsers } = await get("users?Qt=1&Role=20&Status=0", "user-page", other.owner.client);
    expect(await refused(`users?Cursor=${ofUsers}&Role=20&Status=0`)).to.deep.equal([400, "Cursor"]);
    expect(ofUsers).to.equal(null);
  });

  it("that no list gave are refused with any content", async () => {
    for (const made of [["", 1, 2], ["", null, null], ["", [], []], [], {}, "", 1, null]) {
      const cursor = Buffer.from(JSON.stringify(made)).toString("base64url");
      for (const path of ["users?CpOrd=createdAt", "events?CpOrd=id", `tenants/${one.tenantId}/history?Qt=1`]) {
        expect(await refused(`${path}&Cursor=${cursor}`), JSON.stringify(made)).to.deep.equal([400, "Cursor"]);
      }
    }
  });

  it("give 400 that names Total for a value that is no boolean", async () => {
    for (const value of ["", "no", "0", "False", "true&Total=true"]) {
      expect(await refused(`users?Total=${value}`), value).to.deep.equal([400, "Total"]);
    }
    expect(await get("users?Total=true", "user-page")).to.have.property("total", 4);
  });

  it("meet every item that is there throughout exactly once while others come and go", async function () {
    this.timeout(120_000);
    const { owner, tenantId } = await createTenant(api.url);
    const { client } = owner;
    const to = await openIngest(client, tenantId);
    const accept = async () => {
      await http("POST", api.url + to.path, { json: {}, headers: { "x-api-key": to.apiKey } });
    };
    for (let n = 0; n < 8; n += 1) await accept();
    const stable = ["id", "createdAt"] as const;
    const step = fc.constantFrom("key", "keys", "no key", "event", "events", "nothing");
    const steps = fc.array(step, { minLength: 3, maxLength: 6 });
    const sort = fc.record({ field: fc.constantFrom(...stable), direction: fc.constantFrom("Asc", "Desc") });
    const sizes = fc.integer({ min: 1, max: 3 });
    await fc.assert(fc.asyncProperty(steps, sort, sizes, async (moves, { field, direction }, size) => {
      const lists = [
        ["api-keys", "api-key-page", field], ["events", "event-page", field === "id" ? "id" : "acceptedAt"],
      ] as const;
      for (const [path, schema, by] of lists) {
        const order = `CpOrd=${by}&TpOrd=${direction}`;
        const idsOf = (items: readonly Item[]) => items.map(({ id }) => String(id));
        const before = idsOf(await walk(`${path}?Qt=100&${order}`, schema, client));
        const removed = new Set<string>();
        const left = [...moves];
        const met = idsOf(await walk(`${path}?Qt=${size}&${order}`, schema, client, async () => {
          const move = left.shift();
          if (move?.startsWith("event")) await accept();
          if (move === "events") await accept();
          if (move === "key" || move === "keys") await client.api.createApiKey({ name: unique("key") });
          if (move === "keys") await client.api.createApiKey({ name: unique("key") });
          if (move !== "no key") return;
          const id = before.find((known) => path === "api-keys" && known !== to.apiKeyId && !removed.has(known));
          if (id === undefined) return;
          removed.add(id);
          await client.delete(`/api/v1/api-keys/${id}`);
        }));
        expect(new Set(met).size, "nothing twice").to.equal(met.length);
        expect(met).to.include.members(before.filter((id) => !removed.has(id)));
        // Later items come only where the list grows.
        if (direction === "Desc") expect(met.filter((id) => !before.includes(id))).to.deep.equal([]);
      }
    }), { numRuns: sized(8, 60) });
  });
});
