import { collections } from "../../projections/index.ts";
import { moments } from "../../projections/moments/moments.ts";
import { eventStatuses } from "../../src/features/events/facts.ts";
import type { EventView } from "../../src/features/events/webhooks.ts";
import { EmailOpener } from "../../src/features/people/persons/email-opener.ts";
import { takeoverAfterMs } from "../../src/features/tenants/reservations/facts.ts";
import type { Caller } from "../../src/kernel/callers/caller.ts";
import { Vault } from "../../src/kernel/sealing/vault.ts";
import { InMemoryReadModels } from "../support/in-memory-read-models.ts";
import { pageRequest } from "../support/page-request.ts";
import { projectorOf } from "../support/projector.ts";
import { whole } from "../support/whole-page.ts";
import { hold } from "./broken.ts";
import type { Fleet } from "./fleet.ts";
import type { Model } from "./model.ts";
import { takeNames } from "./names.ts";
import type { Engines, Node } from "./node.ts";
import type { WallTime } from "./process.ts";
import { finished } from "./purged.ts";
import type { AttemptRecord, EventRecord } from "./records.ts";
import type { Scheduler } from "./scheduler.ts";
import { sealing } from "./stand-ins.ts";
import { checkStories, WholeLog } from "./story-checks.ts";
import type { Users } from "./users.ts";
import type { Weather } from "./weather.ts";

/** The number of events of each tenant whose attempts are checked. */
const lookedAt = 40;

interface EndParts {
  readonly model: Model;
  readonly engines: Engines;
  readonly fleet: Fleet;
  readonly users: Users;
  readonly weather: Weather;
  readonly scheduler: Scheduler;
  readonly wall: WallTime;
  readonly complete: <Result>(promise: Promise<Result>) => Promise<Result>;
}

/** Checks the invariants of the final state. Throws Broken. */
export async function checkEnd(parts: EndParts): Promise<void> {
  const { model, fleet, complete } = parts;
  for (const event of model.accepted) for (const attempt of event.attempts) checkAttempt(event, attempt, parts);
  for (const { id, deleted, active, probes } of model.destinations.values()) {
    hold(deleted || !active || probes.at(-1)?.value == null, "no probe stays claimed", () => id);
  }
  for (const { id, tenantId } of model.replays.unsettled()) {
    const isHeld = [...model.destinations.values()].some(({ tenantId: of, active, deleted }) =>
      of === tenantId && !active && !deleted);
    hold(isHeld, "no replay is left undone", () => id);
  }
  await checkDueIndex(parts);
  const node = fleet.any();
  hold(node !== undefined, "a relay serves once all faults have ended", () => "no process is ready");
  await checkNames(node, parts);
  for (const caller of parts.users.callers) await complete(checkLists(node, caller, model));
  for (const caller of parts.users.callers) await complete(checkMessages(node, caller, model));
  const log = await complete(WholeLog.read(parts.engines.log.client(fleet.onlooker())));
  for (const caller of parts.users.callers) {
    const own = [...model.events.values()].filter(({ tenantId, purgedAt }) =>
      tenantId === caller.tenantId && purgedAt === null);
    await complete(checkStories(node, caller, log, own));
  }
  await checkFold(parts);
}

