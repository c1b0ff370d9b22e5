import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { createInterface } from "node:readline";
import { promisify } from "node:util";
import { expect } from "chai";
import { sign, signerOf, webhookSecret } from "../../src/kernel/tools/signature.ts";
import { freePort } from "../support/free-port.ts";
import { startReceiver, type Receiver } from "../support/receiver.ts";
import { eventReaches, openAccount, startTestRelay, type Account, type TestRelay } from "../support/relay.ts";

const root = join(import.meta.dirname, "../..");
const readme = readFileSync(join(root, "packages/client/README.md"), "utf8");
const env = { ...process.env, PATH: `${dirname(process.execPath)}:${process.env["PATH"] ?? ""}` };

interface Manifest {
  readonly version: string;
  readonly workspaces?: readonly string[];
}
const manifest = (folder: string) => JSON.parse(readFileSync(join(root, folder, "package.json"), "utf8")) as Manifest;

/** The blocks of a language in the client's README, in order. */
function blocks(fence: string): readonly string[] {
  return [...readme.matchAll(new RegExp(`^\`\`\`${fence}\\n(.*?)^\`\`\`$`, "gms"))].map(([, block = ""]) => block);
}

/** A user's program: the compiler must refuse each marked line. */
const typed = `
import { createClient, Producer, RelayError, verifyDelivery, type Schemas } from "@webhook-relay/client";

const relay = createClient({ url: "https://hooks.example.com", token: async () => "token" });
export async function use(id: string): Promise<string> {
  const event: Schemas["FoundEvent"] = await relay.getEvent({ id });
  for await (const { payload } of relay.listEvents({ Status: ["Failed"] })) payload?.trim();
  const { total = 0 }: { total?: number } = await relay.listUsers();
  for await (const fact of relay.listEventHistory({ id })) {
    if (fact.type === "DeliveryFailed") return fact.data.reason;
  }
  const nothing: undefined = await relay.deleteUser({ id }, { signal: AbortSignal.timeout(1) });
  const text: string = await relay.getMetrics();
  const verified = await verifyDelivery(
    { headers: new Headers(), body: new Uint8Array() }, { secret: ["whsec_a", "whsec_b"] },
  );
  const error = new Error() as RelayError;
  // @ts-expect-error: no such operation
  await relay.getEvents();
  // @ts-expect-error: no id
  await relay.getEvent({});
  // @ts-expect-error: no such status
  await relay.listEvents({ Status: ["Lost"] });
  // @ts-expect-error: no body
  await relay.createDestination();
  // @ts-expect-error: no URL
  await relay.createDestination({ serverRateLimit: 5 });
  // @ts-expect-error: no such field
  event.color;
  // @ts-expect-error: one event is no list
  for await (const one of relay.getEvent({ id })) one;
  // @ts-expect-error: no API key
  new Producer({ url: "https://hooks.example.com", tenantId: id, ingestToken: "dst_" });
  return [event.status, total, nothing, text, verified.id, error.details.field].join();
}
`;

