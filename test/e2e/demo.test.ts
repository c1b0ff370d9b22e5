import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { createServer, type AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect } from "chai";

const root = join(import.meta.dirname, "../..");

/** To read on, to close the demo's output, or to end it as Ctrl-C does. */
type Reading = "on" | "no more" | "interrupt";

describe("the demo", () => {
  let folder: string;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), "demo-test-"));
  });
  afterEach(() => rmSync(folder, { recursive: true, force: true }));

  /** Runs the demo with its temporary files in the folder, until its relay, which shares its stderr, has ended. */
  async function ended(
    env: Readonly<Record<string, string>>, read: (line: string) => Promise<Reading> | Reading,
  ) {
    const child = spawn(process.execPath, ["--disable-warning=ExperimentalWarning", "demo/main.ts"], {
      cwd: root, stdio: ["ignore", "pipe", "pipe"], env: { ...process.env, TMPDIR: folder, ...env },
    });
    const closed = once(child, "close");
    let stderr = "";
    child.stderr.setEncoding("utf8").on("data", (text: string) => (stderr += text));
    const follow = (next: Reading) => {
      if (next === "no more") child.stdout.destroy();
      if (next === "interrupt") child.kill("SIGINT");
    };
    child.stdout.setEncoding("utf8").on("data", (text: string) => void Promise.resolve(read(text)).then(follow));
    const [code] = (await closed) as [number | null];
    return { code, stderr, left: readdirSync(folder) };
  }

  it("ignores the settings of a relay in the environment", async () => {
    const env = { RELAY_LOG_LEVEL: "warn", RELAY_ROLES: "api", RELAY_PORT: "none" };
    expect(await ended(env, () => "on")).to.deep.equal({ code: 0, stderr: "", left: [] });
  });

  it("leaves nothing behind when its output is closed", async () => {
    expect(await ended({}, () => "no more")).to.deep.equal({ code: 1, stderr: "", left: [] });
  });

  it("tells where the dashboard is, and a login, when it is kept", async () => {
    let told = "";
    let status = 0;
    const { left } = await ended({ KEEP: "1", RELAY_PORT: "0", RECEIVER_PORT: "0" }, async (text) => {
      told += text;
      const [, url = "", email, password] = /^(\S+)\/app\/, sign in as (\S+) with the password "(.+)"$/m.exec(told) ?? [];
      if (url === "" || status !== 0) return "on";
      const answer = await fetch(`${url}/api/v1/auth/session`, {
        method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify({ email, password }),
      });
      ({ status } = answer);
      return "interrupt";
    });
    expect(status, told).to.equal(200);
    expect(left).to.deep.equal([]);
  });

  it("names a port in use in one line", async () => {
    const taken = createServer().listen(0, "127.0.0.1");
    await once(taken, "listening");
    const port = String((taken.address() as AddressInfo).port);
    const receiver = await ended({ KEEP: "1", RECEIVER_PORT: port }, () => "on");
    expect(receiver.stderr).to.match(/^the demo failed: RECEIVER_PORT: .*EADDRINUSE.*\n$/);
    const relay = await ended({ KEEP: "1", RECEIVER_PORT: "0", RELAY_PORT: port }, () => "on");
    expect(relay.stderr).to.match(/^the relay cannot start: RELAY_PORT: the port is in use .*\nthe demo failed: .*\n$/);
    for (const { code, left } of [receiver, relay]) expect([code, left]).to.deep.equal([1, []]);
    taken.close();
  });
});
