import { once } from "node:events";
import { createServer, get, type IncomingMessage, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { pipeline } from "node:stream";
import { text } from "node:stream/consumers";
import { expect } from "chai";
import { streamBody } from "../../../../src/http/answers/answer.ts";

const large = "x".repeat(60_000);

describe("a streamed answer", () => {
  let server: Server;
  let events: string[];
  let held: number;
  let read: number;
  beforeEach(() => {
    events = [];
    held = 0;
    read = 0;
  });
  afterEach(() => {
    server.closeAllConnections();
    server.close();
  });

  const memory = {
    hold: async (bytes: number) => {
      held = bytes;
      events.push(`held ${bytes}`);
    },
    release: () => {
      held = 0;
    },
  };

  async function* counted(texts: Iterable<string>): AsyncGenerator<string, void> {
    try {
      for (const one of texts) {
        read += 1;
        yield one;
      }
    } finally {
      events.push("returned");
    }
  }

  /** Asks a server whose answer is the texts. Resolves at the head of the answer. */
  async function ask(texts: AsyncIterable<string>): Promise<IncomingMessage> {
    server = createServer((_request, response) => {
      response.flushHeaders();
      pipeline(streamBody(texts, memory, (error) => events.push((error as Error).message)), response, () => {
        events.push("over");
      });
    }).listen(0, "127.0.0.1");
    await once(server, "listening");
    const request = get({ port: (server.address() as AddressInfo).port, host: "127.0.0.1", agent: false });
    const [answer] = (await once(request, "response")) as [IncomingMessage];
    return answer;
  }
  const until = async (condition: () => boolean) => {
    while (!condition()) await new Promise((resolve) => setImmediate(resolve));
  };

  it("begins before its first text is there, and has all of them in order", async () => {
    const first = Promise.withResolvers<void>();
    const texts = async function* () {
      await first.promise;
      yield "one ";
      yield large;
      yield " two";
    };
    const answer = await ask(texts());
    first.resolve();
    expect(await text(answer)).to.equal(`one ${large} two`);
    await until(() => events.includes("over"));
    expect([events[0], held]).to.deep.equal([`held ${large.length}`, 0]);
  });

  it("asks for a text only once the client takes those before, and holds memory for the one at hand", async () => {
    const texts = Array<string>(600).fill(large);
    const answer = await ask(counted(texts));
    await until(() => held > 0 && read > 3);
    expect(read).to.be.below(texts.length / 2);
    expect((await text(answer)).length).to.equal(texts.length * large.length);
    expect(read).to.equal(texts.length);
    expect(events.filter((one) => one.startsWith("held"))).to.have.length(texts.length);
  });

  it("ends its texts when the client goes", async () => {
    const answer = await ask(counted(Array<string>(600).fill(large)));
    answer.destroy();
    await until(() => events.includes("returned"));
    expect(read).to.be.below(600);
  });

  it("breaks the connection off where a text fails, and tells of the error", async () => {
    const texts = async function* () {
      yield "one";
      throw new Error("the log is away");
    };
    const broken = await text(await ask(texts())).catch((error: Error) => error.message);
    expect(broken).to.equal("aborted");
    expect(events).to.include("the log is away");
  });
});
