import { once } from "node:events";
import type { Server } from "node:http";
import { connect, type Socket } from "node:net";
import { text } from "node:stream/consumers";
import { expect } from "chai";
import { SystemIds } from "../../../src/engines/system/system-ids.ts";
import { createHttpServer } from "../../../src/http/server.ts";
import { Listener } from "../../../src/main/listener.ts";
import { ManualClock } from "../../support/manual-clock.ts";

/** Longer than a test may take, so that a close that waits for it fails the test. */
const patienceMs = 600_000;

describe("a listener that closes", () => {
  let listener: Listener;
  let port: number;
  let server: Server;

  beforeEach(async () => {
    const parts = { ids: new SystemIds(), clock: new ManualClock() };
    server = createHttpServer((_request, response) => void response.end("served"), parts);
    listener = new Listener(server);
    port = Number(new URL(await listener.listen("127.0.0.1", 0)).port);
  });

  async function client(): Promise<Socket> {
    const socket = connect(port, "127.0.0.1").on("error", () => undefined);
    await once(server, "connection");
    return socket;
  }

  it("ends a connection that has brought nothing", async () => {
    const socket = await client();
    const ended = once(socket.resume(), "close");
    await listener.close(patienceMs);
    await ended;
  });

  it("lets a request that has begun finish", async () => {
    const [begun, silent] = [await client(), await client()];
    begun.write("GET / HTTP/1.1\r\nHost: relay\r\n");
    const ended = once(silent.resume(), "close");
    const closed = listener.close(patienceMs);
    await ended;
    begun.write("\r\n");
    expect(await text(begun)).to.match(/^HTTP\/1\.1 200 [^]*served/);
    await closed;
  });
});