/** Checks an attempt's outcome in the log against the answer of its receiver. */
function checkAttempt(event: EventRecord, attempt: AttemptRecord, { weather }: EndParts): void {
  const { call, ending, givenUp, by, number } = attempt;
  const what = () => `${event.id} attempt ${number} by ${by.name}: ${JSON.stringify({ ending, givenUp })}`;
  if (event.purgedAt !== null) return;
  hold(ending !== undefined || givenUp, "no work is left undone", what);
  if (!call) {
    const hasNoToken = attempt.authType === "JwtBearer" && ending?.reason === "token";
    if (hasNoToken) return;
    hold(!ending || ending.reason === "not sent", "an unsent attempt has no receiver's outcome", what);
    const anomaly = weather.log.failAfter > 0 || weather.log.slowMs > 4_000 || weather.outageEveryMs < Infinity ||
      weather.stallEveryMs < Infinity;
    hold(by.crashed || anomaly, "every claimed attempt is sent", what);
    return;
  }
  const { result } = call;
  if (!result) {
    hold(by.crashed && ending === undefined, "the log records the receiver's answer", what);
    return;
  }
  hold(ending !== undefined || by.crashed, "every received result is recorded", what);
  if (!ending) return;
  const ok = result.answered && result.statusCode >= 200 && result.statusCode < 300;
  const reason = ok ? null : result.answered ? "status" : result.reason;
  const statusCode = result.answered ? result.statusCode : null;
  hold(ending.ok === ok && ending.reason === reason && ending.statusCode === statusCode,
    "the log records the receiver's answer", what);
}

/** Checks that a reservation becomes free again when its process died in the middle. */
async function checkNames(node: Node, { model, weather, scheduler, complete }: EndParts): Promise<void> {
  // A name reserved by a clock that was ahead stays reserved until the time of that clock has come.
  if (weather.jumpEveryMs < Infinity || model.names.forsaken().length === 0) return;
  await complete(new Promise<void>((resolve) => {
    scheduler.after(takeoverAfterMs + weather.skewMs + 1_000, resolve);
  }));
  await complete(takeNames(node));
  hold(model.names.forsaken().length === 0, "an unused name becomes free again", () => model.names.forsaken().join());
}

async function checkDueIndex({ model, engines: { readModels } }: EndParts): Promise<void> {
  const { documents } = readModels.contents.contents();
  const pending = Object.values(documents["events"] ?? {}).filter((one) => one["status"] === "Pending");
  const inIndex = [...Object.keys(documents["waiting"] ?? {}), ...pending.map((one) => one["id"] as string)];
  const held = [...model.events.values()].filter(({ status, purgedAt }) =>
    purgedAt === null && (status === "Pending" || status === "WaitingRetry"));
  const ids = (list: readonly string[]) => [...list].sort().join();
  hold(ids(inIndex) === ids(held.map(({ id }) => id)),
    "the due index holds exactly the held events", () => `${inIndex.length} in the index, ${held.length} held`);
  for (const name of ["leases", "purges", "purging", "quarantine"]) {
    const left = Object.keys(documents[name] ?? {});
    hold(left.length === 0, "nothing else is left in the due index", () => `${name}: ${left.join()}`);
  }
}

/** Compares lists and totals with a naive count of the log. */
async function checkLists(node: Node, caller: Caller, model: Model): Promise<void> {
  await checkDestinations(node, caller, model);
  await checkAttempts(node, caller, model);
  const { tenantId } = caller;
  const { events } = node.services.queries;
  const own = [...model.events.values()].filter((event) => event.tenantId === tenantId && event.purgedAt === null);
  const order = { field: "acceptedAt", descending: true };
  const listed = new Map<string, EventView>();
  for (let page = 1; ; page += 1) {
    const { items, total } = await whole(await events.list(caller, {}, pageRequest({ quantity: 100, page, order })));
    hold(total === own.length, "totals agree with the log", () => `${tenantId}: ${total} listed, ${own.length} there`);
    for (const item of items) listed.set(item.id, item);
    if (items.length < 100) break;
  }
  hold(own.every(({ id }) => listed.has(id)), "accepted = succeeded + dead + cancelled + purged + waiting", () =>
    `${listed.size} listed, ${own.length} there`);
  for (const event of own) {
    const item = listed.get(event.id);
    const { status, retryCount, nextAttemptAt, payload, destinationId } = event;
    const expected = [status, retryCount, nextAttemptAt, payload, destinationId, tenantId];
    const shown = item && [
      item.status, item.currentRetryCount, item.nextAttemptAt, item.payload, item.destinationUrlId, item.tenantId,
    ];
    hold(JSON.stringify(shown) === JSON.stringify(expected), "lists agree with the log",
      () => `${event.id}: ${JSON.stringify(shown)}, not ${JSON.stringify(expected)}`);
  }
  const destinations = [undefined, ...new Set(own.map(({ destinationId }) => destinationId))];
  for (const destinationUrlId of destinations) {
    for (const status of eventStatuses) {
      const filter = { statuses: [status], destinationUrlId };
      const { total } = await events.list(caller, filter, pageRequest({ quantity: 1, order }));
      const there = own.filter((event) =>
        event.status === status && (destinationUrlId === undefined || event.destinationId === destinationUrlId));
      hold(total === there.length, "totals by status agree with the log",
        () => `${tenantId} ${destinationUrlId} ${status}: ${total} counted, ${there.length} there`);
    }
  }
}

