import { spawn, spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text as textOf } from "node:stream/consumers";
import { expect } from "chai";
import { createLogger } from "../../../../src/engines/pino/logger.ts";
import { ReadModelsUnavailable } from "../../../../src/kernel/ports/read-models.ts";
import type { Logger } from "../../../../src/kernel/ports/telemetry.ts";

/** The lines, parsed and as text, that `say` makes a logger write. */
function lines(say: (logger: Logger) => void, level: Parameters<typeof createLogger>[0] = "info") {
  const texts: string[] = [];
  say(createLogger(level, { write: (text) => { texts.push(text); } }));
  return texts.map((text) => ({ text, line: JSON.parse(text) as Record<string, unknown> }));
}

describe("the logger", () => {
  it("writes one JSON line for each message, at its level and above", () => {
    const written = lines((logger) => {
      logger.debug({}, "not shown");
      logger.info({ eventId: "e1" }, "shown");
      logger.error({ err: new Error("broken") }, "shown too");
    });
    expect(written).to.have.length(2);
    expect(written[0]?.line).to.include({ level: "info", eventId: "e1", msg: "shown" });
    expect(written[0]?.line.time).to.match(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/);
    expect(written[1]?.line.err).to.include({ type: "Error", message: "broken" });
    expect(lines((logger) => logger.debug({}, "shown"), "debug")).to.have.length(1);
    expect(lines((logger) => logger.error({}, "not shown"), "silent")).to.have.length(0);
  });

  it("writes an error's name, also where it came from another thread and lost its class", () => {
    const { name, message, stack } = new ReadModelsUnavailable("database or disk is full");
    const written = lines((logger) => {
      logger.warn({ err: new ReadModelsUnavailable("no") }, "an error of this thread");
      logger.warn({ err: { name, message, stack } }, "what is left of another's");
      logger.warn({ err: Object.assign(new Error(message), { name }) }, "another's, made an error again");
      logger.warn({ err: "no error" }, "something else that was thrown");
    });
    const told = written.map(({ line: { err } }) => err as Record<string, unknown>);
    expect(told.slice(0, 3).map(({ type }) => type)).to.deep.equal([name, name, name]);
    expect(told[1]).to.include({ message, stack });
    expect(told[3]).to.equal("no error");
  });

  it("redacts secrets by the field's name at any depth, and keeps the rest of the line", () => {
    const secret = 'hid"den\\ } ] value';
    const written = lines((logger) => logger.info({
      password: secret,
      body: { ownerPassword: secret, deeper: [{ accessToken: secret, kept: "visible" }] },
      request: { headers: { Authorization: secret, "x-api-key": secret, cookie: secret } },
      credentials: { headerName: "X-Key", value: secret },
      clientSecret: secret, webhookSecret: secret, passwordHash: secret, tokenId: "kept",
    }, "request"));
    expect(written[0]?.text).to.not.include("hid");
    expect(written[0]?.line).to.deep.include({
      password: "[secret]", credentials: "[secret]", tokenId: "kept", msg: "request",
      body: { ownerPassword: "[secret]", deeper: [{ accessToken: "[secret]", kept: "visible" }] },
    });
  });

  it("redacts any text in the form of a key, a token or a hash of this service, in all parts of a line", () => {
    const body = "Abcdefghijklmnopqrstuvwxyz0123456789_-";
    const secrets = [
      `rk_${body}`, `inv_${body}`, `dst_${body}`, `sndr_${body}`, `whsec_${Buffer.alloc(32, 250).toString("base64")}`,
      `eyJhbGciOi.${body}.${body}`, `$2b$12$${"a".repeat(53)}`,
    ];
    for (const secret of secrets) {
      const written = lines((logger) => {
        logger.info({ url: `/api/v1/ingest/t/${secret}?x=1` }, "in a field");
        logger.info({}, `in a message: ${secret}`);
        logger.error({ err: new Error(`in an error: ${secret}`) }, "in an error");
      });
      for (const { text } of written) expect(text).to.include("[secret]").and.not.include(secret.slice(8, 24));
    }
  });

  describe("on standard output", () => {
    const source = new URL("../../../../src/engines/pino/logger.ts", import.meta.url).href;
    /** Node's arguments for a script that has a logger of its own. */
    const argumentsFor = (script: string) => {
      const whole = `const { createLogger } = await import(${JSON.stringify(source)});
        const logger = createLogger("info");
        ${script}`;
      return ["--input-type=module", "--disable-warning=ExperimentalWarning", "-e", whole];
    };
    /** Runs such a script, with its output to the shell's redirection `to`, or to a socket that is read here. */
    const run = (script: string, to: string) =>
      spawnSync("sh", ["-c", `"$0" "$@" ${to}`, process.execPath, ...argumentsFor(script)], { timeout: 20_000 });
    const count = "for (let n = 0; n < 1000; n++) logger.info({ n }, 'counted');";
    const numbersIn = (output: Buffer) =>
      output.toString().trim().split("\n").map((line) => (JSON.parse(line) as { n: number }).n);
    const all = Array.from({ length: 1000 }, (_, n) => n);

    for (const [name, to] of [
      ["a pipe", "| cat"], ["a pipe whose reader is slow", "| (sleep 0.5; cat)"], ["a socket", ""],
    ] as const) {
      it(`writes to ${name}, up to the last line before the process ends`, () => {
        expect(numbersIn(run(`${count} process.exit(0);`, to).stdout)).to.deep.equal(all);
      });
    }

    it("appends to a file", () => {
      const folder = mkdtempSync(join(tmpdir(), "logger-"));
      try {
        run(`${count} process.exit(0);`, `>> ${join(folder, "log")}`);
        run(count, `>> ${join(folder, "log")}`);
        expect(numbersIn(readFileSync(join(folder, "log")))).to.deep.equal([...all, ...all]);
      } finally {
        rmSync(folder, { recursive: true });
      }
    });

    const goingOn = `const begun = performance.now();
      const more = setInterval(() => {
        ${count}
        if (performance.now() - begun < 700) return;
        process.stderr.write("going on");
        process.on("exit", () => process.stderr.write(performance.now() - begun < 4000 ? ", over" : ", late"));
        process.exit(0);
      }, 100);`;

    for (const [name, to] of [
      ["on a full disk", "> /dev/full"], ["to a reader that has gone", "| true"],
      // It outlives the shell, which is not waited for.
      ["to a reader that does not read", "| (exec 3<&0; sleep 5 <&3 >/dev/null 2>&1 &)"],
    ] as const) {
      it(`drops lines that it cannot write ${name}, and neither waits nor ends for it`, () => {
        expect(run(goingOn, to).stderr.toString()).to.equal("going on, over");
      });
    }

    it("drops lines that it cannot write to a socket that is not read, and neither waits nor ends for it", async () => {
      // Node gives its child processes sockets, and does not read standard output unless it is asked to.
      const child = spawn(process.execPath, argumentsFor(goingOn), { timeout: 10_000 });
      expect(await textOf(child.stderr)).to.equal("going on, over");
    });
  });
});
