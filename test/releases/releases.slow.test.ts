import { readdirSync } from "node:fs";
import { join } from "node:path";
import { expect } from "chai";
import { movableClock, RelayOnClock } from "../support/clock/relay-on-clock.ts";
import { ask, send, type Content } from "./answers.ts";
import { loadDataFolder } from "./data-folder.ts";
import { startWithLog } from "./exported-log.ts";
import { historySettings } from "./history.ts";
import { masterKey, readRecord } from "./records.ts";

const root = import.meta.dirname;
const folders = readdirSync(root, { withFileTypes: true }).filter((entry) => entry.isDirectory());
/** Events have these fields since 0.3.0. */
const addedToEvents = ["senderId", "messageId", "eventType", "ownerId", "tags", "test", "sourceEventId"];
/** Destinations, too. */
const addedToDestinations = [
  "health", "whenSuspended", "ratePerSecond", "name", "description", "ownerId", "metadata", "headers",
  "timeoutMs", "retryPolicy", "circuit", "expireAfterDays", "disableAfterDays",
  "ordering", "clientCertificate",
];
const addedToSenders = ["searchFields", "fanOut", "eventTypePath", "unmatched"];
/** pino's number of the level `warn`. */
const warnLevel = 40;

for (const { name: release } of folders) {
  describe(`data of release ${release}`, () => {
    describe("in a data folder", () => {
      const folder = join(root, release, "embedded");
      answersAsRecorded(folder, async () => {
        const relay = relayOn({});
        loadDataFolder(folder, relay.dataDir);
        return { relay, close: () => relay.close() };
      });
    });

    describe("in a log on EventStoreDB", () => {
      const folder = join(root, release, "eventstoredb");
      answersAsRecorded(folder, async () => {
        const server = await startWithLog(join(folder, "log.jsonl"));
        const relay = relayOn({ RELAY_EVENT_STORE: "eventstoredb", RELAY_EVENTSTOREDB_URL: server.url });
        loadDataFolder(folder, relay.dataDir);
        const close = async () => {
          await relay.close();
          await server.stopGracefully();
        };
        return { relay, close };
      });
    });
  });
}

/** A relay on an empty data folder that cannot call any receiver; not started yet. */
function relayOn(engines: Readonly<Record<string, string>>): RelayOnClock {
  return new RelayOnClock(null, { env: { ...historySettings, ...engines, RELAY_MASTER_KEY: masterKey } });
}

/** Tests that the present relay answers as the release did, with the clock at the time of those answers. */
function answersAsRecorded(
  folder: string, open: () => Promise<{ readonly relay: RelayOnClock; readonly close: () => Promise<void> }>,
): void {
  const { answeredAt, callers, answers, posts } = readRecord(folder);
  let relay: RelayOnClock;
  let close: () => Promise<void> = async () => undefined;

  before(async function () {
    if ("missing" in movableClock) this.skip();
    ({ relay, close } = await open());
    relay.setClock(Date.parse(answeredAt) - Date.now());
    await relay.start();
  });
  after(() => close());

  it("gives the answers of that release to every GET", async () => {
    for (const { caller, path, ...recorded } of answers) {
      const answer = await ask(relay.url, callers, caller, path);
      expect(asThen(contentOf(answer)), `${caller}: GET ${path}`).to.deep.equal(contentOf(recorded));
    }
  });

  it("gives the old event to a post under an old idempotency key", async () => {
    for (const { answer: recorded, ...post } of posts) {
      const { status, body } = await send(relay.url, post);
      expect(asThen({ status, body }), post.idempotencyKey).to.deep.equal(recorded);
    }
    expect(posts.filter(({ answer }) => answer.status === 200)).to.have.length.above(10);
  });

  it("is read without a warning", () => {
    expect(relay.lines.filter(({ level }) => Number(level) >= warnLevel)).to.deep.equal([]);
  });
}

function contentOf({ status, body }: Content): Content {
  return { status, body };
}

/** The content without the fields that answers, and pages, got after 0.2.0. */
function asThen<Value>(value: Value): Value {
  if (Array.isArray(value)) return (value as unknown[]).map(asThen) as Value;
  if (typeof value !== "object" || value === null) return value;
  // The mode is one of EventReplayed.
  const added = "currentRetryCount" in value ? addedToEvents
    : "serverRateLimit" in value ? addedToDestinations
      : "mapping" in value ? addedToSenders : "items" in value ? ["nextCursor"] : "mode" in value ? ["mode"]
        : "actor" in value ? ["changes"] : [];
  const fields = Object.entries(value).filter(([name]) => !added.includes(name));
  return Object.fromEntries(fields.map(([name, inner]) =>
    [name, name === "actor" || name === "subject" ? withoutName(inner as object) : asThen<unknown>(inner)])) as Value;
}

/** An actor or a subject of a fact; they have names since 0.3.0. */
function withoutName({ name: _, ...rest }: { readonly name?: unknown }): object {
  return rest;
}
