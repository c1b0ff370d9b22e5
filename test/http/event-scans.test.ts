import { once } from "node:events";
import { get, type IncomingMessage } from "node:http";
import { expect } from "chai";
import { LogUnavailable } from "../../src/kernel/ports/event-store.ts";
import { Client, createTenant, openAccount, openIngest, type Account } from "../support/accounts.ts";
import { startApi, type TestApi } from "../support/api.ts";
import { describeOnEngines, type SharedEngines } from "../support/api-engines.ts";
import { http, type HttpAnswer } from "../support/http.ts";
import { Deliveries } from "../support/outcomes.ts";
import { sized } from "../support/size.ts";

type Line = Readonly<Record<string, unknown>> & { readonly item?: Readonly<Record<string, unknown>> };

describeOnEngines("scans of events", (freshEngines) => {
  let engines: SharedEngines;
  let api: TestApi;
  let one: Account;
  let other: Account;
  let targets: Awaited<ReturnType<typeof openIngest>>[];
  const ids: string[] = [];
  before(async function () {
    this.timeout(60_000);
    engines = await freshEngines();
    api = await startApi(engines);
    [one, other] = await Promise.all([openAccount(api.url), openAccount(api.url)]);
    targets = [await openIngest(one.owner.client, one.tenantId), await openIngest(one.owner.client, one.tenantId)];
    for (let n = 0; n < 12; n += 1) {
      const json = { order: { id: n % 3, name: `Order ${n}` }, paid: n % 2 === 0, note: n === 5 ? null : "none" };
      ids.push(await accept(targets[n % 2] ?? expect.fail(), json, `scan-${n}`));
    }
    const deliveries = new Deliveries(api.world);
    await deliveries.succeed(ids[0] ?? "");
    await deliveries.fail(ids[1] ?? "", 9, 0);
    await deliveries.fail(ids[1] ?? "", 9, 0);
    const theirs = await openIngest(other.owner.client, other.tenantId);
    await accept(theirs, { order: { name: "Order 1" } });
  });
  after(() => api.close());
  afterEach(() => expect(api.errors).to.deep.equal([]));

  async function accept(to: { path: string; apiKey: string }, json: object, key?: string): Promise<string> {
    engines.clock.advance(5);
    const keyed = key === undefined ? {} : { "x-idempotency-key": key };
    const answer = await http("POST", api.url + to.path, { json, headers: { "x-api-key": to.apiKey, ...keyed } });
    expect(answer.status, answer.text).to.equal(202);
    return String(answer.json["eventId"]);
  }
  const linesOf = (answer: HttpAnswer): Line[] => {
    expect(answer.status, answer.text).to.equal(200);
    expect(answer.headers.get("content-type")).to.match(/^application\/x-ndjson/);
    return answer.text.trimEnd().split("\n").map((line) => JSON.parse(line) as Line);
  };
  const scan = async (path: string, client: Client = one.viewer.client) => {
    const lines = linesOf(await client.get(`/api/v1/events/${path}`));
    const end = lines.pop() ?? expect.fail("no end");
    expect(end).to.have.property("end", true);
    return { items: lines.map(({ item }) => item ?? expect.fail("no item")), end };
  };
  const indexes = (items: readonly Readonly<Record<string, unknown>>[]) =>
    items.map(({ id }) => ids.indexOf(String(id)));
  const refused = async (path: string) => {
    const { status, text } = await one.viewer.client.get(`/api/v1/events/${path}`);
    return [status, text.split(":")[0]];
  };
  /** Resolves at the head of the answer; its body is read on demand. */
  const begin = async (path: string, client: Client, url = api.url): Promise<IncomingMessage> => {
    const headers = { authorization: `Bearer ${client.token ?? ""}` };
    const [answer] = (await once(get(`${url}/api/v1/events/${path}`, { agent: false, headers }), "response")) as
      [IncomingMessage];
    return answer;
  };

  describe("searches", () => {
    it("find events by their payloads' content, newest first, as summaries, under each filter", async () => {
      const [first, second] = targets;
      const table: [string, number[]][] = [
        ["Text=Order 1", [11, 10, 1]], ["Text=order 1", []],
        [`Text=${encodeURIComponent('"paid":false')}`, [11, 9, 7, 5, 3, 1]],
        ["Pointer=/order/id&Value=2", [11, 8, 5, 2]], ["Pointer=/order/name&Value=Order 7", [7]],
        ["Pointer=/note&Value=null", [5]], ["Pointer=/paid&Value=true", [10, 8, 6, 4, 2, 0]],
        ["Pointer=/order&Value=null", []], ["Pointer=/order/id&Value=0&Status=Succeeded", [0]],
        ["Text=Order&Status=Succeeded,WaitingRetry", [1, 0]],
        [`Text=Order 1&DestinationUrlId=${first?.destinationId ?? ""}`, [10]],
        [`Text=Order 1&DestinationUrlId=${second?.destinationId.toUpperCase() ?? ""}`, [11, 1]],
        ["Text=Order&To=2001-01-01", []],
      ];
      for (const [query, wanted] of table) {
        const { items, end } = await scan(`search?${query}`);
        expect(indexes(items), query).to.deep.equal(wanted);
        expect(end["nextCursor"], query).to.equal(null);
      }
      const { items: [found], end } = await scan("search?Text=Order 11");
      const { items: [listed] } = await one.viewer.client.api.listEvents({ View: "summary", Qt: 1 });
      expect(found).to.deep.equal(listed);
      const { acceptedAt } = await one.viewer.client.api.getEvent({ id: ids[0] ?? "" });
      expect(end).to.deep.equal({ end: true, scanned: 12, until: acceptedAt, nextCursor: null });
      expect((await scan("search?Text=Order&To=2001-01-01")).end)
        .to.deep.equal({ end: true, scanned: 0, until: null, nextCursor: null });
    });

    it("find texts as they decode, however a producer escaped them, and show the match", async () => {
      const { owner, tenantId } = await createTenant(api.url);
      const to = await openIngest(owner.client, tenantId);
      const escaped =
        '{"\\u006eame":"No\\u00ebl \\ud83d\\ude00","url":"http:\\/\\/a.example\\/?a=1\\u0026b=2","q":"\\"x\\""}';
      const plain = '{"name":"No\u00ebl \u{1f600}","url":"http://a.example/?a=1&b=2","q":"\\"x\\"","n":1.50}';
      for (const body of [escaped, plain]) {
        const headers = { "x-api-key": to.apiKey, "content-type": "application/json" };
        expect((await http("POST", api.url + to.path, { body, headers })).status).to.equal(202);
      }
      const matches = async (query: string) =>
        linesOf(await owner.client.get(`/api/v1/events/search?${query}`)).slice(0, -1).map(({ match }) => match);
      for (const text of ["No\u00ebl", "name", "\u{1f600}", "http://a.example/", "1&b", '"x"']) {
        const found = await matches(`Text=${encodeURIComponent(text)}`);
        expect(found, text).to.have.length(2);
        for (const match of found) expect(match).to.include(text);
      }
      expect(await matches("Text=u00eb")).to.deep.equal([]);
      expect(await matches("Text=1.50")).to.deep.equal(
        [`":"No\u00ebl \u{1f600}","url":"http://a.example/?a=1&b=2","q":""x"","n":1.50}`]);
      expect(await matches("Pointer=/n&Value=1.5")).to.deep.equal(["1.5"]);
    });

    it("end after 100 hits, and go on by their cursor", async function () {
      this.timeout(60_000);
      const { owner, tenantId } = await createTenant(api.url);
      const to = await openIngest(owner.client, tenantId);
      const made: string[] = [];
      for (let n = 0; n < 230; n += 1) made.push(await accept(to, { n, hit: n % 10 !== 0 }));
      const wanted = made.filter((_, n) => n % 10 !== 0).reverse();
      const found: string[] = [];
      const sizes: number[] = [];
      let cursor = "";
      do {
        const { items, end } = await scan(`search?Pointer=/hit&Value=true${cursor}`, owner.client);
        found.push(...items.map(({ id }) => String(id)));
        sizes.push(items.length);
        const next = end["nextCursor"] as string | null;
        cursor = next === null ? "" : `&Cursor=${next}`;
      } while (cursor !== "");
      expect(found).to.deep.equal(wanted);
      // A slow machine comes to the end of its five seconds before.
      expect(Math.max(...sizes)).to.be.at.most(100);
    });

    it("give 400 unless there is exactly one condition, and for cursors of others", async () => {
      const table: [string, string][] = [
        ["", "Text"], ["?From=2001-01-01", "Text"], ["?Text=", "Text"], ["?Text=a&Text=b", "Text"],
        ["?Text=a&Pointer=/a&Value=b", "Pointer"], ["?Text=a&Value=b", "Value"], ["?Pointer=/a", "Value"],
        ["?Value=a", "Pointer"], ["?Pointer=a&Value=b", "Pointer"], ["?Pointer=/a~2&Value=b", "Pointer"],
        ["?text=a", "text"], ["?Text=a&Status=Nope", "Status"], ["?Text=a&To=now", "To"],
        ["?Text=a&Cursor=x", "Cursor"],
        ["?Text=a&DestinationUrlId=x", "DestinationUrlId"],
      ];
      for (const [query, name] of table) expect(await refused(`search${query}`), query).to.deep.equal([400, name]);
      const { nextCursor } = await one.viewer.client.api.listEvents({ Qt: 1 });
      expect(await refused(`search?Text=a&Cursor=${nextCursor}`)).to.deep.equal([400, "Cursor"]);
    });

    it("are one of a session, whose next ends it, and two at once for a tenant", async () => {
      const readStream = engines.store.readStream.bind(engines.store);
      const gate = Promise.withResolvers<void>();
      engines.store.readStream = async (...asked) => {
        if (asked[1]?.beginsAt !== undefined) await gate.promise;
        return readStream(...asked);
      };
      const { client } = one.viewer;
      const older = await begin("search?Text=a", one.developer.client);
      const running = [await begin("search?Text=a", client), await begin("search?Text=b", one.developer.client)];
      expect([older, ...running].map(({ statusCode }) => statusCode)).to.deep.equal([200, 200, 200]);
      const third = await one.owner.client.get("/api/v1/events/search?Text=c");
      expect([third.status, third.text]).to.deep.equal([503, "2 searches are under way; try again when one is done"]);
      const theirs = await begin("search?Text=a", other.viewer.client);
      expect(theirs.statusCode).to.equal(200);
      theirs.resume();
      // Their reads are not answered yet: their places are free as soon as their clients have gone.
      for (const answer of running) answer.destroy();
      let status = 503;
      while (status === 503) {
        const next = await begin("search?Text=d", one.owner.client);
        status = next.statusCode ?? 0;
        next.destroy();
      }
      gate.resolve();
      engines.store.readStream = readStream;
      expect(status).to.equal(200);
      const lines = await older.setEncoding("utf8").toArray();
      expect(lines.join("")).to.equal("");
    });
  });

  describe("exports", () => {
    it("have every event that matches, in order of acceptance, as the list shows it", async () => {
      const { items: all } = await one.viewer.client.api.listEvents({ Qt: 100, TpOrd: "Asc" });
      const { items, end } = await scan("export");
      expect(items).to.deep.equal(all);
      expect(end).to.deep.equal({ end: true, count: 12, position: end["position"] });
      const [last] = (await one.viewer.client.api.listEventHistory({ id: ids.at(-1) ?? "" })).items;
      expect(String(end["position"]) >= (last?.position ?? expect.fail())).to.equal(true);
      const [first] = targets;
      for (const [query, wanted] of [
        ["Status=Succeeded,WaitingRetry", [0, 1]],
        [`DestinationUrlId=${first?.destinationId ?? ""}`, [0, 2, 4, 6, 8, 10]],
        ["IdempotencyKey=scan-7", [7]], ["IdempotencyKey=nobody", []], ["IdempotencyKey=scan-7&To=2001-01-01", []],
        [`From=${all[9]?.acceptedAt ?? ""}`, [9, 10, 11]], ["To=2001-01-01", []], ["OwnerId=nobody", []],
      ] as const) {
        const found = await scan(`export?${query}`);
        expect(indexes(found.items), query).to.deep.equal(wanted);
        expect(found.end["count"], query).to.equal(wanted.length);
      }
    });

    it("have attempts and histories where they are asked for", async () => {
      const { items } = await scan("export?Include=attempts,history");
      for (const { attempts, history, ...event } of items.slice(0, 3)) {
        const id = String(event["id"]);
        expect(attempts).to.deep.equal((await one.viewer.client.api.listAttempts({ id })).items);
        expect(history).to.deep.equal((await one.viewer.client.api.listEventHistory({ id, Qt: 100 })).items);
      }
      expect((await scan("export?Include=attempts&Status=Succeeded")).items[0]).to.have.property("attempts")
        .with.length(1);
      expect((await scan("export?Include=history&Status=Succeeded")).items[0]).not.to.have.property("attempts");
    });

    it("give 400 for parameters of pages, and for parts that cannot be included", async () => {
      for (const query of ["Qt=1", "Pg=1", "Cursor=a", "CpOrd=id", "TpOrd=Asc", "qt=1", "Include=", "Include=all",
        "Include=attempts,", "Status=Nope", "From=now", "include=history"]) {
        expect(await refused(`export?${query}`), query).to.deep.equal([400, query.split("=")[0]]);
      }
    });

    it("lack their last line where the log goes away in the middle", async () => {
      const readStream = engines.store.readStream.bind(engines.store);
      let reads = 0;
      engines.store.readStream = (...asked) => {
        reads += asked[1]?.beginsAt === undefined ? 0 : 1;
        return reads > 3 ? Promise.reject(new LogUnavailable("the log is away")) : readStream(...asked);
      };
      try {
        let text = "";
        const read = async () => {
          for await (const chunk of await begin("export", one.viewer.client)) text += String(chunk);
        };
        const error = await read().then(() => undefined, (reason: unknown) => reason);
        expect(error).to.be.instanceOf(Error);
        expect(text).not.to.include('"end"');
      } finally {
        engines.store.readStream = readStream;
      }
    });

    it("end as searches do, without their last line, when the process ends", async () => {
      const ending = await startApi(engines);
      const readStream = engines.store.readStream.bind(engines.store);
      const gate = Promise.withResolvers<void>();
      engines.store.readStream = async (...asked) => {
        if (asked[1]?.beginsAt !== undefined) await gate.promise;
        return readStream(...asked);
      };
      try {
        const paths = ["export", "export?Include=attempts", "search?Text=Order"];
        const answers = await Promise.all(paths.map((path) => begin(path, one.viewer.client, ending.url)));
        expect(answers.map(({ statusCode }) => statusCode)).to.deep.equal([200, 200, 200]);
        ending.endStreams();
        gate.resolve();
        for (const answer of answers) {
          let text = "";
          for await (const chunk of answer) text += String(chunk);
          expect(text).not.to.include('"end"');
        }
        const { text } = await new Client(ending.url, one.viewer.client.token).get("/api/v1/events/export");
        expect(text).to.equal("");
        expect(ending.errors).to.deep.equal([]);
      } finally {
        engines.store.readStream = readStream;
        await ending.close();
      }
    });

    it("are read only as fast as their clients take them, in flat memory, and stop when these go", async function () {
      this.timeout(300_000);
      const { owner, tenantId } = await createTenant(api.url);
      const to = await openIngest(owner.client, tenantId);
      const events = sized(300, 3_000);
      for (let n = 0; n < events; n += 1) await accept(to, { n, text: "x".repeat(60_000) });
      await owner.client.get("/api/v1/events?Qt=1");
      const readStream = engines.store.readStream.bind(engines.store);
      let reads = 0;
      engines.store.readStream = (...asked) => {
        reads += 1;
        return readStream(...asked);
      };
      const exporting = api.services.queries.export;
      const begun = exporting.export.bind(exporting);
      const over = Promise.withResolvers<void>();
      exporting.export = async (...asked) => ending(await begun(...asked), over.resolve);
      try {
        const left = await begin("export", owner.client);
        const [some] = (await once(left, "data")) as [Buffer];
        expect(some.length).to.be.greaterThan(0);
        left.pause();
        expect(reads).to.be.below(events);
        left.destroy();
        await over.promise;
        expect(reads, "after the client went").to.be.below(events);
        const whole = await scan("export", owner.client);
        expect(whole.end["count"]).to.equal(events);
      } finally {
        engines.store.readStream = readStream;
        Reflect.deleteProperty(exporting, "export");
      }
    });
  });
});

/** The same parts; `ended` is called when they have come to their end, or nobody wants more of them. */
async function* ending<Part>(parts: AsyncIterable<Part>, ended: () => void): AsyncGenerator<Part, void> {
  try {
    yield* parts;
  } finally {
    ended();
  }
}
