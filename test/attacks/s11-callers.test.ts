import { randomUUID } from "node:crypto";
import { readFileSync } from "node:fs";
import { setTimeout as pause } from "node:timers/promises";
import { expect } from "chai";
import { operations } from "../../packages/client/src/operations.ts";
import { openAccount, type Account } from "../support/relay.ts";
import { RelayProcess } from "../support/relay-process.ts";
import { sized } from "../support/size.ts";
import { StuckClientsThread, type StuckClients } from "../support/stuck-clients.ts";

const isFull = sized(0, 1) === 1;
const mostMiB = 512;
/** About the limits of Node's heap in a container of 512 MiB. */
const nodeFlags = ["--max-old-space-size=256", "--max-semi-space-size=4"];
const connections = sized(60, 600);
const largeEvents = sized(40, 1_000);
const measuredMs = sized(700, 5_000);
/** After that, memory is back. */
const restMs = sized(0, 15_000);
/**
 * The times of others' requests that are good enough, where twice the time without an attack is less. Beside other
 * tests a time says little: there it only tells that others were served.
 */
const goodIngestMs = sized(5_000, 50);
const goodListMs = sized(5_000, 200);

type Manner = Pick<StuckClients, "reads" | "closesAfterMs">;

const ofAnswers: Readonly<Record<string, Manner>> = {
  "answer unread": { reads: false },
  "closed at once": { reads: false, closesAfterMs: 0 },
  "closed after 100 ms": { reads: false, closesAfterMs: 100 },
  "slow reader": { reads: "slowly" },
};
/** Operations that `make test` tries; at the full size all are tried. */
const tried = ["listEvents", "getEvent", "getEventStory", "searchEvents", "login", "ingest"];

interface Operation {
  readonly method: string;
  readonly path: string;
  readonly credential?: string;
  readonly body?: boolean;
}

/** The effect of an attack on others. */
interface Row {
  readonly operation: string;
  readonly manner: string;
  readonly "ingest p99, ms": number;
  readonly "lists p99, ms": number;
  readonly "memory, MiB": number;
  readonly "memory after, MiB": number;
}

describe("S11 connections of one caller", function () {
  this.timeout(sized(120_000, 10_800_000));
  let relay: RelayProcess;
  let attacker: Account;
  let attacked: { readonly id: string; readonly ingest: string };
  let other: Account;
  let otherIngest: string;
  let eventId: string;
  let calm: { readonly ingest: number; readonly lists: number };
  const rows: Row[] = [];

  before(async () => {
    relay = await RelayProcess.start(null, { nodeFlags, env: { RELAY_RETRY_SCHEDULE: "1h" } });
    // Their unreachable destinations are never suspended.
    const lenient = { maxTrys: 10_000 };
    [attacker, other] = [await openAccount(relay.url, lenient), await openAccount(relay.url, lenient)];
    const destination = { url: "https://receiver.invalid", serverRateLimit: 1 };
    attacked = await attacker.destination(destination);
    ({ ingest: otherIngest } = await other.destination(destination));
    for (let n = 0; n < largeEvents; n += 1) {
      await attacker.producer.post(attacked.ingest, { n, text: "x".repeat(250_000) });
    }
    const { items: [event] } = await attacker.owner.get("/api/v1/events?Qt=1") as { items: { id: string }[] };
    eventId = event?.id ?? expect.fail("no event");
    await measured();
    calm = await measured();
  });
  after(async function () {
    if (isFull) console.table(rows);
    await relay.closeAfter(this);
  });

  const p99 = async (everyMs: number, ask: () => Promise<unknown>) => {
    const took: number[] = [];
    for (const end = performance.now() + measuredMs; performance.now() < end;) {
      const startedAt = performance.now();
      await ask();
      took.push(performance.now() - startedAt);
      await pause(everyMs);
    }
    return took.sort((a, b) => a - b)[Math.floor(took.length * 0.99)] ?? 0;
  };
  /** How long another tenant's posts and lists take. */
  const measured = async () => {
    const [ingest, lists] = await Promise.all([
      p99(10, () => other.producer.post(otherIngest, { text: "y".repeat(1_000) })),
      p99(20, () => other.owner.get("/api/v1/destinations")),
    ]);
    return { ingest, lists };
  };
  const memoryMiB = () =>
    Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${relay.pid}/status`, "utf8"))?.[1]) / 1024;
  const idOf = (path: string) =>
    path.includes("/tenants/") ? attacker.tenantId :
      path.includes("/destinations/") ? attacked.id :
        path.includes("/events/") ? eventId : randomUUID();

  const head = ({ method, path, credential }: Operation, more: Readonly<Record<string, string>> = {}) => {
    const target = path.includes("/ingest/")
      ? attacked.ingest
      : path.replace("{id}", idOf(path)) + (path.endsWith("/search") ? "?Text=none" : "");
    const own = credential === "apiKey" ? attacker.producer.headers : attacker.owner.headers;
    const headers = { host: "relay", ...(credential !== undefined && own), ...more };
    const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
    return `${method} ${target} HTTP/1.1\r\n${lines.join("")}\r\n`;
  };
  const attack = async (operation: string, manner: string, clients: Omit<StuckClients, "port" | "count">) => {
    const before = memoryMiB();
    const thread = new StuckClientsThread();
    try {
      await thread.open({ port: Number(new URL(relay.url).port), count: connections, ...clients });
      const { ingest, lists } = await measured();
      const during = memoryMiB();
      await thread.close();
      await pause(restMs);
      const after = memoryMiB();
      rows.push({
        operation, manner, "ingest p99, ms": Math.round(ingest), "lists p99, ms": Math.round(lists),
        "memory, MiB": Math.round(during), "memory after, MiB": Math.round(after),
      });
      expect(relay.lives.at(-1)?.endedAt).to.equal(null);
      expect(during).to.be.below(mostMiB);
      expect(ingest, "ingest").to.be.below(Math.max(2 * calm.ingest, goodIngestMs));
      expect(lists, "lists").to.be.below(Math.max(2 * calm.lists, goodListMs));
      if (isFull) expect(after).to.be.below(before * 1.1);
    } finally {
      await thread.close();
    }
  };

  for (const [name, operation] of Object.entries<Operation>(operations)) {
    if (!isFull && !tried.includes(name)) continue;
    if (operation.method === "GET") {
      for (const [manner, how] of Object.entries(ofAnswers)) {
        it(`leave others their speed and the process its memory: ${name}, ${manner}`, () =>
          attack(name, manner, { sends: head(operation), ...how }));
      }
    } else if (operation.body) {
      const json = { "content-type": "application/json" };
      const manners = {
        "body stuck": () => `${head(operation, { ...json, "content-length": "262144" })}{"a":"${"a".repeat(262_136)}`,
        "chunks stuck": () => `${head(operation, { ...json, "transfer-encoding": "chunked" })}4000\r\n{`,
      };
      for (const [manner, sends] of Object.entries(manners)) {
        it(`leave others their speed and the process its memory: ${name}, ${manner}`, () =>
          attack(name, manner, { sends: sends(), reads: true }));
      }
    }
  }
});
