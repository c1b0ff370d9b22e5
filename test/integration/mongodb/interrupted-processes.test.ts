import { fork, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { expect } from "chai";
import { mongoDbOrSkip, newDatabase } from "../../support/engines/mongodb.ts";
import { WireProxy } from "../../support/engines/mongodb/wire-proxy.ts";
import { contentsOf, definitions } from "./histories.ts";
import { later, laterEnd, atFirst, begun, commandsOfBatch, expected, paused, pausedEnd } from "./interrupted.ts";
import { openProcess } from "./support.ts";

const appliedWithinMs = 2_000;
const turn = () => new Promise((resolve) => setImmediate(resolve));

describe("Read models in MongoDB, with a writer's process that ends or stands still", function () {
  this.timeout(120_000);
  let proxy: WireProxy;
  let successor: ReturnType<typeof openProcess>;
  let server: Awaited<ReturnType<typeof mongoDbOrSkip>>;
  let child: ChildProcess;

  before(async function () {
    server = await mongoDbOrSkip(this);
  });

  beforeEach(async () => {
    const url = newDatabase(server);
    proxy = await WireProxy.start(url);
    successor = openProcess(url);
    await successor.writer.reset(definitions, "any");
    await successor.writer.apply(atFirst, begun);
    child = fork(new URL("writer-process.ts", import.meta.url), [proxy.url], {
      execArgv: ["--disable-warning=ExperimentalWarning"],
    });
    await once(child, "message");
  });

  afterEach(async () => {
    child.kill("SIGKILL");
    await successor.connection.db.dropDatabase();
    await successor.close();
    await proxy.close();
  });

  /** Has the process send command `n` of its batch, which does not arrive. */
  async function untilCommand(n: number): Promise<void> {
    const from = proxy.count + n;
    proxy.fateOf = (count) => (count >= from ? "held" : "pass");
    child.send("go");
    while (proxy.held === 0) await turn();
  }

  /** Takes over from the process, and applies its batch and another. */
  async function succeed(): Promise<void> {
    const began = performance.now();
    expect(await successor.writer.state()).to.deep.equal({ checkpoint: begun, fingerprint: "any" });
    await successor.writer.apply(paused, pausedEnd);
    expect(performance.now() - began).to.be.lessThan(appliedWithinMs);
    await successor.writer.apply(later, laterEnd);
    expect(await contentsOf(successor.reader)).to.deep.equal(expected);
  }

  for (let n = 1; n <= commandsOfBatch; n += 1) {
    it(`are writable at once after a kill -9 before command ${n} of a transaction`, async () => {
      await untilCommand(n);
      child.kill("SIGKILL");
      await once(child, "exit");
      await succeed();
    });

    it(`keep nothing of a process that was stopped before command ${n} of a transaction and resumes`, async () => {
      await untilCommand(n);
      child.kill("SIGSTOP");
      while (!/\) T/.test(readFileSync(`/proc/${child.pid ?? 0}/stat`, "utf8"))) await turn();
      await succeed();
      proxy.fateOf = () => "pass";
      const ended = once(child, "exit");
      const told: unknown[] = [];
      child.on("message", (message) => told.push(message));
      child.kill("SIGCONT");
      await proxy.release();
      await ended;
      expect(told.at(-1)).to.equal("ReadModelsTakenOver");
      expect(await contentsOf(successor.reader)).to.deep.equal(expected);
      await successor.writer.apply([], laterEnd.replace(/.$/, "9"));
    });
  }
});