async function checkDestinations(node: Node, caller: Caller, model: Model): Promise<void> {
  const order = { field: "createdAt", descending: false };
  const { destinations } = node.services.queries;
  const { total, items } = await destinations.list(caller, {}, pageRequest({ quantity: 100, order }));
  const own = [...model.destinations.values()].filter(({ tenantId, deleted }) =>
    tenantId === caller.tenantId && !deleted);
  const expected = own.map(({ id, active, circuit, limits }) =>
    `${id} ${active ? (circuit === "Open" ? "Suspended" : "Active") : "Inactive"} ${limits.at(-1)?.value}`);
  const shown = items.map(({ id, status, serverRateLimit }) => `${id} ${status} ${serverRateLimit}`);
  hold(total === own.length && shown.sort().join() === expected.sort().join(),
    "shown destinations agree with the log", () => `${shown.join()}, not ${expected.join()}`);
}

/** Compares messages with their deliveries. */
async function checkMessages(node: Node, caller: Caller, model: Model): Promise<void> {
  for (const { id, tenantId, deliveries, deleted } of model.messages.byId.values()) {
    if (tenantId !== caller.tenantId || deleted) continue;
    const known = deliveries.map(({ eventId }) => {
      const { status, purgedAt } = model.events.get(eventId)!;
      return purgedAt === null ? status : null;
    });
    const left = known.filter((status) => status !== null);
    if (deliveries.length > 0 && left.length === 0) continue;
    const sum = left.some((status) => !finished.includes(status)) ? "Pending"
      : left.includes("CriticalFailure") ? "CriticalFailure"
        : left.length > 0 && left.every((status) => status === "Cancelled") ? "Cancelled" : "Succeeded";
    const shown = await node.services.queries.messages.get(caller, id);
    const statuses = shown.deliveries.map(({ status }) => status);
    hold(shown.status === sum && statuses.join() === known.join(), "a message sums its deliveries up",
      () => `${id}: ${shown.status} ${statuses.join()}, not ${sum} ${known.join()}`);
  }
}

/** Compares the shown attempts of events with the log. */
async function checkAttempts(node: Node, caller: Caller, model: Model): Promise<void> {
  const order = { field: "number", descending: false };
  const own = [...model.events.values()].filter(({ tenantId, purgedAt }) =>
    tenantId === caller.tenantId && purgedAt === null);
  for (const { id, attempts } of own.filter((event) => event.attempts.length > 1).slice(0, lookedAt)) {
    const page = pageRequest({ quantity: 100, order });
    const { items } = await whole(await node.services.queries.events.attempts(caller, id, page));
    const shown = items.map(({ number, outcome, statusCode }) => `${number} ${outcome} ${statusCode}`);
    const expected = attempts.slice(0, 100).map(({ number, ending }) =>
      `${number} ${ending ? (ending.ok ? "succeeded" : "failed") : "unknown"} ${ending?.statusCode ?? null}`);
    hold(shown.join() === expected.join(), "shown attempts agree with the log",
      () => `${id}: ${shown.join()}, not ${expected.join()}`);
  }
}

