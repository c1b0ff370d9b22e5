import { once } from "node:events";
import { get, type IncomingMessage } from "node:http";
import type { Socket } from "node:net";
import { text } from "node:stream/consumers";
import { expect } from "chai";
import { LogUnavailable } from "../../src/kernel/ports/event-store.ts";
import { openAccount, openIngest, type Account } from "../support/accounts.ts";
import { startApi, type TestApi } from "../support/api.ts";
import { inMemoryEngines, type InMemoryEngines } from "../support/api-engines.ts";
import { http } from "../support/http.ts";

const events = 100;
const characters = 200_000;

describe("a page of large events", function () {
  this.timeout(30_000);
  let engines: InMemoryEngines;
  let api: TestApi;
  let account: Account;
  let reads: number;
  /** The number of payloads that can be read before the log becomes unavailable. */
  let readable: number;

  before(async () => {
    engines = await inMemoryEngines();
    api = await startApi(engines);
    account = await openAccount(api.url);
    const { path, apiKey } = await openIngest(account.owner.client, account.tenantId);
    for (let n = 0; n < events; n += 1) {
      const json = { n, text: "x".repeat(characters) };
      expect((await http("POST", api.url + path, { json, headers: { "x-api-key": apiKey } })).status).to.equal(202);
    }
    await account.viewer.client.get("/api/v1/events?Qt=1");
    const { store } = engines;
    const readStream = store.readStream.bind(store);
    store.readStream = (...read) => {
      reads += 1;
      if (reads > readable) return Promise.reject(new LogUnavailable("the log is away"));
      return readStream(...read);
    };
  });
  after(async () => {
    await api.close();
    await engines.close();
  });
  beforeEach(() => {
    reads = 0;
    readable = Infinity;
  });

  /** Resolves at the head of the answer; its body is read on demand. */
  async function ask(): Promise<IncomingMessage> {
    const { token } = account.viewer.client;
    const request = get(`${api.url}/api/v1/events?Qt=100`, {
      agent: false, headers: { authorization: `Bearer ${token}` },
    });
    const [answer] = (await once(request, "response")) as [IncomingMessage];
    return answer;
  }

  it("reads payloads from the log only as fast as the client reads the answer", async () => {
    const answer = await ask();
    expect(answer.statusCode).to.equal(200);
    expect(answer.headers["content-type"]).to.equal("application/json; charset=utf-8");
    expect(reads).to.be.below(events);
    const { total, items } = JSON.parse(await text(answer)) as { total: number; items: { payload: string }[] };
    expect(total).to.equal(events);
    const numbers = items.map(({ payload }) => (JSON.parse(payload) as { n: number }).n);
    expect(numbers).to.deep.equal(Array.from({ length: events }, (_, n) => events - 1 - n));
    // The first payload was read twice: its size was unknown before.
    expect(reads).to.equal(events + 1);
  });

  it("stops when the client disconnects", async () => {
    const connecting = once(api.server, "connection");
    const answer = await ask();
    const [accepted] = (await connecting) as [Socket];
    const closed = new Promise((resolve) => accepted.once("close", resolve));
    answer.destroy();
    await closed;
    expect(reads).to.be.below(events);
  });

  it("breaks off if the log becomes unavailable in the middle", async () => {
    readable = events / 2;
    const broken = await text(await ask()).catch((error: Error) => error.message);
    expect(broken).to.equal("aborted");
  });

  it("is refused if the log is unavailable at its start", async () => {
    readable = 1;
    expect((await ask()).resume().statusCode).to.equal(503);
  });
});
