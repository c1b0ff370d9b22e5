import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { createServer, type AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect } from "chai";

const root = join(import.meta.dirname, "../..");

describe("the demo", () => {
  let folder: string;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), "demo-test-"));
  });
  afterEach(() => rmSync(folder, { recursive: true, force: true }));

  /** Runs the demo with its temporary files in the folder, until its relay, which shares its stderr, has ended. */
  async function ended(env: Readonly<Record<string, string>>, { reads }: { readonly reads: boolean }) {
    const child = spawn(process.execPath, ["--disable-warning=ExperimentalWarning", "demo/main.ts"], {
      cwd: root, stdio: ["ignore", "pipe", "pipe"], env: { ...process.env, TMPDIR: folder, ...env },
    });
    const closed = once(child, "close");
    let stderr = "";
    child.stderr.setEncoding("utf8").on("data", (text: string) => (stderr += text));
    child.stdout.once("data", () => (reads ? child.stdout.resume() : child.stdout.destroy()));
    const [code] = (await closed) as [number | null];
    return { code, stderr, left: readdirSync(folder) };
  }

  it("ignores the settings of a relay in the environment", async () => {
    const env = { RELAY_LOG_LEVEL: "warn", RELAY_ROLES: "api", RELAY_PORT: "none" };
    expect(await ended(env, { reads: true })).to.deep.equal({ code: 0, stderr: "", left: [] });
  });

  it("leaves nothing behind when its output is closed", async () => {
    expect(await ended({}, { reads: false })).to.deep.equal({ code: 1, stderr: "", left: [] });
  });

  it("names a port in use in one line", async () => {
    const taken = createServer().listen(0, "127.0.0.1");
    await once(taken, "listening");
    const port = String((taken.address() as AddressInfo).port);
    const receiver = await ended({ KEEP: "1", RECEIVER_PORT: port }, { reads: true });
    expect(receiver.stderr).to.match(/^the demo failed: RECEIVER_PORT: .*EADDRINUSE.*\n$/);
    const relay = await ended({ KEEP: "1", RECEIVER_PORT: "0", RELAY_PORT: port }, { reads: true });
    expect(relay.stderr).to.match(/^the relay cannot start: RELAY_PORT: the port is in use .*\nthe demo failed: .*\n$/);
    for (const { code, left } of [receiver, relay]) expect([code, left]).to.deep.equal([1, []]);
    taken.close();
  });
});
