import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { createWriteStream, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { setTimeout as pause } from "node:timers/promises";
import { createClient, Producer, verifyDelivery, type Schemas } from "../packages/client/src/index.ts";
import { furnish, furnishedReceiver } from "../test/support/furnished-tenant.ts";
import { startReceiver, type Receiver } from "../test/support/receiver.ts";
import { openSignIn } from "./sign-in.ts";
import { heading, say, table } from "./story.ts";

const keep = process.env["KEEP"] === "1";
const folder = mkdtempSync(join(tmpdir(), "relay-demo-"));
/** The relay's log output once it is ready. */
const log = join(folder, "relay.log");
let relay: ChildProcess | undefined;
let onSignal: () => void = () => process.exit(1);

// The demo removes its folder and its relay however it ends.
process.on("exit", () => {
  relay?.kill("SIGKILL");
  rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
});
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) process.on(signal, () => onSignal());
// The reader of the output has ended, as behind `| head`.
process.stdout.on("error", () => process.exit(1));

/** The ports with `KEEP=1`, which leaves the demo up; without it any free ports are used. */
const ports = { relay: process.env["RELAY_PORT"] ?? "8080", receiver: process.env["RECEIVER_PORT"] ?? "8443" };

/** A receiver that answers 503 to the first two attempts at every event, and 200 from then on. */
async function moodyReceiver(): Promise<Receiver> {
  const seen = new Map<string, number>();
  return startReceiver({
    ...(keep ? { port: Number(ports.receiver) } : {}),
    script: ({ headers }) => {
      const id = String(headers["webhook-id"]);
      const count = (seen.get(id) ?? 0) + 1;
      seen.set(id, count);
      return count <= 2 ? { status: 503, body: "not now" } : { status: 200, body: "thank you" };
    },
  });
}

/** Starts the relay without the shell's settings; returns its address. */
async function startRelay(receiver: Receiver): Promise<string> {
  const caFile = join(folder, "receiver-ca.pem");
  writeFileSync(caFile, receiver.caPem);
  const shell = Object.entries(process.env).filter(([name]) => !name.startsWith("RELAY_"));
  const child = spawn(process.execPath, ["--disable-warning=ExperimentalWarning", "build/src/main.js"], {
    cwd: join(import.meta.dirname, ".."),
    stdio: ["ignore", "pipe", "inherit"],
    env: {
      ...Object.fromEntries(shell),
      RELAY_PORT: keep ? ports.relay : "0",
      RELAY_DATA_DIR: join(folder, "data"),
      RELAY_ALLOWED_NETWORKS: "127.0.0.0/8",
      RELAY_EXTRA_CA_FILE: caFile,
      RELAY_RETRY_SCHEDULE: "500ms,1s",
    },
  });
  relay = child;
  const lines = createInterface({ input: child.stdout });
  for await (const line of lines) {
    const { msg, url } = JSON.parse(line) as { msg: string; url?: string };
    if (msg === "ready" && url) {
      lines.close();
      child.stdout.pipe(createWriteStream(log));
      return url;
    }
  }
  throw new Error("the relay ended before it was ready");
}

async function tell(receiver: Receiver, url: string): Promise<void> {
  heading("A tenant, its Owner, a destination, an API key");
  const login = { email: "owner@acme.example", password: "correct horse battery" };
  const anyone = createClient({ url });
  const { tenantId, webhookSecret } =
    await anyone.createTenant({ name: "Acme", ownerEmail: login.email, ownerPassword: login.password });
  const { accessToken } = await anyone.login(login);
  const owner = createClient({ url, token: accessToken });
  const destination = await owner.createDestination({ url: receiver.url("/hooks") });
  const { apiKey } = await owner.createApiKey({ name: "demo producer" });
  say(`tenant ${tenantId} delivers to ${destination.url}`);

  heading("Three events posted by a producer");
  const producer = new Producer({ url, apiKey, tenantId, ingestToken: destination.ingestToken });
  const ids: string[] = [];
  for (let order = 1; order <= 3; order += 1) {
    const event = { type: "order.paid", order, amount: 19.9 };
    const { eventId, status } = await producer.post(event, { idempotencyKey: `order-${order}` });
    ids.push(eventId);
    say(`202 ${eventId} ${status}`);
  }
  const again = await producer.post({ type: "order.paid", order: 1 }, { idempotencyKey: "order-1" });
  say(`the first one posted again: 200, the same event ${again.eventId}, nothing sent twice`);

  heading("Delivered over TLS: refused twice, retried, received");
  await receiver.waitFor(({ requests }) => requests.length >= 9, 30_000);
  const [id = ""] = ids;
  const event = await until(() => owner.getEvent({ id }), ({ status }) => status === "Succeeded");
  const last = receiver.requests.findLast(({ headers }) => headers["webhook-id"] === id);
  if (!last) throw new Error(`the receiver never got ${id}`);
  say(`the receiver got ${receiver.requests.length} requests; the last for event ${id}:`);
  for (const name of ["x-relay-attempt", "x-service-signature", "webhook-signature"]) {
    say(`  ${name}: ${String(last.headers[name])}`);
  }
  say(`  body: ${String(last.body)}`);
  await verifyDelivery(last, { secret: webhookSecret });
  say(`the signature is valid; the event is ${event.status}`);

  heading("One message, posted once, to two receivers that subscribed");
  const sender = await owner.createSender({ name: "billing", fanOut: true });
  const paths = new Map<string, string>();
  for (const path of ["/billing", "/accounting"]) {
    const { id: destinationUrlId } = await owner.createDestination({ url: receiver.url(path) });
    await owner.createSubscription({ senderId: sender.id, destinationUrlId, eventTypes: ["invoice.*"] });
    paths.set(destinationUrlId, path);
  }
  const billing = new Producer({ url, apiKey, tenantId, ingestToken: sender.ingestToken });
  const { eventId: messageId } = await billing.post({ invoice: 7, amount: 19.9 }, { eventType: "invoice.paid" });
  const message = await until(() => owner.getMessage({ id: messageId }), ({ status }) => status === "Succeeded");
  for (const { eventId, destinationUrlId, status } of message.deliveries) {
    say(`${eventId} to ${paths.get(destinationUrlId)}: ${status}`);
  }

  heading(`What exactly happened to ${id}, and why: every fact of it, from the log`);
  const rows: string[][] = [];
  for await (const fact of owner.listEventHistory({ id, Qt: 100 })) {
    rows.push([String(fact.revision), fact.time, fact.type, who(fact.actor), detail(fact)]);
  }
  table(rows);
}

