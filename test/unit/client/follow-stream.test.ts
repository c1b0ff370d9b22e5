import { once } from "node:events";
import { createServer, type RequestListener, type Server } from "node:http";
import { connect, createServer as createTcpServer, type AddressInfo, type Socket } from "node:net";
import { expect } from "chai";
import { RelayError } from "../../../packages/client/src/index.ts";
import { operations } from "../../../packages/client/src/operations.ts";
import { followed, silenceMs, type StreamConnection, type StreamFrame } from "../../../packages/client/src/stream.ts";
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
  /** The client's reports on its connection, such as `live` or `2 failures: 503`. */
  let told: string[];
  /** Lets the silence end that the client watches now. */
  let fallSilent: () => void;
  before(async () => {
    engines = await inMemoryEngines();
    api = await startApi(engines);
    one = await openAccount(api.url);
    ingest = await openIngest(one.owner.client, one.tenantId);
  });
  beforeEach(() => {
    [pauses, told] = [[], []];
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
    const onConnection = (connection: StreamConnection) => void told.push(connection.isLive
      ? "live" : `${connection.failures} failures: ${connection.error?.status ?? "ended"}`);
    const call = {
      id: "followStream", operation: operations.followStream, parameters: {}, options: { ...options, onConnection },
    };
    return followed({ url, token }, call, (ms, act) => {
      if (ms === silenceMs) fallSilent = act;
      else {
        pauses.push(ms);
        queueMicrotask(act);
      }
      return () => undefined;
    });
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

    const stream = { "content-type": "text/event-stream" };
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
          response.writeHead(200, stream);
          // A broken connection loses the bytes that its client has not read yet: the last one ends.
          if (cut === text.length) response.end(rest || ":\n\n");
          else response.write(rest || ":\n\n", () => request.socket.destroy());
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
        response.writeHead(200, stream).end(part);
      };
      const { seen } = await all(follow(url, "a-token", { headers: { "last-event-id": "1" } }));
      expect(seen.map(({ event }) => event)).to.deep.equal(["gone", "lagged"]);
      expect(lastIds).to.deep.equal(["1", "9"]);
    });

    const answersInTurn = (answers: RequestListener[]) => {
      answer = (request, response) => (answers.shift() ?? signedOut)(request, response);
    };
    const failing: RequestListener = (request) => void request.socket.destroy();
    const refuses = (status: number): RequestListener => (_request, response) =>
      void response.writeHead(status, { "content-type": "text/plain" }).end("no");
    const connected: RequestListener = (_request, response) => void response.writeHead(200, stream).end(":\nid: 5\n\n");

    it("waits longer after each failure, up to 30 s, and as briefly as at first once it was connected", async () => {
      answersInTurn([failing, refuses(503), failing, failing, refuses(503), failing, failing, connected, failing]);
      expect((await all(follow(url, "a-token"))).error).to.have.property("status", 401);
      expect(pauses).to.deep.equal([1, 2, 4, 8, 16, 30, 30, 1, 2].map((seconds) => seconds * 1_000));
    });

    it("tries again after any answer but a 401, and after text that is no stream", async () => {
      const others: readonly RequestListener[] = [
        (_request, response) => void response.writeHead(200, { "content-type": "text/html" }).end("<p>\n\n</p>"),
        (_request, response) => void response.writeHead(204).end(),
        (_request, response) => void response.writeHead(302, { location: "/elsewhere" }).end(),
        (_request, response) => void response.writeHead(200, stream).end("event: moved\ndata: {\n\n"),
      ];
      const statuses = [400, 402, 403, 404, 408, 413, 429, 431, 500, 501, 502, 503, 504, 520, 521, 522, 523, 524, 530];
      for (const other of [...statuses.map(refuses), ...others]) {
        answersInTurn([other, other]);
        expect((await all(follow(url, "a-token"))).error).to.have.property("status", 401);
        expect(pauses.splice(0)).to.deep.equal([1_000, 2_000]);
      }
    });

    it("waits 30 s where a newer stream of the caller has taken its place", async () => {
      const displaced: RequestListener = (_request, response) =>
        void response.writeHead(200, stream).end('event: end\ndata: {"reason":"displaced"}\n\n');
      answersInTurn([displaced, connected]);
      await all(follow(url, "a-token"));
      expect(pauses).to.deep.equal([30_000, 1_000]);
    });

    it("hears that its connection is live, that it is lost and how often it could not connect again", async () => {
      answersInTurn([refuses(503), connected, failing, refuses(404), connected]);
      await all(follow(url, "a-token"));
      expect(told).to.deep.equal([
        "0 failures: 503", "live", "0 failures: ended", "1 failures: 0", "2 failures: 404", "live", "0 failures: ended",
      ]);
    });

    it("counts a connection as lost that is silent for 45 s, before its head or behind it", async () => {
      const silent: RequestListener = () => fallSilent();
      const silentLater: RequestListener = (_request, response) => {
        response.writeHead(200, stream).write(":\nid: 5\n\n");
      };
      answersInTurn([silent, silentLater]);
      const frames = follow(url, "a-token");
      const ended = frames.next().catch((error: unknown) => error);
      while (!told.includes("live")) await new Promise(setImmediate);
      fallSilent();
      expect(await ended).to.have.property("status", 401);
      expect(silenceMs).to.equal(45_000);
      expect(told).to.deep.equal(["0 failures: 0", "live", "0 failures: 0"]);
      expect(lastIds).to.deep.equal([undefined, undefined, "5"]);
    });

    it("goes on from the end of another log, and says so, where the relay does not know its place", async () => {
      const refusesPlace: RequestListener = (_request, response) =>
        void response.writeHead(400, { "content-type": "text/plain" })
          .end("Last-Event-ID: must be the id of a frame of this stream");
      answersInTurn([refusesPlace, connected, connected]);
      const { seen } = await all(follow(url, "a-token", { headers: { "last-event-id": "elsewhere" } }));
      expect(seen).to.deep.equal([{ event: "gone", data: { head: "5" }, id: "5" }]);
      expect(lastIds).to.deep.equal(["elsewhere", undefined, "5", "5"]);
    });

    it("rejects with an error of its own token function, and does not try again", async () => {
      const failed = new Error("no token");
      const call = { id: "followStream", operation: operations.followStream, parameters: {}, options: {} };
      const token = async () => Promise.reject(failed);
      expect((await all(followed({ url, token }, call))).error).to.equal(failed);
      expect(lastIds).to.deep.equal([]);
    });

    it("stops by its signal, with its reason", async () => {
      const stop = new AbortController();
      answer = (_request, response) => void response.writeHead(200, stream).write(":\nid: 5\n\n", () =>
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
