import { execFile } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createServer, type Server } from "node:tls";
import { promisify } from "node:util";
import { expect } from "chai";
import type { OutboundClient } from "../../../src/kernel/ports/outbound.ts";
import { oddAnswers } from "../../support/odd-answers.ts";
import { makeAuthority } from "../../support/tls.ts";
import { localClient, request } from "./setup.ts";

const run = promisify(execFile);

describe("odd answers", () => {
  const authority = makeAuthority();
  let server: Server;
  let client: OutboundClient;
  let url: string;

  before(async () => {
    server = createServer(authority.issue(), (socket) => {
      let text = "";
      socket.on("error", () => {});
      socket.on("data", (piece: Buffer) => {
        text += piece.toString("latin1");
        const [, number] = /^POST \/(\d+) [^]*\r\n\r\n\{\}/.exec(text) ?? [];
        const answer = oddAnswers[Number(number)];
        if (!answer) return;
        text = "";
        socket.write(Buffer.from(answer.text, "latin1"));
        if (answer.closes) socket.end();
      });
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    url = `https://127.0.0.1:${(server.address() as AddressInfo).port}/`;
    client = localClient(authority.caPem);
  });
  after(async () => {
    await client.close();
    server.close();
  });

  for (const [number, { name, reads, headers, body }] of oddAnswers.entries()) {
    it(`${typeof reads === "number" ? "is read" : "is refused by name"}: ${name}`, async () => {
      // Twice: a rest of the first answer must not become part of the next.
      for (let count = 0; count < 2; count += 1) {
        const answer = await client.post(request(`${url}${number}`, { timeoutMs: 1_500 }));
        if (!answer.answered) {
          expect(answer).to.deep.equal({ answered: false, reason: "connection", error: reads, connected: true });
          continue;
        }
        expect(answer.statusCode).to.equal(reads);
        const shown = Object.entries(answer.headers);
        for (const header of Object.entries(headers)) expect(shown).to.deep.include(header);
        if (body !== null) expect(Buffer.from(answer.body).toString()).to.equal(body);
      }
    });
  }

  it("are read wherever curl reads them", async function () {
    const installed = await run("curl", ["--version"]).then(() => true, () => false);
    if (!installed) this.skip();
    const folder = mkdtempSync(join(tmpdir(), "relay-curl-"));
    const ca = join(folder, "ca.pem");
    writeFileSync(ca, authority.caPem);
    const limits: readonly string[] = ["headers larger than 64 KiB"];
    const differing: string[] = [];
    try {
      for (const [number, { name, reads }] of oddAnswers.entries()) {
        const to = ["-s", "-o", join(folder, "body"), "-m", "1", "--cacert", ca, "-d", "{}", `${url}${number}`];
        const { stdout } = await run("curl", ["-w", "%{http_code}", ...to]).catch(() => ({ stdout: "failed" }));
        if (stdout === "failed" || limits.includes(name)) continue;
        if (stdout !== String(reads)) differing.push(`${name}: ${stdout}`);
      }
    } finally {
      rmSync(folder, { recursive: true });
    }
    expect(differing).to.deep.equal([]);
  });
});
