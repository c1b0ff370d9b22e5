import { execFileSync, spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { expect } from "chai";
import { sign, signerOf, webhookSecret } from "../../src/application/delivery/signature.ts";
import { freePort } from "../support/free-port.ts";

const docs = new URL("../../docs/", import.meta.url);
const folder = new URL("examples/verify-signatures/", docs).pathname;
const secret = webhookSecret(Uint8Array.from({ length: 32 }, (_, index) => index * 5));
const body = Buffer.from('{"type":"order.paid","amount":19.90,"to":"Zoë"}');

interface Language {
  readonly name: string;
  readonly file: string;
  readonly fence: string;
  /** What answers when the language is on this machine. */
  readonly probe: readonly [string, string];
  /** Readies the example in a folder to write in; answers what runs it. */
  readonly build: (scratch: string) => readonly [string, ...string[]];
}

const languages: readonly Language[] = [
  {
    name: "Node", file: "receiver.mjs", fence: "js", probe: [process.execPath, "--version"],
    build: () => [process.execPath, "receiver.mjs"],
  },
  {
    name: "Python", file: "receiver.py", fence: "python", probe: ["python3", "--version"],
    build: () => ["python3", "receiver.py"],
  },
  {
    name: "Go", file: "receiver.go", fence: "go", probe: ["go", "version"],
    build: (scratch) => {
      const program = join(scratch, "receiver");
      const env = { ...process.env, GOTOOLCHAIN: "local" };
      execFileSync("go", ["build", "-o", program, "receiver.go"], { cwd: folder, env });
      return [program];
    },
  },
];

function isHere([command, argument]: Language["probe"]): boolean {
  try {
    execFileSync(command, [argument], { stdio: "ignore" });
    return true;
  } catch {
    return false;
  }
}

/** The headers a delivery has, signed so many seconds ago. */
function signed(ago = 0, by = secret): Record<string, string> {
  return { ...sign(signerOf(by), "3f0c6d2e-8a41-5b7c-9e13-5d2f8b6a7c90", Date.now() - ago * 1_000, body) };
}

const flipped = (text: string) => text.slice(0, -2) + (text.at(-2) === "A" ? "B" : "A") + text.slice(-1);
const without = (name: string) => Object.fromEntries(Object.entries(signed()).filter(([key]) => key !== name));
const changed = (name: string, change: (value: string) => string) => {
  const headers = signed();
  return { ...headers, [name]: change(headers[name] ?? expect.fail(`no ${name}`)) };
};

const otherSecret = webhookSecret(new Uint8Array(32));
const deliveries: readonly [string, () => Record<string, string>, number, Buffer?][] = [
  ["a delivery", () => signed(), 204],
  ["one that took four minutes", () => signed(240), 204],
  ["several signatures, one of them right", () => changed("webhook-signature", (good) => `v1,AAAA v1a,x ${good}`), 204],
  ["another body", () => signed(), 401, Buffer.from(`${body.toString()} `)],
  ["another secret", () => signed(0, otherSecret), 401],
  ["one six minutes old", () => signed(360), 401],
  ["one six minutes ahead", () => signed(-360), 401],
  ["a moment that was not signed", () => changed("webhook-timestamp", (seconds) => String(Number(seconds) - 1)), 401],
  ["a moment that is none", () => changed("webhook-timestamp", () => "now"), 401],
  ["an id that was not signed", () => changed("webhook-id", (id) => `${id}x`), 401],
  ["a changed webhook-signature", () => changed("webhook-signature", flipped), 401],
  ["a changed X-Service-Signature", () => changed("X-Service-Signature", flipped), 401],
  ["a shortened X-Service-Signature", () => changed("X-Service-Signature", (good) => good.slice(0, -1)), 401],
  ["an X-Service-Signature without its prefix", () => changed("X-Service-Signature", (good) => good.slice(7)), 401],
  ...["webhook-id", "webhook-timestamp", "webhook-signature", "X-Service-Signature"].map(
    (name): [string, () => Record<string, string>, number] => [`no ${name}`, () => without(name), 401],
  ),
];

describe("receivers that verify signatures", () => {
  for (const { name, file, fence, probe, build } of languages) {
    it(`in ${name} stand in docs/verify-signatures.md as they are`, () => {
      const document = readFileSync(new URL("verify-signatures.md", docs), "utf8");
      expect(document).to.include(`\`\`\`${fence}\n${readFileSync(join(folder, file), "utf8")}\`\`\`\n`);
    });

    (isHere(probe) ? describe : describe.skip)(`in ${name}`, () => {
      let scratch: string;
      let receiver: ChildProcess;
      let url: string;

      before(async function () {
        this.timeout(180_000);
        scratch = mkdtempSync(join(tmpdir(), "relay-receiver-"));
        const [command, ...args] = build(scratch);
        const port = await freePort();
        url = `http://127.0.0.1:${port}/`;
        const env = { ...process.env, WEBHOOK_SECRET: secret, PORT: String(port) };
        const child = spawn(command, args, { cwd: folder, env, stdio: ["ignore", "pipe", "ignore"] });
        receiver = child;
        const [line] = (await once(createInterface({ input: child.stdout }), "line")) as [string];
        expect(line).to.equal("listening");
      });
      after(async () => {
        const over = once(receiver, "exit");
        receiver.kill("SIGKILL");
        await over;
        rmSync(scratch, { recursive: true, force: true });
      });

      for (const [what, headersOf, status, sent = body] of deliveries) {
        it(`answer ${status} to ${what}`, async () => {
          const answer = await fetch(url, { method: "POST", headers: headersOf(), body: Buffer.from(sent) });
          expect(answer.status).to.equal(status);
        });
      }
    });
  }
});
