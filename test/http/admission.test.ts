import { connect } from "node:net";
import { expect } from "chai";
import { streams } from "../../src/kernel/domain/streams.ts";
import { openAccount, openIngest, type Account } from "../support/accounts.ts";
import { startApi, type TestApi } from "../support/api.ts";
import { inMemoryEngines, type InMemoryEngines } from "../support/api-engines.ts";
import { http } from "../support/http.ts";

/** Places that a caller alone has for large reads. */
const ofCaller = 4;

describe("the admission of requests", () => {
  let engines: InMemoryEngines;
  let api: TestApi;
  let one: Account;
  /** Events, of which the first is not read until the gate opens. */
  let ids: string[];
  let gate: PromiseWithResolvers<void>;
  /** How often each event's stream was read. */
  let reads: Map<string, number>;
  before(async () => {
    engines = await inMemoryEngines();
    api = await startApi(engines);
    one = await openAccount(api.url);
    const { path, apiKey } = await openIngest(one.owner.client, one.tenantId);
    ids = [];
    for (let n = 0; n < 3; n += 1) {
      const { json } = await http("POST", api.url + path, { json: { n }, headers: { "x-api-key": apiKey } });
      ids.push(String(json["eventId"]));
    }
    const readStream = engines.store.readStream.bind(engines.store);
    engines.store.readStream = async (stream, ...asked) => {
      const id = ids.find((each) => stream === streams.event(each));
      if (id !== undefined) reads.set(id, (reads.get(id) ?? 0) + 1);
      if (id === ids[0]) await gate.promise;
      return readStream(stream, ...asked);
    };
  });
  beforeEach(() => {
    gate = Promise.withResolvers();
    reads = new Map();
  });
  after(async () => {
    await api.close();
    await engines.close();
  });
  afterEach(() => expect(api.errors).to.deep.equal([]));

  const story = (of: number, client = one.viewer.client) => client.get(`/api/v1/events/${ids[of]}/story`);
  const headOf = (of: number) =>
    `GET /api/v1/events/${ids[of]}/story HTTP/1.1\r\nHost: relay\r\n` +
    `Authorization: Bearer ${one.viewer.client.token}\r\n\r\n`;
  const until = async (isMet: () => boolean) => {
    while (!isMet()) await new Promise((resolve) => setImmediate(resolve));
  };
  /** As many large reads of the viewer as it has places, which take until the gate opens. */
  const placesTaken = async () => {
    const running = Array.from({ length: ofCaller }, () => story(0));
    await until(() => reads.get(ids[0]!) === ofCaller);
    return running;
  };
  const statuses = async (answers: readonly Promise<{ readonly status: number }>[]) =>
    (await Promise.all(answers)).map(({ status }) => status);

  it("lets a caller have four large reads at once; plain requests and other callers do not wait for them", async () => {
    const running = await placesTaken();
    const fifth = story(1);
    expect(await statuses([
      one.viewer.client.get("/api/v1/me"), one.viewer.client.get("/api/v1/destinations"),
      story(1, one.developer.client), http("GET", `${api.url}/healthz`),
    ])).to.deep.equal([200, 200, 200, 200]);
    expect(reads.get(ids[0]!)).to.equal(ofCaller);
    gate.resolve();
    expect(await statuses([...running, fifth])).to.deep.equal([200, 200, 200, 200, 200]);
  });

  for (const [how, go] of [["closes", "destroy"], ["sends no more", "end"]] as const) {
    it(`drops a read whose caller ${how} while it waits, without any work`, async () => {
      const running = await placesTaken();
      const socket = connect(Number(new URL(api.url).port), "127.0.0.1");
      const closed = new Promise((resolve) => socket.once("close", resolve).resume());
      socket.write(headOf(2));
      await one.viewer.client.get("/api/v1/me");
      socket[go]();
      await closed;
      // The relay has seen the end of the connection once it answers a later request.
      await one.viewer.client.get("/api/v1/me");
      const next = story(1);
      gate.resolve();
      expect(await statuses([...running, next])).to.deep.equal([200, 200, 200, 200, 200]);
      expect(reads.get(ids[2]!)).to.equal(undefined);
    });
  }

  it("drops reads whose callers close at once, without any work", async () => {
    await Promise.all(Array.from({ length: 20 }, () => new Promise((resolve) => {
      const socket = connect(Number(new URL(api.url).port), "127.0.0.1");
      socket.once("close", resolve).resume().end(headOf(2));
    })));
    expect(reads.get(ids[2]!)).to.equal(undefined);
  });
});
