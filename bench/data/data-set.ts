import { existsSync, mkdirSync, readFileSync, rmSync, statfsSync, statSync, writeFileSync } from "node:fs";
import { cp } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { makeAuthority } from "../../test/support/tls.ts";
import { RelayProcess, totalOf, type TenantRecord } from "../support/relay.ts";
import { destinationUrl } from "./course.ts";
import { fillLog } from "./fill.ts";
import { destinationCount, maxTrys, recipeVersion, tenantCount } from "./recipe.ts";

/** Room a set takes at most, read models included. */
const bytesPerEvent = 5_500;
const gibibyte = 2 ** 30;

/** A data folder of a relay with so many events in it, and how to use it. */
export interface DataSet {
  readonly events: number;
  readonly dataDir: string;
  readonly tenants: readonly TenantRecord[];
  /** One without any event, whose only destination is inactive: for events to be added. */
  readonly spare: TenantRecord;
}

/** The description that is written once a set is complete. */
interface Label extends Omit<DataSet, "dataDir"> {
  readonly recipeVersion: number;
  readonly facts: number;
}

/** Where sets are kept: `FOLDER`, or a folder of the system's for temporary files. */
const setsFolder = process.env["FOLDER"] ?? join(tmpdir(), "relay-bench-data");

/**
 * The set of this size: made now unless it is there, its read models built by the program as it is now. For a
 * million events the first time takes minutes.
 */
export async function dataSet(events: number): Promise<DataSet> {
  const folder = join(setsFolder, String(events));
  const labelFile = join(folder, "data-set.json");
  const known = existsSync(labelFile) ? (JSON.parse(readFileSync(labelFile, "utf8")) as Label) : null;
  const label = known?.recipeVersion === recipeVersion ? known : await made(events, folder, labelFile);
  const set: DataSet = { ...label, dataDir: join(folder, "data") };
  const relay = await RelayProcess.start({ caPem: makeAuthority().caPem, dataDir: set.dataDir });
  try {
    const builtMs = await untilListed(relay, set);
    if (builtMs > 10_000) console.log(`  its read models: built in ${(builtMs / 1000).toFixed(0)} s`);
  } finally {
    await relay.stop();
  }
  return set;
}

async function made(events: number, folder: string, labelFile: string): Promise<Label> {
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  requireRoom(events * bytesPerEvent, `a set of ${events} events`);
  console.log(`  making a set of ${events} events in ${folder} …`);
  const from = performance.now();
  const dataDir = join(folder, "data");
  const records = await register(dataDir);
  const facts = await fillLog(dataDir, records.tenants, events, progress(events));
  // The forwarder begins at the log's end without its checkpoint, and the read models are to be built in one go.
  for (const file of ["read-models.db", "state.db"]) {
    for (const suffix of ["", "-wal", "-shm"]) rmSync(join(dataDir, `${file}${suffix}`), { force: true });
  }
  const label: Label = { recipeVersion, events, facts, ...records };
  writeFileSync(labelFile, JSON.stringify(label, null, 2));
  const seconds = (performance.now() - from) / 1000;
  const size = (statSync(join(dataDir, "log.db")).size / gibibyte).toFixed(1);
  console.log(`  ${events} events in ${facts} facts, ${size} GiB: made in ${seconds.toFixed(0)} s`);
  return label;
}

/** Copies the data folder of a set, for one run that changes it. Throws if the disk has no room. Returns its path. */
export async function copyOf({ events, dataDir }: DataSet): Promise<string> {
  const place = join(setsFolder, `${events}-copy`);
  rmSync(place, { recursive: true, force: true });
  requireRoom(events * bytesPerEvent, `a copy of ${events} events`);
  await cp(dataDir, place, { recursive: true });
  return place;
}

/** Throws when the disk of the sets has less room than that. */
function requireRoom(bytes: number, what: string): void {
  const { bavail, bsize } = statfsSync(setsFolder);
  const shown = (size: number) => `${(size / gibibyte).toFixed(1)} GiB`;
  if (bavail * bsize >= bytes) return;
  throw new Error(`${setsFolder} has ${shown(bavail * bsize)} left; ${what} takes ${shown(bytes)} (FOLDER=…)`);
}

/**
 * Waits until a relay that was started on a set lists all of it: at its first start, and after every change of the read
 * models, it has to build them. Answers how long that took, ms; throws when it lists less.
 */
async function untilListed(relay: RelayProcess, { tenants, events }: DataSet): Promise<number> {
  const from = performance.now();
  let listed = 0;
  for (const tenant of tenants) listed += await totalOf((await relay.openAccount(tenant)).owner, "");
  if (listed !== events) throw new Error(`the relay lists ${listed} of ${events} events`);
  return performance.now() - from;
}

/** Creates tenants, destinations and keys by the program itself. */
async function register(dataDir: string): Promise<Pick<DataSet, "tenants" | "spare">> {
  const relay = await RelayProcess.start({ caPem: makeAuthority().caPem, dataDir });
  try {
    const tenants: TenantRecord[] = [];
    for (let tenant = 0; tenant < tenantCount; tenant += 1) {
      const urls = Array.from({ length: destinationCount }, (_, at) => destinationUrl(tenant, at));
      tenants.push(await registered(relay, urls));
    }
    return { tenants, spare: await registered(relay, [destinationUrl(tenantCount, 0)]) };
  } finally {
    await relay.stop();
  }
}

/** A tenant whose last destination is paused. */
async function registered(relay: RelayProcess, urls: readonly string[]): Promise<TenantRecord> {
  const tenant = await relay.createTenant(urls, { maxTrys }, { serverRateLimit: 1 });
  const { owner } = await relay.openAccount(tenant);
  await owner.patch(`/api/v1/destinations/${tenant.destinations.at(-1)!.id}`, { status: "inactive" });
  return tenant;
}

/** Prints progress now and then while a set takes long. */
function progress(events: number): (done: number) => void {
  const step = 1_000_000;
  const from = performance.now();
  return (done) => {
    if (events <= step || done % step > 0) return;
    console.log(`  ${done} of ${events} events after ${((performance.now() - from) / 1000).toFixed(0)} s`);
  };
}
