import type { ServerResponse } from "node:http";
import type { Socket } from "node:net";
import { setImmediate as turn } from "node:timers/promises";
import { expect } from "chai";
import { SystemIds } from "../../../src/engines/system/system-ids.ts";
import { createHttpServer } from "../../../src/http/server.ts";
import { ManualClock } from "../../support/manual-clock.ts";
import { WrittenRequests } from "../../support/written-requests.ts";

/** Node's own limit is as long, but every byte restarts it. */
const idleMs = 66_000;

describe("a connection to Node's HTTP server that is idle after an answer", () => {
  let clock: ManualClock;
  let requests: WrittenRequests;
  let pending: ServerResponse[];
  beforeEach(async () => {
    clock = new ManualClock();
    pending = [];
    requests = await WrittenRequests.to((patience) => createHttpServer((request, response) => {
      if (request.url === "/later") pending.push(response);
      else response.end("answered");
    }, { ids: new SystemIds(), clock }, { patience }));
  });
  afterEach(() => requests.close());

  const asked = (path: string) => `GET ${path} HTTP/1.1\r\nHost: relay\r\n\r\n`;
  const opened = async () => {
    const connection = await requests.opened();
    const answers = (count: number) => connection.until((received) => received.split("answered").length > count);
    return { ...connection, answers };
  };
  const written = async ({ socket, accepted }: { socket: Socket; accepted: Socket }, piece: string) => {
    const before = accepted.bytesRead;
    socket.write(piece);
    while (accepted.bytesRead < before + piece.length) await turn();
  };

  const trickles = [["empty lines", "\r\n"], ["lone line feeds", "\n"], ["a head bit by bit", "G"]] as const;
  for (const [what, piece] of trickles) {
    it(`is ended in time even if it brings ${what}`, async () => {
      const connection = await opened();
      connection.socket.write(asked("/"));
      await connection.answers(1);
      await written(connection, piece);
      clock.advance(idleMs - 1);
      if (piece !== "G") await written(connection, piece);
      expect(connection.accepted.destroyed).to.equal(false);
      clock.advance(1);
      await connection.ended();
      expect(connection.accepted.destroyed).to.equal(true);
    });
  }

  it("has the full time again after the next answer", async () => {
    const connection = await opened();
    for (const count of [1, 2, 3]) {
      connection.socket.write(asked("/"));
      await connection.answers(count);
      clock.advance(idleMs - 1);
    }
    expect(connection.accepted.destroyed).to.equal(false);
    clock.advance(1);
    await connection.ended();
  });

  it("does not count as idle before its request is answered", async () => {
    const connection = await opened();
    connection.socket.write(asked("/") + asked("/later"));
    await connection.answers(1);
    while (pending.length === 0) await turn();
    clock.advance(2 * idleMs);
    pending[0]?.end("answered");
    await connection.answers(2);
    expect(connection.accepted.destroyed).to.equal(false);
    clock.advance(idleMs);
    await connection.ended();
  });

  it("leaves no timer behind when it closes", async () => {
    const connection = await opened();
    connection.socket.write(asked("/"));
    await connection.answers(1);
    expect(clock.pending).to.have.length(1);
    connection.socket.destroy();
    while (clock.pending.length > 0) await turn();
  });
});
