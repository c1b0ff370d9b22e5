import { expect } from "chai";
import { histories, type HistoryName } from "../../src/features/facts.ts";
import { streams } from "../../src/kernel/domain/streams.ts";
import type { LogEntry } from "../../src/kernel/ports/event-store.ts";
import type { Account } from "../support/accounts.ts";
import { startApi, type TestApi } from "../support/api.ts";
import { describeOnEngines, type SharedEngines } from "../support/api-engines.ts";
import { eventfulAccount, type EventfulAccount } from "../support/eventful-account.ts";
import { shaped } from "../support/http.ts";

interface Item {
  readonly type: string;
  readonly time: string;
  readonly revision: number;
}

interface Page {
  readonly total?: number;
  readonly items: readonly Item[];
  readonly nextCursor: string | null;
}

describeOnEngines("filters of histories", (freshEngines) => {
  let engines: SharedEngines;
  let api: TestApi;
  let one: Account;
  let ids: EventfulAccount["ids"];
  before(async function () {
    this.timeout(60_000);
    engines = await freshEngines();
    api = await startApi(engines);
    ({ one, ids } = await eventfulAccount(api));
    engines.clock.advance(1_000);
    await one.owner.client.api.updateTenant({ id: one.tenantId }, { maxTrys: 7 });
  });
  after(() => api.close());
  afterEach(() => expect(api.errors).to.deep.equal([]));

  const paths: Readonly<Partial<Record<HistoryName, () => string>>> = {
    tenant: () => `tenants/${one.tenantId}/history`,
    purges: () => `tenants/${one.tenantId}/purges/history`,
    replays: () => `tenants/${one.tenantId}/replays/history`,
    apiKey: () => `api-keys/${ids.apiKey}/history`,
    invite: () => `invites/${ids.invite}/history`,
    destination: () => `destinations/${ids.destination}/history`,
    circuit: () => `destinations/${ids.destination}/circuit/history`,
    sender: () => `senders/${ids.sender}/history`,
    event: () => `events/${ids.event}/history`,
  };
  const get = async (path: string): Promise<Page> => {
    const answer = await one.viewer.client.get(`/api/v1/${path}`);
    expect(answer.status, answer.text).to.equal(200);
    return shaped(answer, "history-page") as unknown as Page;
  };
  const refused = async (path: string) => {
    const { status, text } = await one.viewer.client.get(`/api/v1/${path}`);
    return [status, text.split(":")[0]];
  };

  for (const [name, path] of Object.entries(paths)) {
    it(`narrow that of ${name} to a type and a time, with its total, in pages, either way`, async () => {
      const { items } = await get(`${path()}?Qt=100`);
      const types = [...new Set(items.map(({ type }) => type))];
      const times = [items[0], items.at(-1)].map((fact) => fact?.time ?? expect.fail("no fact"));
      const queries = [
        ...types.map((type) => [`Type=${type}`, (fact: Item) => fact.type === type] as const),
        ...times.flatMap((time) => [
          [`From=${time}`, (fact: Item) => fact.time >= time], [`To=${time}`, (fact: Item) => fact.time <= time],
          [`From=${time}&To=${time}&Type=${types[0] ?? ""}`, (f: Item) => f.time === time && f.type === types[0]],
        ] as const),
        ["To=2001-01-01", () => false] as const,
      ];
      for (const [query, isWanted] of queries) {
        const wanted = items.filter(isWanted);
        expect(await get(`${path()}?Qt=100&${query}`), query)
          .to.deep.equal({ total: wanted.length, items: wanted, nextCursor: null });
        const newestFirst = `${path()}?Qt=2&TpOrd=Desc&${query}`;
        const first = await get(newestFirst);
        expect([first.total, first.items], query).to.deep.equal([wanted.length, wanted.toReversed().slice(0, 2)]);
        const second = await get(`${newestFirst}&Pg=2`);
        expect(second.items, query).to.deep.equal(wanted.toReversed().slice(2, 4));
        for (const direction of ["Asc", "Desc"]) {
          const walked: Item[] = [];
          for (let next: string | null = ""; next !== null;) {
            const cursor: string = next === "" ? "" : `&Cursor=${next}`;
            const page = await get(`${path()}?Qt=2&TpOrd=${direction}&Total=false&${query}${cursor}`);
            expect(page.total).to.equal(undefined);
            walked.push(...page.items);
            next = page.nextCursor;
          }
          expect(walked, query).to.deep.equal(direction === "Asc" ? wanted : wanted.toReversed());
        }
      }
    });

    it(`give 400 for a type that the history of ${name} cannot have, and for a value that is no time`, async () => {
      const [known = ""] = histories[name as HistoryName] as readonly string[];
      const other = name === "sender" ? "EventAccepted" : "SenderCreated";
      for (const type of ["", "Nothing", known.toLowerCase(), other, `${known}&Type=${known}`, "__proto__"]) {
        expect(await refused(`${path()}?Type=${type}`), type).to.deep.equal([400, "Type"]);
      }
      for (const query of ["From=yesterday", "To=", "From=2026-02-30", "To=2026-01-01&To=2026-01-01"]) {
        expect(await refused(`${path()}?${query}`), query).to.deep.equal([400, query.split("=")[0]]);
      }
    });
  }

  it("meet a fact that cannot be read only where it might be wanted", async () => {
    const stream = streams.destination(ids.destination);
    const { store } = engines;
    const readStream = store.readStream.bind(store);
    const spoil = (entry: LogEntry): LogEntry =>
      (entry.revision === 1 ? { ...entry, unreadable: "a detail", newer: true } : entry);
    store.readStream = async (name, ...rest) => {
      const entries = await readStream(name, ...rest);
      return name === stream ? entries.map(spoil) : entries;
    };
    try {
      const path = `/api/v1/destinations/${ids.destination}/history`;
      const statusOf = async (query: string) => (await one.viewer.client.get(`${path}?${query}`)).status;
      expect(await statusOf("Type=DestinationRegistered")).to.equal(200);
      expect(await statusOf("Type=DestinationRateLimitChanged")).to.equal(503);
      expect(await statusOf("Type=DestinationRateLimitChanged&Pg=2&Qt=1")).to.equal(200);
      expect(await statusOf("From=2001-01-01")).to.equal(503);
    } finally {
      store.readStream = readStream;
    }
  });
});
