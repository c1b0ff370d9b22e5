import { createHash } from "node:crypto";
import { join } from "node:path";
import { DatabaseSync, type SQLOutputValue } from "node:sqlite";
import type { ApiClient, Json } from "./api-client.ts";
import { readAll, statusOf, type Histories } from "./api-histories.ts";
import type { RelayProcess } from "./relay-process.ts";

const statuses = ["Pending", "Processing", "Succeeded", "Failed", "WaitingRetry", "CriticalFailure", "Cancelled"];

/** Everything the API lists for a tenant, in a form that can be compared. */
export interface Snapshot {
  readonly lists: Readonly<Record<string, readonly Json[]>>;
  readonly totals: Readonly<Record<string, number>>;
}

/**
 * Reads every list of the API, in more than one order, and the totals of every filter; one filter selects the events
 * accepted since `recent` (ms since 1970).
 */
export async function readLists(owner: ApiClient, recent: number): Promise<Snapshot> {
  const lists: Record<string, readonly Json[]> = {};
  for (const path of [
    "/api/v1/events?", "/api/v1/events?CpOrd=id&TpOrd=Asc&", "/api/v1/events?Status=Succeeded&TpOrd=Asc&",
    "/api/v1/destinations?", "/api/v1/users?", "/api/v1/api-keys?", "/api/v1/destinations?CpOrd=updatedAt&",
  ]) lists[path] = await readAll(owner, path);
  const destinations = (lists["/api/v1/destinations?"] ?? []).map(({ id }) => `DestinationUrlId=${String(id)}`);
  const totals: Record<string, number> = {};
  const since = `From=${encodeURIComponent(new Date(recent).toISOString())}`;
  for (const filter of ["", since, ...destinations, ...destinations.map((destination) => `${destination}&${since}`)]) {
    for (const status of ["", ...statuses]) {
      const query = `/api/v1/events?Qt=1&${filter}${status === "" ? "" : `&Status=${status}`}`;
      totals[`${filter.replace(since, "recent")} ${status}`] = Number((await owner.get(query))["total"]);
    }
  }
  return { lists, totals };
}

/** The totals by status that the log itself comes to. */
export function totalsOf(histories: Histories): Record<string, number> {
  const totals: Record<string, number> = {};
  for (const facts of histories.values()) {
    const status = statusOf(facts) ?? "";
    totals[status] = (totals[status] ?? 0) + 1;
  }
  return totals;
}

/** The lists' totals by status, without zeros. */
export async function listedTotals(owner: ApiClient): Promise<Record<string, number>> {
  const totals: Record<string, number> = {};
  for (const status of statuses) {
    const total = Number((await owner.get(`/api/v1/events?Status=${status}&Qt=1`))["total"]);
    if (total > 0) totals[status] = total;
  }
  return totals;
}

/**
 * The number of a tenant's unfinished events, while none is accepted or replayed. Finished events stay so: they may be
 * counted one status after another, while an unfinished event could slip between two such counts.
 */
export async function unfinishedOf(
  owner: ApiClient, finished: readonly string[] = ["Succeeded", "CriticalFailure", "Cancelled"],
): Promise<number> {
  const count = async (query: string) => Number((await owner.get(`/api/v1/events?Qt=1${query}`))["total"]);
  let left = await count("");
  for (const status of finished) left -= await count(`&Status=${status}`);
  return left;
}

/**
 * Tables of documents that tell of entries which a purge has deleted since: rebuilt, they tell of the remaining ones.
 */
const ofGoneEntries: ReadonlySet<string> = new Set(["c_moments", "c_statistics", "c_eventTypes"]);

/**
 * Hashes of all documents and counters in the embedded read models of a relay that is not running, by table. Values
 * that depend on the order of writing alone, such as the numbers of counters' scopes, are left out, and so are the
 * destinations of a tenant that purged events: rebuilt, they have the last success among the events that are left.
 */
export function documentHashes(dataDir: string, purging?: string): Readonly<Record<string, string>> {
  const file = new DatabaseSync(join(dataDir, "read-models.db"), { readOnly: true });
  const { definitions, checkpoint, fingerprint } = file.prepare("SELECT * FROM state").get() as Record<string, string>;
  const kind = hashOf([definitions, fingerprint]);
  const hashes: Record<string, string> = { kind, checkpoint: String(checkpoint) };
  // Other tables hold no documents, or are being rebuilt.
  const tables = file.prepare("SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY name").all()
    .map(({ name }) => String(name)).filter((name) => name.startsWith("c_"));
  const counters = "SELECT name, bucket, total FROM counters JOIN scopes ON scopes.number = counters.scope";
  const selects: Record<string, string> = {
    counters: `${counters} WHERE name NOT LIKE 'incidents/%'`,
    countersOfIncidents: `${counters} WHERE name LIKE 'incidents/%'`,
  };
  for (const name of tables.filter((one) => !ofGoneEntries.has(one))) selects[name] = `SELECT * FROM "${name}"`;
  if (purging !== undefined) {
    selects["c_destinations"] += ` WHERE "tenantId" <> X'${purging.replaceAll("-", "")}'`;
  }
  for (const [name, select] of Object.entries(selects)) {
    const statement = file.prepare(select);
    statement.setReadBigInts(true);
    const rows = statement.all().map((row) => JSON.stringify(Object.values(row).map(comparable)));
    hashes[name] = hashOf(rows.toSorted());
  }
  file.close();
  return hashes;
}

/** Stops a relay with read models that cover its whole log: tries again where it wrote after its last projection. */
export async function stopCovered(relay: RelayProcess, owner: ApiClient): Promise<void> {
  for (let time = 1; time <= 5; time += 1) {
    await relay.at(owner).get("/api/v1/events?Qt=1");
    await relay.sigterm();
    const [log, readModels] = ["log.db", "read-models.db"].map((name) =>
      new DatabaseSync(join(relay.dataDir, name), { readOnly: true })) as [DatabaseSync, DatabaseSync];
    const head = log.prepare("SELECT max(sequence) AS head FROM log").get()?.["head"];
    const checkpoint = readModels.prepare("SELECT checkpoint FROM state").get()?.["checkpoint"];
    log.close();
    readModels.close();
    if (Number(head) === Number(checkpoint)) return;
    await relay.start();
  }
  throw new Error("the relay writes whenever nobody looks");
}

function hashOf(value: unknown): string {
  return createHash("sha256").update(JSON.stringify(value)).digest("hex");
}

function comparable(value: SQLOutputValue): string | null {
  if (value === null) return null;
  return value instanceof Uint8Array ? Buffer.from(value).toString("hex") : `${typeof value} ${value}`;
}
