import { collections } from "../../projections/index.ts";
import { EmailOpener } from "../../src/application/people.ts";
import { Vault } from "../../src/application/vault.ts";
import type { Caller } from "../../src/application/commands/caller.ts";
import type { EventView } from "../../src/application/views.ts";
import { eventStatuses } from "../../src/domain/event/events.ts";
import { ProjectionRunner } from "../../src/workers/projection-runner.ts";
import { InMemoryReadModels } from "../support/in-memory-read-models.ts";
import { silentLogger } from "../support/silent-logger.ts";
import type { Books } from "./books.ts";
import { hold } from "./broken.ts";
import type { Fleet } from "./fleet.ts";
import type { AttemptRecord, EventRecord, Model } from "./model.ts";
import type { Engines, Node } from "./node.ts";
import type { WallTime } from "./process.ts";
import type { Producers } from "./producers.ts";
import type { Scheduler } from "./scheduler.ts";
import { sealing, uncounted } from "./stand-ins.ts";
import type { Weather } from "./weather.ts";

interface EndParts {
  readonly model: Model;
  readonly books: Books;
  readonly engines: Engines;
  readonly fleet: Fleet;
  readonly producers: Producers;
  readonly weather: Weather;
  readonly scheduler: Scheduler;
  readonly wall: WallTime;
  readonly complete: <Result>(promise: Promise<Result>) => Promise<Result>;
}

/** What must hold once nothing moves any more. Throws Broken. */
export async function checkEnd(parts: EndParts): Promise<void> {
  const { model, books, fleet, complete } = parts;
  for (const { eventId, payload } of books.acknowledged) {
    const stored = model.accepted.some(({ id }) => id === eventId);
    hold(stored, "nothing acknowledged is lost", () => `${eventId} ${payload}`);
  }
  for (const event of model.accepted) for (const attempt of event.attempts) checkAttempt(event, attempt, parts);
  for (const { id, deleted, active, probes } of model.destinations.values()) {
    hold(deleted || !active || probes.at(-1)?.value == null, "no probe is left standing", () => id);
  }
  await checkDueIndex(parts);
  const node = fleet.any();
  hold(node !== undefined, "a relay serves when all is well", () => "no process is ready");
  for (const caller of parts.producers.callers) await complete(checkLists(node, caller, model));
  await checkFold(parts);
}

/** An attempt's outcome in the log is what its receiver answered. */
function checkAttempt(event: EventRecord, attempt: AttemptRecord, { weather }: EndParts): void {
  const { call, ending, givenUp, by, number } = attempt;
  const what = () => `${event.id} attempt ${number} by ${by.name}: ${JSON.stringify({ ending, givenUp })}`;
  if (event.purgedAt !== null) return;
  hold(ending !== undefined || givenUp, "every attempt has an end", what);
  if (!call) {
    hold(!ending || ending.reason === "not sent", "what was not sent has no outcome", what);
    const trouble = weather.log.failAfter > 0 || weather.log.slowMs > 4_000 || weather.outageEveryMs < Infinity ||
      weather.stallEveryMs < Infinity;
    hold(by.crashed || trouble, "what was claimed is sent", what);
    return;
  }
  const { result } = call;
  if (!result) {
    hold(by.crashed && ending === undefined, "only a crash keeps an answer from being heard", what);
    return;
  }
  hold(ending !== undefined || by.crashed, "what was heard is recorded", what);
  if (!ending) return;
  const ok = result.answered && result.statusCode >= 200 && result.statusCode < 300;
  const reason = ok ? null : result.answered ? "status" : result.reason;
  hold(ending.ok === ok && ending.reason === reason, "the log tells what the receiver answered", what);
  hold(ending.statusCode === (result.answered ? result.statusCode : null), "the log tells the answer's status", what);
}

async function checkDueIndex({ model, engines: { readModels } }: EndParts): Promise<void> {
  const { documents } = readModels.contents.contents();
  const pending = Object.values(documents["events"] ?? {}).filter((one) => one["status"] === "Pending");
  const inIndex = [...Object.keys(documents["waiting"] ?? {}), ...pending.map((one) => one["id"] as string)];
  const held = [...model.events.values()].filter(({ status, purgedAt }) =>
    purgedAt === null && (status === "Pending" || status === "WaitingRetry"));
  const ids = (list: readonly string[]) => [...list].sort().join();
  hold(ids(inIndex) === ids(held.map(({ id }) => id)),
    "the due index holds what is held", () => `${inIndex.length} in the index, ${held.length} held`);
  for (const name of ["leases", "purges", "purging", "setAside"]) {
    const left = Object.keys(documents[name] ?? {});
    hold(left.length === 0, `no ${name} are left`, () => left.join());
  }
}