/**
 * A second tenant, with something on every page of the dashboard, and an event every two seconds. Returns a link that
 * signs its Owner in.
 */
async function openShop(receiver: Receiver, url: string): Promise<string> {
  heading("The dashboard");
  for (const path of ["/orders", "/flaky", "/dead", "/old"]) receiver.on(path, furnishedReceiver());
  const { email, password, postMore } = await furnish(url, receiver.url(""), { ownerEmail: "ada@acme.example" });
  const origin = url.replace("127.0.0.1", "localhost");
  say(`${origin}/app/, sign in as ${email} with the password "${password}"`);
  let order = 10_000;
  setInterval(() => {
    order += 1;
    // The relay may be stopping.
    postMore(order).catch(() => undefined);
  }, 2_000).unref();
  return openSignIn(`${origin}/app/`, async () => {
    const { status, headers } = await fetch(`${url}/api/v1/auth/session`, {
      method: "POST", headers: { "content-type": "application/json", origin },
      body: JSON.stringify({ email, password }),
    });
    if (status !== 200) throw new Error(`the session was answered ${status}`);
    return headers.getSetCookie();
  });
}

function who(actor: Schemas["Actor"]): string {
  return `${actor.type} ${actor.part ?? actor.id ?? ""}`;
}

function detail(fact: Schemas["HistoryItem"]): string {
  switch (fact.type) {
    case "DeliveryAttemptStarted":
      return `attempt ${fact.data.attempt}, -> ${fact.data.to}`;
    case "DeliveryFailed":
    case "DeliverySucceeded":
      return `attempt ${fact.data.attempt}, answered ${fact.data.answer?.statusCode}, -> ${fact.data.to}`;
    case "RetryScheduled":
      return `next at ${fact.data.nextAttemptAt}, -> ${fact.data.to}`;
    default:
      return "";
  }
}

async function until<Answer>(ask: () => Promise<Answer>, holds: (answer: Answer) => boolean): Promise<Answer> {
  for (;;) {
    const answer = await ask();
    if (holds(answer)) return answer;
    await pause(50);
  }
}

async function run(): Promise<void> {
  const receiver = await moodyReceiver().catch((error: unknown) => {
    throw keep ? new Error(`RECEIVER_PORT: ${messageOf(error)}`) : error;
  });
  const url = await startRelay(receiver);
  await tell(receiver, url);
  if (keep) {
    const link = await openShop(receiver, url);
    say("");
    say(`the relay stays up at ${url}, its log in ${log}, the receiver at ${receiver.url("/hooks")}; end with Ctrl-C`);
    say(`the dashboard, signed in, by a link for one use within five minutes: ${link}`);
    // Ctrl-C under npm comes twice: the second one must not end the clean-up.
    await new Promise<void>((resolve) => {
      onSignal = resolve;
    });
  }
  relay?.kill("SIGTERM");
  if (relay?.exitCode === null && relay.signalCode === null) await once(relay, "exit");
  await receiver.close();
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

// The shop still posts, to a relay that is gone.
await run().then(() => process.exit(0), (error: unknown) => {
  process.stderr.write(`the demo failed: ${messageOf(error)}\n`);
  process.exit(1);
});
