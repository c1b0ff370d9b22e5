import { once } from "node:events";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import { connect, type AddressInfo } from "node:net";
import { expect } from "chai";
import { Refusal } from "../../../src/domain/refusal.ts";
import { readJsonObject } from "../../../src/http/body.ts";

const turn = () => new Promise((resolve) => setImmediate(resolve));

describe("reading a body", () => {
  let server: Server;
  beforeEach(async () => {
    server = createServer().listen(0, "127.0.0.1");
    await once(server, "listening");
  });
  afterEach(() => server.close());

  it("ends where the client has gone before anybody read, though all of it had come", async () => {
    const socket = connect((server.address() as AddressInfo).port, "127.0.0.1");
    socket.write("POST / HTTP/1.1\r\nHost: relay\r\nContent-Type: application/json\r\nContent-Length: 2\r\n\r\n{}");
    const [request, response] = (await once(server, "request")) as [IncomingMessage, ServerResponse];
    while (!request.complete) await turn();
    socket.destroy();
    await new Promise((resolve) => request.once("close", resolve));
    const reading = readJsonObject(request, response, 100).catch((error: unknown) => error);
    expect(await Promise.race([reading, turn()])).to.be.instanceOf(Refusal).with.property("kind", "invalid");
  });
});