/** Lists, totals and single answers are what a naive count of the log says. */
async function checkLists(node: Node, caller: Caller, model: Model): Promise<void> {
  const { tenantId } = caller;
  const { events } = node.services.queries;
  const own = [...model.events.values()].filter((event) => event.tenantId === tenantId && event.purgedAt === null);
  const order = { field: "acceptedAt", descending: true };
  const listed = new Map<string, EventView>();
  for (let page = 1; ; page += 1) {
    const { items, total } = await events.list(caller, {}, { quantity: 100, page, order });
    hold(total === own.length, "totals are counted", () => `${tenantId}: ${total} listed, ${own.length} there`);
    for (const item of items) listed.set(item.id, item);
    if (items.length < 100) break;
  }
  for (const event of own) {
    const item = listed.get(event.id);
    const { status, retryCount, nextAttemptAt, payload, destinationId } = event;
    const expected = [status, retryCount, nextAttemptAt, payload, destinationId, tenantId];
    const shown = item && [
      item.status, item.currentRetryCount, item.nextAttemptAt, item.payload, item.destinationUrlId, item.tenantId,
    ];
    hold(JSON.stringify(shown) === JSON.stringify(expected), "lists show what the log says",
      () => `${event.id}: ${JSON.stringify(shown)}, not ${JSON.stringify(expected)}`);
  }
  hold(listed.size === own.length, "accepted = succeeded + dead + cancelled + purged + waiting", () =>
    `${listed.size} listed, ${own.length} there`);
  const destinations = [undefined, ...new Set(own.map(({ destinationId }) => destinationId))];
  for (const destinationUrlId of destinations) {
    for (const status of eventStatuses) {
      const { total } = await events.list(caller, { status, destinationUrlId }, { quantity: 1, page: 1, order });
      const there = own.filter((event) =>
        event.status === status && (destinationUrlId === undefined || event.destinationId === destinationUrlId));
      hold(total === there.length, "each status is counted",
        () => `${tenantId} ${destinationUrlId} ${status}: ${total} counted, ${there.length} there`);
    }
  }
}

/** The read models are what a fold of the log into empty ones gives. */
async function checkFold({ engines, fleet, complete }: EndParts): Promise<void> {
  const process = fleet.onlooker();
  const store = engines.log.client(process);
  const fresh = new InMemoryReadModels();
  const emails = new EmailOpener({ store, sealing, vault: new Vault(sealing) }, { max: 100 });
  const runner = new ProjectionRunner({
    log: store, writer: fresh, readModels: fresh, clock: process.clock, metrics: uncounted, lingerMs: 0,
    logger: silentLogger,
    prepare: (entries) => emails.prepare(entries),
  });
  await complete(runner.rebuild());
  const [kept, folded] = [engines.readModels.contents.contents(), fresh.contents()];
  for (const { name } of collections) {
    const [there, again] = [kept.documents[name] ?? {}, folded.documents[name] ?? {}];
    for (const key of new Set([...Object.keys(there), ...Object.keys(again)])) {
      hold(JSON.stringify(there[key]) === JSON.stringify(again[key]), "read models are a fold of the log",
        () => `${name} ${key}: ${JSON.stringify(there[key])}, folded anew ${JSON.stringify(again[key])}`);
    }
  }
  const different = difference(kept.counters, folded.counters);
  hold(different.length === 0, "counters are a fold of the log", () => JSON.stringify(different.slice(0, 5)));
}

type Counters = Readonly<Record<string, Readonly<Record<string, number>>>>;

/** Scopes whose counters are not the same in both, with both; buckets that are numbers come in order. */
function difference(a: Counters, b: Counters): readonly unknown[] {
  const scopes = [...new Set([...Object.keys(a), ...Object.keys(b)])];
  return scopes
    .filter((scope) => JSON.stringify(a[scope]) !== JSON.stringify(b[scope]))
    .map((scope) => [scope, a[scope], b[scope]]);
}