describe("the package of the client", () => {
  let folder: string;
  let receiver: Receiver;
  let relay: TestRelay;
  let account: Account;
  let ingest: string;

  before(async () => {
    folder = mkdtempSync(join(tmpdir(), "relay-client-"));
    writeFileSync(join(folder, "package.json"), '{ "private": true, "type": "module" }');
    receiver = await startReceiver({ script: () => ({ status: 410, body: "gone" }) });
    relay = await startTestRelay(receiver);
    account = await openAccount(relay.url);
    ({ ingest } = await account.destination({ url: receiver.url("/hook") }));
    const [, pack = expect.fail("no commands")] = blocks("sh").flatMap((block) => block.trim().split("\n"));
    await run("sh", ["-euc", `${pack} --pack-destination ${folder}`], root);
    const [install = expect.fail("no command")] = /npm install \.\/\S+\.tgz/.exec(readme) ?? [];
    await run("sh", ["-euc", `${install} --offline --no-audit --no-fund`], folder);
  });
  after(async () => {
    await relay.close();
    await receiver.close();
    rmSync(folder, { recursive: true, force: true });
  });

  const run = (program: string, args: readonly string[], cwd: string, more: Readonly<Record<string, string>> = {}) =>
    promisify(execFile)(program, args, { cwd, env: { ...env, ...more } });
  /** The README's program of that number as a file. */
  const program = (number: number) => {
    const file = join(folder, `program-${number}.js`);
    writeFileSync(file, blocks("js")[number] ?? expect.fail(`no program ${number}`));
    return file;
  };

  it("has the relay's version, and so has every other package", () => {
    for (const name of readdirSync(join(root, "packages"))) {
      expect(manifest(`packages/${name}`).version, name).to.equal(manifest(".").version);
    }
  });

  it("has programs and their types, and no sources, tests or dependencies", () => {
    const installed = join(folder, "node_modules/@webhook-relay/client");
    const files = readdirSync(installed, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
    expect(files.map(({ name }) => name).filter((name) => !/\.(d\.ts|js)$/.test(name)))
      .to.have.members(["package.json", "README.md"]);
    expect(manifest("packages/client")).not.to.have.any.keys("dependencies", "peerDependencies");
  });

  it("has the documented types, in a program for browsers", async function () {
    this.timeout(300_000);
    writeFileSync(join(folder, "typed.ts"), typed);
    const compiler = join(root, "node_modules/typescript/bin/tsc");
    const options = "--noEmit --strict --target es2022 --module nodenext --lib es2022,dom typed.ts".split(" ");
    await run(process.execPath, [compiler, ...options], folder)
      .catch(({ stdout }: { readonly stdout: string }) => expect.fail(stdout));
  });

  it("posts an event by the README's program, and reads its outcome by another", async () => {
    const [, tenantId = "", ingestToken = ""] = /ingest\/(.+)\/(.+)$/.exec(ingest) ?? [];
    const producer = {
      RELAY_URL: relay.url, API_KEY: account.producer.headers["x-api-key"] ?? "", TENANT_ID: tenantId,
      INGEST_TOKEN: ingestToken,
    };
    const posted = await run(process.execPath, [program(0)], folder, producer);
    const [, eventId = expect.fail(posted.stdout)] = /^(\S{36}) Pending\n$/.exec(posted.stdout) ?? [];
    await eventReaches(account.owner, eventId, "CriticalFailure");
    const reader = { RELAY_URL: relay.url, EMAIL: account.email, PASSWORD: account.password };
    const [failed, refused] = (await run(process.execPath, [program(2)], folder, reader)).stdout.split("\n");
    expect(failed).to.match(new RegExp(`^${eventId} .*410`));
    expect(refused).to.match(/^400 invalid url url: /);
  });

  it("verifies deliveries in the README's receiver", async () => {
    const secret = webhookSecret(new Uint8Array(32));
    const port = await freePort();
    const child = spawn(process.execPath, [program(1)], {
      cwd: folder, env: { ...env, WEBHOOK_SECRET: secret, PORT: String(port) }, stdio: ["ignore", "pipe", "inherit"],
    });
    const ended = once(child, "exit");
    const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
    try {
      expect((await lines.next()).value).to.equal("listening");
      const body = '{"type":"order.paid"}';
      const headers = { ...sign(signerOf(secret), "an-id", Date.now(), Buffer.from(body)) };
      const post = async (text: string) =>
        (await fetch(`http://127.0.0.1:${port}`, { method: "POST", headers, body: text })).status;
      expect(await post(body.replace("paid", "sent"))).to.equal(401);
      expect(await post(body)).to.equal(204);
      expect((await lines.next()).value).to.equal("an-id order.paid");
    } finally {
      child.kill("SIGKILL");
      await ended;
    }
  });

  it("has only programs in its README that run here", () => {
    expect(blocks("js")).to.have.length(3);
  });
});
