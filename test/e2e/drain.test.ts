import { once } from "node:events";
import { get, type IncomingMessage } from "node:http";
import { connect, type Socket } from "node:net";
import { setTimeout as pause } from "node:timers/promises";
import { expect } from "chai";
import type { Json } from "../support/api-client.ts";
import { readHistories } from "../support/api-histories.ts";
import { Ledger, printed } from "../support/ledger.ts";
import { startReceiver, type Receiver } from "../support/receiver.ts";
import { eventReaches, eventually, openAccount } from "../support/relay.ts";
import { RelayProcess, type End } from "../support/relay-process.ts";
import { Producers, randomOfRun } from "../support/relay-process-load.ts";
import { sized } from "../support/size.ts";

/** Far longer than a drain takes on a busy machine, so that a drain that waits for the timeout fails a test. */
const shutdownTimeoutMs = 25_000;
const soonMs = 10_000;
/** Delay allowed to a busy machine beyond a deadline. */
const busyMs = 2_000;
const env = {
  RELAY_DELIVERY_TIMEOUT: "2s", RELAY_RETRY_SCHEDULE: "50ms,100ms", RELAY_SHUTDOWN_TIMEOUT: `${shutdownTimeoutMs}ms`,
};

describe("SIGTERM to the real process", function () {
  this.timeout(sized(240_000, 3_600_000));
  let receiver: Receiver;
  let relay: RelayProcess;

  beforeEach(async () => {
    receiver = await startReceiver({ record: false });
    relay = await RelayProcess.start(receiver, { env });
  });

  afterEach(async function () {
    await relay.closeAfter(this);
    await receiver.close();
  });

  function expectClean({ code, signal, durationMs }: End, withinMs = soonMs): void {
    expect({ code, signal }).to.deep.equal({ code: 0, signal: null });
    expect(durationMs, "time to the end").to.be.lessThan(withinMs);
  }

  it("under load: exits 0 in time, loses nothing, and records every answered attempt", async () => {
    const random = randomOfRun();
    const ledger = new Ledger();
    const account = await openAccount(relay.url, { maxTrys: 10_000 });
    const target = async (path: string, script: Parameters<Ledger["receiving"]>[0]) => {
      receiver.on(path, ledger.receiving(script));
      const { ingest } = await account.destination({ url: receiver.url(path), serverRateLimit: 20 });
      return { account, ingest };
    };
    const targets = [
      await target("/quick", () => ({})),
      await target("/slow", () => ({ delayMs: random() * 500 })),
      await target("/failing", ({ attempt }) => ({ status: attempt < 3 ? 500 : 200 })),
    ];
    const producers = new Producers(relay, ledger, targets, { producers: 6, pauseMs: 5, random }).start();
    const times: number[] = [];
    for (let round = 0; round < sized(3, 100); round += 1) {
      await relay.ready();
      await pause(random() * 1_000);
      const ended = relay.sigterm();
      if (random() < 0.5) {
        await pause(random() * 100);
        relay.signal("SIGTERM");
      }
      const end = await ended;
      // A drain ends with the answer of the slowest receiver, not with the timeout.
      expectClean(end);
      times.push(Math.round(end.durationMs));
      relay.launch();
    }
    await relay.ready();
    await producers.stop();
    const open = async () => {
      const { total } = await relay.at(account.owner).get("/api/v1/events?Status=Succeeded&Qt=1");
      return ledger.count - Number(total);
    };
    // The slow receiver answers 80 a second, fewer than posted: at full size thousands wait for it by now.
    await eventually(open, (count) => count === 0, sized(30_000, 300_000));
    const histories = await readHistories(relay.at(account.owner), ledger.eventIdsOf(account));
    const { faults, figures } = ledger.balance(histories, relay.lives, 0);
    printed(`drained within ${times.join(", ")} ms`, figures);
    for (const [fault, found] of Object.entries(faults)) expect(found, fault).to.deep.equal([]);
    expect(figures).to.include({ unknownOutcomes: 0, extraDeliveries: 0 });
    expect(figures.acknowledged).to.be.greaterThan(20);
  });

  it("answers requests under way, refuses new connections, and ignores further signals", async () => {
    const account = await openAccount(relay.url);
    const { ingest } = await account.destination({ url: receiver.url("/hook") });
    const body = JSON.stringify({ half: "now", rest: "later" });
    const socket = await connected(relay);
    const headers = { ...account.producer.headers, "content-length": String(body.length) };
    socket.write(`${requestHead(ingest, headers)}${body.slice(0, 10)}`);
    const answer = received(socket);
    // If an earlier step fails, the end of this answer must not fail the next test.
    answer.catch(() => undefined);
    // Once this later request is answered, the server has read the first head.
    await fetch(`${relay.url}/healthz`);

    const ended = relay.sigterm();
    await eventually(() => refusal(), (code) => code === "ECONNREFUSED");
    for (const again of ["SIGTERM", "SIGINT", "SIGHUP"] as const) relay.signal(again);
    socket.write(body.slice(10));
    const text = await answer;
    expect(text).to.match(/^HTTP\/1.1 202 /);
    expectClean(await ended);

    const { eventId } = JSON.parse(text.slice(text.indexOf("{"))) as { eventId: string };
    await relay.start();
    await eventReaches(relay.at(account.owner), eventId, "Succeeded");
  });

  it("ends in time although a receiver and a client are slow", async () => {
    await relay.sigterm();
    const patientEnv = { ...env, RELAY_DELIVERY_TIMEOUT: "60s", RELAY_SHUTDOWN_TIMEOUT: "3s" };
    const patient = new RelayProcess(receiver, { env: patientEnv });
    try {
      await patient.start();
      const account = await openAccount(patient.url);
      receiver.on("/silent", () => "silence");
      const { ingest } = await account.destination({ url: receiver.url("/silent") });
      const { eventId } = await patient.at(account.producer).post(ingest, {});
      await receiver.waitFor(({ received }) => received > 0);
      const client = await connected(patient);
      client.on("error", () => undefined);
      client.write(`${requestHead("/api/v1/auth/login", { "content-length": "9" })}{`);
      await fetch(`${patient.url}/healthz`);
      expectClean(await patient.sigterm(), 3_000 + busyMs);
      await patient.start();
      const reason = async () => {
        const { items } = await patient.at(account.owner).get(`/api/v1/events/${String(eventId)}/attempts`);
        return (items as Json[]).find(({ number }) => number === 1)?.["reason"] ?? null;
      };
      // The next start knows that nobody makes the attempt any more.
      expect(await eventually(reason, (said) => said !== null)).to.equal("outcome unknown");
    } finally {
      await patient.close();
    }
  });

  it("ends exports, searches and the live stream at once, though their clients take nothing", async () => {
    const account = await openAccount(relay.url);
    const { ingest } = await account.destination({ url: receiver.url("/hook") });
    // Together more than the buffers of a connection take.
    for (let n = 0; n < 60; n += 1) await relay.at(account.producer).post(ingest, { n, text: "x".repeat(240_000) });
    const paths = ["events/export", "events/export?Include=attempts,history", "events/search?Text=x", "stream"];
    const answers = await Promise.all(paths.map(async (path) => {
      const request = get(`${relay.url}/api/v1/${path}`, { headers: account.owner.headers });
      const [answer] = (await once(request, "response")) as [IncomingMessage];
      return answer.pause().on("error", () => undefined);
    }));
    expectClean(await relay.sigterm(), 4_000 + busyMs);
    for (const answer of answers.slice(0, 2)) {
      let text = "";
      answer.on("data", (chunk: Buffer) => (text = `${text}${String(chunk)}`.slice(-200)));
      await once(answer.resume(), "close");
      expect(text).not.to.include('"end"');
    }
    await relay.start();
  });

  it("during a start: exits 0", async () => {
    const fresh = new RelayProcess(receiver, { env });
    try {
      fresh.launch();
      await eventually(async () => fresh.lines.length, (count) => count > 0);
      expect(fresh.lives[0]?.readyAt, "not ready yet").to.equal(null);
      expectClean(await fresh.sigterm());
      await fresh.start();
    } finally {
      await fresh.close();
    }
  });

  it("while a start waits for an engine: exits 0 by the shutdown timeout", async () => {
    const away = { RELAY_READ_MODELS: "mongodb", RELAY_MONGODB_URL: "mongodb://127.0.0.1:1/relay" };
    const waiting = new RelayProcess(receiver, { env: { ...env, ...away, RELAY_SHUTDOWN_TIMEOUT: "100ms" } });
    try {
      waiting.launch();
      await eventually(async () => waiting.lines, (lines) => lines.some(({ msg }) => msg === "an engine is away"));
      expectClean(await waiting.sigterm());
    } finally {
      await waiting.close();
    }
  });

  /** The error code of a new connection; undefined while it is accepted. */
  function refusal(): Promise<string | undefined> {
    return connected(relay).then((socket) => {
      socket.on("error", () => undefined).destroy();
      return undefined;
    }, (error: NodeJS.ErrnoException) => error.code);
  }
});

async function connected({ url }: RelayProcess): Promise<Socket> {
  const { hostname, port } = new URL(url);
  const socket = connect(Number(port), hostname);
  await once(socket, "connect");
  return socket;
}

function requestHead(path: string, headers: Readonly<Record<string, string>>): string {
  const all = { host: "relay", "content-type": "application/json", ...headers };
  const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}\r\n`);
  return `POST ${path} HTTP/1.1\r\n${lines.join("")}\r\n`;
}

/** All received data until the other side closes. */
async function received(socket: Socket): Promise<string> {
  let text = "";
  for await (const chunk of socket) text += String(chunk);
  return text;
}
