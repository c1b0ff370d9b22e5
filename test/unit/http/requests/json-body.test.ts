import { once } from "node:events";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import { connect, type AddressInfo } from "node:net";
import { expect } from "chai";
import Koa from "koa";
import { jsonObjectReader } from "../../../../src/http/requests/json-body.ts";
import { Refusal } from "../../../../src/kernel/domain/refusal.ts";
import { heldBytes } from "../../../support/heap.ts";

const held = async () => undefined;
const contextOf = (request: IncomingMessage, response: ServerResponse) => new Koa().createContext(request, response);
const turn = () => new Promise((resolve) => setImmediate(resolve));

describe("reading a body", () => {
  let server: Server;
  beforeEach(async () => {
    server = createServer().listen(0, "127.0.0.1");
    await once(server, "listening");
  });
  afterEach(() => server.close());

  it("fails where the client has gone before the read began, even if the body is complete", async () => {
    const socket = connect((server.address() as AddressInfo).port, "127.0.0.1");
    socket.write("POST / HTTP/1.1\r\nHost: relay\r\nContent-Type: application/json\r\nContent-Length: 2\r\n\r\n{}");
    const [request, response] = (await once(server, "request")) as [IncomingMessage, ServerResponse];
    while (!request.complete) await turn();
    socket.destroy();
    await new Promise((resolve) => request.once("close", resolve));
    const reading = jsonObjectReader(100)(contextOf(request, response), held).catch((error: unknown) => error);
    expect(await Promise.race([reading, turn()])).to.be.instanceOf(Refusal).with.property("kind", "invalid");
  });

  it("takes little more memory than the body's size, even in very small pieces", async () => {
    const text = JSON.stringify({ text: "a".repeat(100_000) });
    const before = heldBytes();
    const socket = connect((server.address() as AddressInfo).port, "127.0.0.1");
    socket.write("POST / HTTP/1.1\r\nHost: relay\r\nContent-Type: application/json\r\n");
    socket.write("Transfer-Encoding: chunked\r\n\r\n");
    const [request, response] = (await once(server, "request")) as [IncomingMessage, ServerResponse];
    const context = contextOf(request, response);
    const reading = jsonObjectReader(2 * text.length)(context, held);
    let received = 0;
    request.on("data", (chunk: Buffer) => (received += chunk.length));
    socket.write([...text].map((byte) => `1\r\n${byte}\r\n`).join(""));
    while (received < text.length) await turn();
    expect(heldBytes() - before).to.be.below(5_000_000);
    socket.end("0\r\n\r\n");
    expect((await reading).text).to.equal(text);
    expect(context.request.body, "as koa-body read it").to.equal(text);
  });
});
