import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { createWriteStream, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { setTimeout as pause } from "node:timers/promises";
import { startReceiver, type Receiver } from "../test/support/receiver.ts";
import { ApiClient, text, type Json } from "./api-client.ts";
import { heading, say, table } from "./story.ts";

const keep = process.env["KEEP"] === "1";
const folder = mkdtempSync(join(tmpdir(), "relay-demo-"));
/** What the relay logs once it is ready. */
const log = join(folder, "relay.log");
let relay: ChildProcess | undefined;
let onSignal: () => void = () => process.exit(1);

// However this ends, nothing of it stays.
process.on("exit", () => {
  relay?.kill("SIGKILL");
  rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
});
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) process.on(signal, () => onSignal());
// Nobody reads any more, as behind `| head`.
process.stdout.on("error", () => process.exit(1));

/** Where `KEEP=1` leaves the demo up; otherwise any free ports do. */
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

/** Starts the relay, which no setting of the shell is to change; answers its address. */
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
  const anyone = new ApiClient(url);
  const account = { name: "Acme", ownerEmail: "owner@acme.example", ownerPassword: "correct horse battery" };
  const tenant = await anyone.post("/api/v1/tenants", account);
  const login = { email: account.ownerEmail, password: account.ownerPassword };
  const session = await anyone.post("/api/v1/auth/login", login);
  const owner = anyone.as({ authorization: `Bearer ${text(session, "accessToken")}` });
  const destination = await owner.post("/api/v1/destinations", { url: receiver.url("/hooks") });
  const key = await owner.post("/api/v1/api-keys", { name: "demo producer" });
  say(`tenant ${text(tenant, "tenantId")} delivers to ${text(destination, "url")}`);

  heading("Three events posted by a producer");
  const producer = anyone.as({ "x-api-key": text(key, "apiKey") });
  const ingest = `/api/v1/ingest/${text(tenant, "tenantId")}/${text(destination, "ingestToken")}`;
  const accepted: Json[] = [];
  for (let order = 1; order <= 3; order += 1) {
    const body = { type: "order.paid", order, amount: 19.9 };
    const event = await producer.post(ingest, body, { "x-idempotency-key": `order-${order}` });
    accepted.push(event);
    say(`202 ${text(event, "eventId")} ${text(event, "status")}`);
  }
  const again = await producer.post(ingest, { type: "order.paid", order: 1 }, { "x-idempotency-key": "order-1" });
  say(`the first one posted again: 200, the same event ${text(again, "eventId")}, nothing sent twice`);

  heading("Delivered over TLS: refused twice, retried, received");
  await receiver.waitFor(({ requests }) => requests.length >= 9, 30_000);
  const id = String(accepted[0]?.["eventId"]);
  const event = await until(() => owner.get(`/api/v1/events/${id}`), ({ status }) => status === "Succeeded");
  const last = receiver.requests.findLast(({ headers }) => headers["webhook-id"] === id);
  say(`the receiver got ${receiver.requests.length} requests; the last for event ${id}:`);
  for (const name of ["x-relay-attempt", "x-service-signature", "webhook-signature"]) {
    say(`  ${name}: ${String(last?.headers[name])}`);
  }
  say(`  body: ${String(last?.body)}`);
  const verified = await owner.post(`/api/v1/tenants/${text(tenant, "tenantId")}/webhook-secret/verify`, {
    payload: String(last?.body),
    signature: String(last?.headers["x-service-signature"]),
  });
  say(`the signature is ${verified["valid"] === true ? "valid" : "NOT valid"}; the event is ${text(event, "status")}`);

  heading(`What exactly happened to ${id}, and why: every fact of it, from the log`);
  const history = await owner.get(`/api/v1/events/${id}/history?Qt=100`);
  table((history["items"] as Json[]).map((fact) => [
    ...["revision", "time", "type"].map((field) => text(fact, field)),
    who(fact["actor"] as Json),
    detail(fact["data"] as Json),
  ]));
  if (verified["valid"] !== true || event["status"] !== "Succeeded") throw new Error("the story ended otherwise");
}

function who(actor: Json): string {
  return `${text(actor, "type")} ${text(actor, "part") || text(actor, "id")}`;
}

function detail(data: Json): string {
  const answer = data["answer"] as Json | null | undefined;
  const parts = [
    "attempt" in data ? `attempt ${text(data, "attempt")}` : "",
    answer ? `answered ${text(answer, "statusCode")}` : "",
    "nextAttemptAt" in data ? `next at ${text(data, "nextAttemptAt")}` : "",
    "to" in data ? `-> ${text(data, "to")}` : "",
  ];
  return parts.filter((part) => part !== "").join(", ");
}

async function until(ask: () => Promise<Json>, holds: (answer: Json) => boolean): Promise<Json> {
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
    say("");
    say(`the relay stays up at ${url}, its log in ${log}, the receiver at ${receiver.url("/hooks")}; end with Ctrl-C`);
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

await run().catch((error: unknown) => {
  process.stderr.write(`the demo failed: ${messageOf(error)}\n`);
  process.exit(1);
});