/** Compares the read models with a fold of the log into empty ones. */
async function checkFold({ model, engines, fleet, complete }: EndParts): Promise<void> {
  const process = fleet.onlooker();
  const store = engines.log.client(process);
  const fresh = new InMemoryReadModels();
  const emails = new EmailOpener({ store, sealing, vault: new Vault(sealing) }, { max: 100 });
  const runner = projectorOf({
    log: store, models: fresh, clock: process.clock, prepare: (entries) => emails.prepare(entries),
    leavesOrphans: engines.log.keepsDeleted,
  });
  await complete(runner.rebuild());
  const [kept, folded] = [engines.readModels.contents.contents(), fresh.contents()];
  // A purge may have deleted the entries that began minutes: then the rest of the log has other places.
  for (const { name } of collections.filter(({ name }) => name !== moments.name)) {
    const [there, again] = [kept.documents[name] ?? {}, folded.documents[name] ?? {}];
    for (const key of new Set([...Object.keys(there), ...Object.keys(again)])) {
      hold(JSON.stringify(there[key]) === JSON.stringify(again[key]), "read models are a fold of the log",
        () => `${name} ${key}: ${JSON.stringify(there[key])}, folded anew ${JSON.stringify(again[key])}`);
    }
  }
  const [counted, again] = [engines.readModels.contents.statistics(), fresh.statistics()];
  for (const [key, { numbers }] of Object.entries(again)) {
    // Of purged events the statistics have more than the rest of the log.
    const there = (counted[key]?.["numbers"] ?? {}) as Readonly<Record<string, number>>;
    const less = Object.entries(numbers as object).filter(([name, number]) => !((there[name] ?? 0) >= number));
    hold(less.length === 0, "read models are a fold of the log", () => `${key}: ${JSON.stringify([there, numbers])}`);
  }
  checkIncidents(model, engines.readModels.contents.incidents(), fresh.incidents());
  const different = difference(kept.counters, folded.counters);
  hold(different.length === 0, "read models are a fold of the log", () => JSON.stringify(different.slice(0, 5)));
}

/** A purge deletes facts of which the incidents of its tenant still tell. */
function checkIncidents(model: Model, kept: Incidents, folded: Incidents): void {
  const purged = new Set([...model.events.values()].flatMap(({ tenantId, purgedAt }) =>
    (purgedAt === null ? [] : [tenantId])));
  for (const name of Object.keys(folded.documents)) {
    const [there, again] = [kept.documents[name] ?? {}, folded.documents[name] ?? {}];
    for (const key of new Set([...Object.keys(there), ...Object.keys(again)])) {
      const one = JSON.stringify(there[key]);
      const isPurged = purged.has((there[key] ?? again[key])?.["tenantId"] as string);
      hold(isPurged || one === JSON.stringify(again[key]), "read models are a fold of the log",
        () => `${name} ${key}: ${one}, folded anew ${JSON.stringify(again[key])}`);
    }
  }
  const isOfPurged = (scope: string) => [...purged].some((tenantId) => scope.includes(tenantId));
  const different = difference(kept.counters, folded.counters).filter(([scope]) => !isOfPurged(scope));
  hold(different.length === 0, "read models are a fold of the log", () => JSON.stringify(different.slice(0, 5)));
}

type Incidents = ReturnType<InMemoryReadModels["incidents"]>;
type Counters = Readonly<Record<string, Readonly<Record<string, number>>>>;

/** Scopes whose counters differ, with both values; numeric buckets come in order. */
function difference(a: Counters, b: Counters): readonly (readonly [scope: string, ...values: unknown[]])[] {
  const scopes = [...new Set([...Object.keys(a), ...Object.keys(b)])];
  return scopes
    .filter((scope) => JSON.stringify(a[scope]) !== JSON.stringify(b[scope]))
    .map((scope) => [scope, a[scope], b[scope]] as const);
}
