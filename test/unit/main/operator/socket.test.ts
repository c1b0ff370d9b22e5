import { mkdirSync, mkdtempSync, rmSync, statSync, writeFileSync } from "node:fs";
import { request } from "node:http";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { expect } from "chai";
import { refuse } from "../../../../src/kernel/domain/refusal.ts";
import type { Operations } from "../../../../src/main/operator/operations.ts";
import { atRelay, serveOperator } from "../../../../src/main/operator/socket.ts";
import { quiet } from "../../../support/telemetry.ts";

const tenant = { id: "0193a1b2-c3d4-7000-8000-000000000001", name: "Shop" };
const operations = {
  tenants: async () => [tenant],
  "create-tenant": async () => refuse("conflict", "name: a tenant with this name exists already"),
  "reset-owner-password": async () => undefined,
  "erase-tenant": async () => refuse("not-found", "there is no such tenant"),
} as unknown as Operations;

describe("the operator's socket", () => {
  let folder: string;
  let path: string;
  let end: (() => void) | undefined;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), "relay-operator-"));
    path = join(folder, "operator.sock");
  });
  afterEach(() => {
    end?.();
    end = undefined;
    rmSync(folder, { recursive: true });
  });

  const serve = async (dataDir = folder) => {
    const warnings: string[] = [];
    end = await serveOperator(dataDir, operations, { ...quiet, warn: (_, message) => warnings.push(message) });
    return warnings;
  };
  const ask = (name: string, body: string, method = "POST") =>
    new Promise<readonly [status: number | undefined, text: string]>((resolve, reject) => {
      request({ socketPath: path, path: `/${name}`, method }, (answer) =>
        void text(answer).then((told) => resolve([answer.statusCode, told]), reject)).once("error", reject).end(body);
    });

  it("answers bad input with the status of its kind, naming the field", async () => {
    await serve();
    const bad: [name: string, body: string, status: number, says: string][] = [
      ["tenants", "", 400, "body: is empty"],
      ["tenants", "null", 400, "body: must be a JSON object"],
      ["tenants", "[]", 400, "body: must be a JSON object"],
      ["create-tenant", "{", 400, "body: must be valid JSON"],
      ["create-tenant", "\xff", 400, "body: must be"],
      ["create-tenant", "{}", 400, "name: must be a text"],
      ["create-tenant", '{"name":"Shop","ownerEmail":1,"ownerPassword":"x"}', 400, "ownerEmail: must be a text"],
      ["create-tenant", '{"name":"Shop","ownerEmail":"a@b.c","ownerPassword":"x"}', 409, "name: a tenant"],
      ["reset-owner-password", '{"email":null}', 400, "email: must be a text"],
      ["reset-owner-password", '{"email":"a@b.c","password":["x"]}', 400, "password: must be a text"],
      ["erase-tenant", '{"tenantId":{}}', 400, "tenantId: must be a text"],
      ["erase-tenant", '{"tenantId":"x"}', 404, "there is no such tenant"],
      ["__proto__", "{}", 404, "the relay does not know"],
      ["toString", "{}", 404, "the relay does not know"],
      ["erase-tenant", `{"tenantId":"${"x".repeat(16_384)}"}`, 413, "body: must be at most 16384 bytes"],
    ];
    for (const [name, body, status, says] of bad) {
      const [given, told] = await ask(name, body);
      expect([given, told.slice(0, says.length)], `${name} ${body.slice(0, 60)}`).to.deep.equal([status, says]);
    }
    expect(await ask("tenants", "", "GET")).to.deep.equal([405, ""]);
    expect(await atRelay(folder, "tenants")).to.deep.equal({ result: [tenant] });
  });

  for (const head of ["Content-Length: 200000000", "Transfer-Encoding: chunked"]) {
    it(`takes no more than 16 KiB of a body with ${head}, and hangs up`, async () => {
      await serve();
      const socket = connect(path);
      const answer = text(socket).catch(() => "");
      socket.on("error", () => undefined);
      socket.write(`POST /tenants HTTP/1.1\r\nHost: x\r\n${head}\r\n\r\n`);
      const piece = "x".repeat(65_536);
      const chunk = head.startsWith("T") ? `10000\r\n${piece}\r\n` : piece;
      while (!socket.destroyed && socket.bytesWritten < 16 * 2 ** 20) {
        if (!socket.write(chunk)) await new Promise(setImmediate);
      }
      expect(await answer).to.match(/^(HTTP\/1\.1 413 |$)/);
      expect(socket.bytesWritten).to.be.below(4 * 2 ** 20);
      socket.destroy();
    });
  }

  it("is left out where its path is too long, and commands then find no relay", async () => {
    const long = join(folder, "x".repeat(104));
    mkdirSync(long);
    expect(await serve(long)).to.deep.equal(["the path is too long for a socket: commands need a stopped relay"]);
    expect(await atRelay(long, "tenants")).to.equal(undefined);
  });

  it("is left out where something else has its name, which stays, and commands then find no relay", async () => {
    for (const make of [() => mkdirSync(path), () => writeFileSync(path, "mine")]) {
      make();
      const before = statSync(path).ino;
      expect(await serve()).to.deep.equal(
        ["something that is no socket has the socket's name: commands need a stopped relay"]);
      expect(statSync(path).ino).to.equal(before);
      expect(await atRelay(folder, "tenants")).to.equal(undefined);
      rmSync(path, { recursive: true });
    }
  });

  it("is left out on a machine without them", async () => {
    expect(await serve(join(folder, "gone"))).to.deep.equal(
      ["there is no socket for commands: commands need a stopped relay"]);
  });
});
