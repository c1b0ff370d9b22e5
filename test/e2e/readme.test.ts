import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { createInterface } from "node:readline";
import { promisify } from "node:util";
import { expect } from "chai";
import { freePort } from "../support/free-port.ts";

const root = join(import.meta.dirname, "../..");

describe("README", () => {
  it("has a tour that works as written, beside a running demo, which tells of the dashboard and a login", async () => {
    const folder = mkdtempSync(join(tmpdir(), "readme-test-"));
    const readme = readFileSync(join(root, "README.md"), "utf8");
    const [, tour = ""] = /```sh\n(.*?)```/s.exec(readme) ?? [];
    const relayPort = await freePort();
    const receiverPort = await freePort();
    const env = { ...process.env, PATH: `${dirname(process.execPath)}:${process.env["PATH"] ?? ""}` };
    const demo = spawn(process.execPath, ["--disable-warning=ExperimentalWarning", "demo/main.ts"], {
      cwd: root,
      stdio: ["ignore", "pipe", "inherit"],
      env: { ...env, TMPDIR: folder, KEEP: "1", RELAY_PORT: String(relayPort), RECEIVER_PORT: String(receiverPort) },
    });
    const exited = once(demo, "exit");
    try {
      const lines: string[] = [];
      for await (const line of createInterface({ input: demo.stdout })) {
        lines.push(line);
        if (line.includes("stays up")) break;
      }
      expect(lines.at(-1), lines.join("\n")).to.include("stays up");
      const script = tour.replace(":8080", `:${relayPort}`).replace(":8443", `:${receiverPort}`);
      const { stdout } = await promisify(execFile)("bash", ["-euo", "pipefail", "-c", script], { env });
      expect(stdout).to.include('"status":"Succeeded"');
      expect(stdout).to.match(/\[ 1, 503, 'failed' \], \[ 2, 503, 'failed' \], \[ 3, 200, 'succeeded' \]/);
      expect(stdout).to.match(/'DeliverySucceeded', 'service'/);
      const said = lines.join("\n");
      const [, url = "", email, password] =
        /^(\S+)\/app\/, sign in as (\S+) with the password "(.+)"$/m.exec(said) ?? expect.fail(said);
      const { status } = await fetch(`${url}/api/v1/auth/session`, {
        method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify({ email, password }),
      });
      expect(status, said).to.equal(200);
    } finally {
      demo.kill("SIGINT");
      const [code] = (await exited) as [number | null];
      expect([code, readdirSync(folder)]).to.deep.equal([0, []]);
      rmSync(folder, { recursive: true });
    }
  });
});
