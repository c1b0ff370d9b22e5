import { rmSync } from "node:fs";
import { setTimeout as pause } from "node:timers/promises";
import type { ApiClient } from "../test/support/api-client.ts";
import { makeAuthority } from "../test/support/tls.ts";
import { copyOf, dataSet } from "./data/data-set.ts";
import { addGivenUp } from "./data/fill.ts";
import { delayOf } from "./support/event-loop.ts";
import { RelayProcess } from "./support/relay.ts";
import type { Figure, Report } from "./support/report.ts";
import { sized } from "./support/size.ts";

/** Other events, for indexes of a usual size. */
const storedEvents = 10_000;
const attempts = 1_000;
const largeEvents = sized(1_000, 5_000);
/** Just below RELAY_MAX_BODY_BYTES. */
const payload = JSON.stringify({ order: 4711, text: "x".repeat(250_000) });
const postsAtOnce = 8;
const readsMs = sized(2_000, 10_000);
/** No receiver is there. */
const nowhere = "https://127.0.0.1:9/";

/** The result of one caller's repeated reads. */
interface Repetition {
  readonly read: string;
  readonly times: number;
  /** Of the main thread's event loop, ms. */
  readonly longest: number;
}

/** P24: the longest stall of the event loop while one caller repeats any read. */
export async function stalls(): Promise<Report> {
  const set = await dataSet(storedEvents);
  const dataDir = await copyOf(set);
  const retried = await addGivenUp(dataDir, set.spare, attempts);
  const relay = await RelayProcess.start({ caPem: makeAuthority().caPem, dataDir });
  try {
    const held = await relay.createTenant([nowhere], { maxTrys: 10_000 }, { serverRateLimit: 1 });
    const { owner } = await relay.openAccount(held);
    const from = Date.now();
    const large = await postLarge(relay, held);
    const { owner: other } = await relay.openAccount(set.spare);
    const middle = () => new Date(from + Math.random() * (Date.now() - from)).toISOString();
    const reads: Readonly<Record<string, () => Promise<unknown>>> = {
      nothing: () => pause(10),
      "an event of 250 KB": () => owner.get(`/api/v1/events/${large}`),
      "an event as of a moment": () => owner.get(`/api/v1/events/${large}?AsOf=${middle()}`).catch(notYet),
      "the tenant as of a moment": () => owner.get(`/api/v1/tenants/${held.tenantId}?AsOf=${middle()}`),
      "100 events of 250 KB": () => owner.get("/api/v1/events?Qt=100"),
      "100 summaries": () => owner.get("/api/v1/events?Qt=100&View=summary"),
      "a search that finds nothing": () => drained(owner, "/api/v1/events/search?Text=none"),
      "totals by owner": () => owner.get("/api/v1/events/totals?OwnerId=none"),
      "statistics of 1,500 points": () => owner.get("/api/v1/statistics?Bucket=1m&From=2026-01-01&To=2026-01-02"),
      [`a story of ${attempts} attempts`]: () => other.get(`/api/v1/events/${retried}/story`),
      [`100 of ${attempts} attempts`]: () => other.get(`/api/v1/events/${retried}/attempts?Qt=100`),
      [`a history of ${attempts} attempts`]: () => other.get(`/api/v1/events/${retried}/history?Qt=100&Pg=10`),
    };
    const taken: Repetition[] = [];
    for (const [read, ask] of Object.entries(reads)) taken.push(await repeated(relay, read, ask));
    return { name: "stalls", figures: [figureOf(taken)], ledger: [], rounds: taken };
  } finally {
    await relay.stop();
    rmSync(dataDir, { recursive: true, force: true });
  }
}

/** Posts the large events; returns the id of one. */
async function postLarge(relay: RelayProcess, held: Awaited<ReturnType<RelayProcess["createTenant"]>>) {
  let left = largeEvents;
  let id = "";
  await Promise.all(Array.from({ length: postsAtOnce }, async () => {
    while ((left -= 1) >= 0) {
      const target = `${relay.url}/api/v1/ingest/${held.tenantId}/${held.destinations[0]?.ingestToken}`;
      const headers = { "content-type": "application/json", "x-api-key": held.apiKey };
      const answer = await fetch(target, { method: "POST", body: payload, headers });
      if (answer.status !== 202) throw new Error(`a post was answered ${answer.status}: ${await answer.text()}`);
      ({ eventId: id } = (await answer.json()) as { eventId: string });
    }
  }));
  return id;
}

/** The event may not have begun at that moment. */
function notYet(): undefined {
  return undefined;
}

async function drained({ url, headers }: ApiClient, path: string): Promise<void> {
  await (await fetch(url + path, { headers })).arrayBuffer();
}

/** One read after the other, over one connection. */
async function repeated(relay: RelayProcess, read: string, ask: () => Promise<unknown>): Promise<Repetition> {
  await ask();
  await delayOf(relay);
  let times = 0;
  for (const end = performance.now() + readsMs; performance.now() < end; times += 1) await ask();
  return { read, times, longest: (await delayOf(relay)).max };
}

function figureOf(taken: readonly Repetition[]): Figure {
  const worst = taken.toSorted((a, b) => b.longest - a.longest)[0]!;
  return {
    id: "P24", what: "longest stall of the event loop while one caller repeats a read",
    bounds: { better: "lower", floor: 50, aim: 20, unit: "ms" }, measured: worst.longest,
    note: `${largeEvents} events of 250 KB; longest in ms, and reads in ${readsMs / 1000} s: ` +
      taken.map(({ read, times, longest }) => `${read} ${longest.toFixed(0)} (${times})`).join(", "),
  };
}
