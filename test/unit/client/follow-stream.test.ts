import { once } from "node:events";
import { createServer, type RequestListener, type Server } from "node:http";
import { connect, createServer as createTcpServer, type AddressInfo, type Socket } from "node:net";
import { expect } from "chai";
import { RelayError } from "../../../packages/client/src/index.ts";
import { operations } from "../../../packages/client/src/operations.ts";
import { followed, type StreamFrame } from "../../../packages/client/src/stream.ts";
import { openAccount, openIngest, type Account } from "../../support/accounts.ts";
import { startApi, type TestApi } from "../../support/api.ts";
import { inMemoryEngines, type InMemoryEngines } from "../../support/api-engines.ts";
import { attemptEnded, tellCircuit } from "../../support/circuits.ts";
import { EventStream, type Frame } from "../../support/event-stream.ts";
import { http } from "../../support/http.ts";
import { sized } from "../../support/size.ts";

describe("a client that follows the stream", () => {
  let engines: InMemoryEngines;
  let api: TestApi;
  let one: Account;
  let ingest: Awaited<ReturnType<typeof openIngest>>;
  let pauses: number[];
  before(async () => {
    engines = await inMemoryEngines();
    api = await startApi(engines);
    one = await openAccount(api.url);
    ingest = await openIngest(one.owner.client, one.tenantId);
  });
  beforeEach(() => {
    pauses = [];
  });
  afterEach(() => expect(api.errors).to.deep.equal([]));
  after(async () => {
    await api.close();
    await engines.close();
  });

  /** Follows without waiting between the breaks. */
  const follow = (
    url: string, token: string, options: { signal?: AbortSignal; headers?: Readonly<Record<string, string>> } = {},
  ) => {
    const call = { id: "followStream", operation: operations.followStream, parameters: {}, options };
    return followed({ url, token }, call, async (ms) => void pauses.push(ms));
  };
  const accept = async () => {
    const { path, apiKey } = ingest;
    const { json } = await http("POST", api.url + path, { json: {}, headers: { "x-api-key": apiKey } });
    return json["eventId"];
  };

  describe("of a relay", () => {
    let proxy: ReturnType<typeof createTcpServer>;
    let url: string;
    let sockets: Socket[];
    before(async () => {
      sockets = [];
      proxy = createTcpServer((socket) => {
        const relay = connect(Number(new URL(api.url).port), "127.0.0.1");
        for (const [from, to] of [[socket, relay], [relay, socket]] as const) {
          from.on("error", () => undefined).on("close", () => to.destroy()).pipe(to);
        }
        sockets.push(socket);
      });
      proxy.listen(0, "127.0.0.1");
      await once(proxy, "listening");
      url = `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`;
    });
    after(() => {
      proxy.close();
      for (const socket of sockets) socket.destroy();
    });

    it("has each frame once though its connection is lost, and ends with its session", async () => {
      const headers = { "last-event-id": await engines.store.head() };
      const frames = follow(url, one.viewer.client.token ?? "", { headers });
      const eventIds = async (count: number) => {
        const ids: unknown[] = [];
        while (ids.length < count) {
          const { data } = (await frames.next()).value as StreamFrame;
          ids.push("eventId" in data && data.eventId);
        }
        return ids;
      };
      for (let round = 0; round < 5; round += 1) {
        const posted = [await accept(), await accept()];
        expect(await eventIds(2)).to.deep.equal(posted);
        for (const socket of sockets.splice(0)) socket.destroy();
        const missed = await accept();
        expect(await eventIds(1)).to.deep.equal([missed]);
      }
      expect(pauses).to.deep.equal(Array.from({ length: 5 }, () => 1_000));
      await one.viewer.client.post("/api/v1/auth/logout");
      expect((await frames.next()).value)
        .to.deep.equal({ event: "end", data: { reason: "session over" }, id: null });
      const error = await frames.next().then(() => null, (reason: unknown) => reason);
      expect(error).to.be.instanceOf(RelayError).with.property("status", 401);
      expect((await frames.next()).done).to.equal(true);
    });
  });

  describe("of a server that breaks off", () => {
    let server: Server;
    let url: string;
    let answer: RequestListener;
    let lastIds: unknown[];
    before(async () => {
      server = createServer((request, response) => {
        lastIds.push(request.headers["last-event-id"]);
        answer(request, response);
      });
      server.listen(0, "127.0.0.1");
      await once(server, "listening");
      url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    });
    beforeEach(() => {
      lastIds = [];
    });
    after(() => server.close());

    const signedOut: RequestListener = (_request, response) =>
      void response.writeHead(401, { "content-type": "text/plain" }).end("the session is over");
    const all = async (frames: AsyncIterable<StreamFrame>) => {
      const seen: StreamFrame[] = [];
      const read = async () => {
        for await (const frame of frames) seen.push(frame);
      };
      const error = await read().then(() => null, (reason: unknown) => reason);
      return { seen, error };
    };

    it("has each frame once, wherever the relay's text is cut", async function () {
      this.timeout(sized(60_000, 600_000));
      const { text, frames } = await recorded();
      expect(frames.some(({ event, id }) => event === "circuit" && id === null), "an entry with two").to.equal(true);
      const blockEnd = (id: string) => text.indexOf(`\nid: ${id}\n\n`) + `\nid: ${id}\n\n`.length;
      for (let at = 0; at <= text.length; at += sized(7, 1)) {
        const cuts = [at, text.length];
        answer = (request, response) => {
          const cut = cuts.shift();
          if (cut === undefined) return signedOut(request, response);
          const lastId = request.headers["last-event-id"];
          const rest = text.slice(lastId === undefined ? 0 : blockEnd(String(lastId)), cut);
          response.writeHead(200, { "content-type": "text/event-stream" });
          response.write(rest || ":\n\n", () => request.socket.destroy());
        };
        const { seen, error } = await all(follow(url, "a-token"));
        expect(error, `cut at ${at}`).to.be.instanceOf(RelayError).with.property("status", 401);
        expect(seen, `cut at ${at}`).to.deep.equal(frames);
      }
    });

    it("gives notices at once, and goes on where the relay says that it cannot resume", async () => {
      const text = 'event: gone\ndata: {"head":"9"}\nid: 9\n\nevent: lagged\ndata: {"dropped":3,"until":"t"}\n\n';
      const cuts = [text];
      answer = (request, response) => {
        const part = cuts.shift();
        if (part === undefined) return signedOut(request, response);
        response.writeHead(200, { "content-type": "text/event-stream" }).end(part);
      };
      const { seen } = await all(follow(url, "a-token", { headers: { "last-event-id": "1" } }));
      expect(seen.map(({ event }) => event)).to.deep.equal(["gone", "lagged"]);
      expect(lastIds).to.deep.equal(["1", "9"]);
    });

    it("waits longer after each failure, up to 30 s, and as briefly as at first once it was connected", async () => {
      const failing: RequestListener = (request) => void request.socket.destroy();
      const unavailable: RequestListener = (_request, response) => void response.writeHead(503).end();
      const connected: RequestListener = (_request, response) => void response.writeHead(200).end(":\nid: 5\n\n");
      const answers = [failing, unavailable, failing, failing, unavailable, failing, failing, connected, failing];
      answer = (request, response) => (answers.shift() ?? signedOut)(request, response);
      expect((await all(follow(url, "a-token"))).error).to.have.property("status", 401);
      expect(pauses).to.deep.equal([1, 2, 4, 8, 16, 30, 30, 1, 2].map((seconds) => seconds * 1_000));
    });

    it("stops by its signal, with its reason", async () => {
      const stop = new AbortController();
      answer = (_request, response) => void response.writeHead(200).write(":\nid: 5\n\n", () =>
        stop.abort(new Error("no longer wanted")));
      const { error } = await all(follow(url, "a-token", { signal: stop.signal }));
      expect(error).to.have.property("message", "no longer wanted");
      expect(pauses).to.deep.equal([]);
    });
  });

  /** The text of a stream of the relay, and its frames; one entry has two of them. */
  async function recorded() {
    const { client } = one.owner;
    const headers = { authorization: `Bearer ${client.token}`, "last-event-id": await engines.store.head() };
    const eventId = await accept();
    const circuit = { destinationId: ingest.destinationId, tenantId: one.tenantId };
    await tellCircuit(api.world, circuit, attemptEnded(String(eventId), false));
    await client.patch(`/api/v1/destinations/${ingest.destinationId}`, { status: "active" });
    const last = await accept();
    const isWhole = (frames: readonly Frame[]) => frames.some(({ data }) => data["eventId"] === last);
    const stream = await EventStream.open(`${api.url}/api/v1/stream`, headers);
    const frames = [...(await stream.until(isWhole))];
    await stream.close();
    return { text: frames.map(textOf).join(""), frames };
  }
});

function textOf({ event, data, id }: Frame): string {
  return `event: ${event}\ndata: ${JSON.stringify(data)}\n${id === null ? "" : `id: ${id}\n`}\n`;
}
