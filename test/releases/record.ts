/**
 * Records the schemas, the data and the answers of a release in the folder `test/releases/<version>`: see the README
 * beside this file. Takes the folder of a checkout of the release with its packages installed; this one without an
 * argument.
 */
import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { EventStoreDbServer } from "../support/eventstoredb-server/server.ts";
import { startReceiver } from "../support/receiver.ts";
import { eventually } from "../support/relay.ts";
import { ask, everyAnswer, send, type RecordedAnswer, type Callers } from "./answers.ts";
import { dumpDatabase, dumpDataFolder } from "./data-folder.ts";
import { exportLog } from "./exported-log.ts";
import { historySettings, makeHistory, type History } from "./history.ts";
import { Program } from "./program.ts";
import { masterKey, writeRecord, type ReleaseRecord } from "./records.ts";
import { schemaRecord } from "./schemas.ts";

/** A relay to record, and its stores. */
interface Subject {
  readonly settings: Readonly<Record<string, string>>;
  /** Whether the log has a fact of a type. */
  readonly isWritten: (type: string) => boolean;
  /** Writes the relay's data into a folder. The relay must not be running. */
  readonly keep: (folder: string) => void;
}

const checkout = resolve(process.argv[2] ?? join(import.meta.dirname, "../.."));
const { version } = JSON.parse(readFileSync(join(checkout, "package.json"), "utf8")) as { readonly version: string };
const recorded = join(import.meta.dirname, version);
/** Holds the new record until it is complete; then it replaces an earlier one. */
const folder = mkdtempSync(join(tmpdir(), "relay-record-"));
const formerMasterKey = Buffer.alloc(32, 1).toString("base64");
/** Types of facts that are written in the background. */
const lastTypes = ["PurgeCompleted", "UserForgotten"];

for (const name of ["embedded", "eventstoredb"]) mkdirSync(join(folder, name), { recursive: true });
writeFileSync(join(folder, "schemas.json"), await schemaRecord(checkout));
const receiver = await startReceiver();
await recordEmbedded();
await recordOutside();
await receiver.close();
rmSync(recorded, { recursive: true, force: true });
cpSync(folder, recorded, { recursive: true });
rmSync(folder, { recursive: true });
console.log(`${version} is recorded in ${recorded}`);

async function recordEmbedded(): Promise<void> {
  const { dataDir, settings, remove } = scratch();
  const files = () => readdirSync(dataDir).filter((name) => /^log\.db(-wal)?$/.test(name));
  await record(join(folder, "embedded"), {
    settings,
    isWritten: (type) => files().some((name) => readFileSync(join(dataDir, name)).includes(type)),
    keep: (to) => dumpDataFolder(dataDir, to),
  });
  remove();
}

/** The read models are embedded, but not recorded: the relay can build them from the log. */
async function recordOutside(): Promise<void> {
  const { dataDir, settings, remove } = scratch();
  const server = await EventStoreDbServer.start();
  const { database } = server;
  await record(join(folder, "eventstoredb"), {
    settings: { ...settings, RELAY_EVENT_STORE: "eventstoredb", RELAY_EVENTSTOREDB_URL: server.url },
    isWritten: (type) => Array.from({ length: database.length }, (_, index) => database.at(index)?.type).includes(type),
    keep: (to) => {
      exportLog(server, join(to, "log.jsonl"));
      // The sessions that were logged out.
      dumpDatabase(join(dataDir, "state.db"), to);
    },
  });
  await server.stopGracefully();
  remove();
}

/** An empty data folder, and settings for a relay on it that may call the receiver. */
function scratch() {
  const parent = mkdtempSync(join(tmpdir(), "relay-release-"));
  const [dataDir, caFile] = [join(parent, "data"), join(parent, "receiver-ca.pem")];
  writeFileSync(caFile, receiver.caPem);
  const settings = {
    ...historySettings, RELAY_PORT: "0", RELAY_DATA_DIR: dataDir, RELAY_EXTRA_CA_FILE: caFile,
    RELAY_ALLOWED_NETWORKS: "127.0.0.0/8",
  };
  return { dataDir, settings, remove: () => rmSync(parent, { recursive: true }) };
}

async function record(to: string, { settings, isWritten, keep }: Subject): Promise<void> {
  const before = new Program(checkout, { ...settings, RELAY_MASTER_KEY: formerMasterKey });
  const history = await makeHistory(await before.start(), receiver);
  for (const type of lastTypes) await eventually(async () => isWritten(type), (is) => is);
  await before.stop();
  const both = { RELAY_MASTER_KEY: masterKey, RELAY_OLD_MASTER_KEYS: formerMasterKey };
  const between = new Program(checkout, { ...settings, ...both });
  await between.command("rewrap");
  await between.command("erase-tenant", history.initech.tenantId, "--yes");

  const after = new Program(checkout, { ...settings, RELAY_MASTER_KEY: masterKey });
  const { callers, answers } = await allAnswers(await after.start(), history);
  const answeredAt = new Date().toISOString();
  await after.stop();
  keep(to);
  const posts: ReleaseRecord["posts"][number][] = [];
  const url = await after.start();
  for (const post of history.posts) posts.push({ ...post, answer: await send(url, post) });
  await after.stop();
  writeRecord(to, { answeredAt, callers, answers, posts });
}

/** The Owners of both tenants send every GET; the other callers send a few. */
async function allAnswers(url: string, { acme, globex, initech, purged }: History) {
  const callers: Callers = {
    "Acme's Owner": acme.owner, "Globex's Owner": globex.owner, "Acme's Viewer": acme.viewer,
    "Acme's Owner, logged out": acme.ended, "the Owner of an erased tenant": initech.owner,
  };
  const answers: RecordedAnswer[] = [
    ...(await everyAnswer(url, callers, "Acme's Owner", { tenantId: acme.tenantId, eventIds: [purged] })),
    ...(await everyAnswer(url, callers, "Globex's Owner", { tenantId: globex.tenantId, eventIds: [] })),
  ];
  const event = answers.find(({ path, status }) => status === 200 && /\/events\/[0-9a-f-]{36}$/.test(path));
  const shared = [
    event!.path, "/api/v1/users", `/api/v1/tenants/${acme.tenantId}/webhook-secret`,
    `/api/v1/tenants/${initech.tenantId}`,
  ];
  for (const caller of Object.keys(callers)) {
    for (const path of shared) answers.push(await ask(url, callers, caller, path));
  }
  return { callers, answers };
}
