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
  it("has a tour that works as written, beside a running demo, which tells a link that signs in", async () => {
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
        if (line.includes("the dashboard, signed in")) break;
      }
      expect(lines.at(-2), lines.join("\n")).to.include("stays up");
      const script = tour.replace(":8080", `:${relayPort}`).replace(":8443", `:${receiverPort}`);
      const { stdout } = await promisify(execFile)("bash", ["-euo", "pipefail", "-c", script], { env });
      expect(stdout).to.include('"status":"Succeeded"');
      expect(stdout).to.match(/\[ 1, 503, 'failed' \], \[ 2, 503, 'failed' \], \[ 3, 200, 'succeeded' \]/);
      expect(stdout).to.match(/'DeliverySucceeded', 'service'/);
      expect(stdout.match(/destinationUrlId: '/g)).to.have.length(2);
      const [, page = "", code = ""] = /(http:\S+)#(\S+)$/.exec(lines.at(-1) ?? "") ?? expect.fail(lines.at(-1));
      const headers = { "sec-fetch-site": "same-origin" };
      const signedIn = await fetch(page, { method: "POST", body: code, headers });
      const cookie = signedIn.headers.getSetCookie()[0]?.replace(/;.*/, "") ?? expect.fail("no cookie");
      const me = await fetch(new URL("../api/v1/me", await signedIn.text()), { headers: { ...headers, cookie } });
      expect(await me.text()).to.include("ada@acme.example");
    } finally {
      demo.kill("SIGINT");
      const [code] = (await exited) as [number | null];
      expect([code, readdirSync(folder)]).to.deep.equal([0, []]);
      rmSync(folder, { recursive: true });
    }
  });
});
