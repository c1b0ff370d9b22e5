import { execFileSync, spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { request } from "node:https";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { expect } from "chai";
import { sign, signerOf, webhookSecret } from "../../src/kernel/tools/signature.ts";
import { freePort } from "../support/free-port.ts";

const docs = new URL("../../docs/", import.meta.url);
const folder = new URL("examples/verify-signatures/", docs).pathname;
const secret = webhookSecret(Uint8Array.from({ length: 32 }, (_, index) => index * 5));
const body = Buffer.from('{"type":"order.paid","amount":19.90,"to":"Zoë"}');

interface Language {
  readonly name: string;
  readonly file: string;
  readonly fence: string;
  /** A command that succeeds if the language is on this machine. */
  readonly probe: readonly [string, string];
  /** Builds a file in a scratch folder; returns the command to run it. */
  readonly build: (scratch: string, file: string) => readonly [string, ...string[]];
  /** The example with its check replaced by the alternative of the document. */
  readonly instead: (example: string, alternative: string) => string;
}

const languages: readonly Language[] = [
  {
    name: "Node", file: "receiver.mjs", fence: "js", probe: [process.execPath, "--version"],
    build: (_scratch, file) => [process.execPath, file],
    instead: (example, alternative) => `${swapped(example)}\n${alternative}`,
  },
  {
    name: "Python", file: "receiver.py", fence: "python", probe: ["python3", "--version"],
    build: (_scratch, file) => ["python3", file],
    instead: (example, alternative) => swapped(example).replace("class Receiver", `${alternative}\n\nclass Receiver`),
  },
  {
    name: "Go", file: "receiver.go", fence: "go", probe: ["go", "version"],
    build: (scratch, file) => {
      const program = join(scratch, "receiver");
      const env = { ...process.env, GOTOOLCHAIN: "local" };
      execFileSync("go", ["build", "-o", program, file], { env });
      return [program];
    },
    instead: (example, alternative) =>
      `${swapped(example).replace('"encoding/base64"', '"encoding/base64"\n\t"encoding/hex"')}\n${alternative}`,
  },
];

/** Calls the alternative instead of the example's own check. */
function swapped(example: string): string {
  return example
    .replace("if (!isSigned(", "if (!isSignedService(")
    .replace("if is_signed(", "if is_signed_service(")
    .replace("!isSigned(request", "!isSignedService(request");
}

function isHere([command, argument]: Language["probe"]): boolean {
  try {
    execFileSync(command, [argument], { stdio: "ignore" });
    return true;
  } catch {
    return false;
  }
}

/** The headers of a delivery signed that many seconds ago. */
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
  ...["webhook-id", "webhook-timestamp", "webhook-signature"].map(
    (name): [string, () => Record<string, string>, number] => [`no ${name}`, () => without(name), 401],
  ),
  ["the other signature, which it does not look at, changed", () => changed("X-Service-Signature", flipped), 204],
];

/** The blocks of the document in a language: the example first, or the commands; then the alternative. */
function blocks(fence: string): readonly string[] {
  const document = readFileSync(new URL("verify-signatures.md", docs), "utf8");
  return [...document.matchAll(new RegExp(`^\`\`\`${fence}\\n(.*?)^\`\`\`$`, "gms"))].map(([, block = ""]) => block);
}

/** Starts a receiver; resolves once it listens. */
async function started(command: readonly [string, ...string[]], env: NodeJS.ProcessEnv): Promise<ChildProcess> {
  const [program, ...args] = command;
  const child = spawn(program, args, {
    env: { ...process.env, WEBHOOK_SECRET: secret, ...env },
    stdio: ["ignore", "pipe", "ignore"],
  });
  const [line] = (await once(createInterface({ input: child.stdout }), "line")) as [string];
  expect(line).to.equal("listening");
  return child;
}

async function ended(receiver: ChildProcess): Promise<void> {
  const over = once(receiver, "exit");
  receiver.kill("SIGKILL");
  await over;
}

/** Posts over TLS, trusting one authority; returns the status. */
function postTrusting(ca: string, port: number, headers: Record<string, string>): Promise<number> {
  return new Promise((resolve, reject) => {
    const all = { ...headers, "content-length": body.length };
    const options = { host: "127.0.0.1", port, method: "POST", ca, headers: all };
    request(options, (response) => resolve(response.resume().statusCode ?? 0))
      .on("error", reject).end(body);
  });
}

describe("receivers that verify signatures", () => {
  for (const { name, file, fence, probe, build, instead } of languages) {
    it(`in ${name} are copied unchanged in docs/verify-signatures.md`, () => {
      expect(blocks(fence)[0]).to.equal(readFileSync(join(folder, file), "utf8"));
    });

    (isHere(probe) ? describe : describe.skip)(`in ${name}`, () => {
      let scratch: string;
      let receiver: ChildProcess;
      let url: string;

      before(async function () {
        this.timeout(180_000);
        scratch = mkdtempSync(join(tmpdir(), "relay-receiver-"));
        const port = await freePort();
        url = `http://127.0.0.1:${port}/`;
        receiver = await started(build(scratch, join(folder, file)), { PORT: String(port) });
      });
      after(async () => {
        await ended(receiver);
        rmSync(scratch, { recursive: true, force: true });
      });

      for (const [what, headersOf, status, sent = body] of deliveries) {
        it(`answer ${status} to ${what}`, async () => {
          const answer = await fetch(url, { method: "POST", headers: headersOf(), body: Buffer.from(sent) });
          expect(answer.status).to.equal(status);
        });
      }

      it("speak TLS with the document's certificate, and check the other signature instead", async function () {
        if (!isHere(["openssl", "version"])) this.skip();
        this.timeout(180_000);
        const [commands = ""] = blocks("sh");
        execFileSync("sh", ["-euc", commands], { cwd: scratch, stdio: "ignore" });
        const [example = "", alternative = ""] = blocks(fence);
        const variant = join(scratch, file);
        writeFileSync(variant, instead(example, alternative));
        const port = await freePort();
        const tls = { TLS_CERT: join(scratch, "receiver.pem"), TLS_KEY: join(scratch, "receiver.key") };
        const other = await started(build(scratch, variant), { PORT: String(port), ...tls });
        try {
          const post = (headers: Record<string, string>) =>
            postTrusting(readFileSync(join(scratch, "ca.pem"), "utf8"), port, headers);
          expect(await post(without("webhook-signature"))).to.equal(204);
          for (const spoil of [flipped, (good: string) => good.slice(0, -1), (good: string) => good.slice(7)]) {
            expect(await post(changed("X-Service-Signature", spoil))).to.equal(401);
          }
          expect(await post(without("X-Service-Signature"))).to.equal(401);
        } finally {
          await ended(other);
        }
      });
    });
  }
});
