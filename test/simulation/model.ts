import { streams } from "../../src/kernel/domain/streams.ts";
import type { RecordedEvent } from "../../src/kernel/ports/event-store.ts";
import { Acts } from "./acts.ts";
import { hold } from "./broken.ts";
import { LogOutages } from "./log-outages.ts";
import { messageFacts, Messages } from "./messages.ts";
import { moves } from "./moves.ts";
import { Order } from "./order.ts";
import { checkTurn } from "./probe-turns.ts";
import type { SimulatedProcess } from "./process.ts";
import { finished, neverPurged, takeAway, type PurgeOrder } from "./purged.ts";
import {
  failuresInARow, hasFailed, inForce, statusCodeOf, type AttemptRecord, type DestinationRecord, type EventRecord,
  type Past, type TenantRecord,
} from "./records.ts";
import { Replays } from "./replays.ts";
import { ReservedNames } from "./reserved-names.ts";
import { settingsAfter } from "./settings.ts";
import { SigningSecrets } from "./signing-secrets.ts";
import { DestinationTerms } from "./terms.ts";

/** The settings of the relay, and the tolerances of the checks. */
export interface Rules {
  /** Waits after the 1st, 2nd, … failure; the last one repeats. */
  readonly scheduleMs: readonly number[];
  readonly jitter: number;
  /** The length of an attempt's lease. */
  readonly leaseMs: number;
  /** The longest time until a recorded outcome is counted. */
  readonly newsMs: number;
  /** The longest time until a possible attempt begins. */
  readonly promptMs: number;
  /** The additional time after a change of the destination's limit. */
  readonly relimitedMs: number;
  /** Whether one process at a time has the log; its start then ends the attempts of its predecessors. */
  readonly isAlone: boolean;
  /** The largest difference between two processes' clocks, ms. */
  readonly clocksApartMs: number;
}

type Data = Readonly<Record<string, unknown>> & {
  readonly eventId: string;
  readonly from: string;
  readonly to: string;
  readonly attempt: number;
  readonly at: string;
};

/** A second, short statement of the specification: checks each durable fact, and knows the required final state. */
export class Model {
  readonly events = new Map<string, EventRecord>();
  /** Events whose id a later event has now. */
  readonly former: EventRecord[] = [];
  readonly destinations = new Map<string, DestinationRecord>();
  readonly tenants = new Map<string, TenantRecord>();
  readonly #acts = new Acts();
  /** When something was last written, ms of the simulation. */
  changedAt = 0;
  /** The position of the last entry in the log. */
  head = "";
  /** The newest event of a stream. */
  readonly #ofStream = new Map<string, EventRecord>();
  readonly outages: LogOutages;
  readonly replays = new Replays();
  readonly order: Order;
  readonly terms: DestinationTerms;
  readonly secrets: SigningSecrets;
  readonly messages: Messages;
  readonly names = new ReservedNames(this.tenants);
  readonly #now: () => number;
  readonly rules: Rules;

  constructor(now: () => number, rules: Rules) {
    [this.#now, this.rules, this.outages] = [now, rules, new LogOutages(now)];
    this.messages = new Messages(now, this);
    [this.terms, this.secrets] = [new DestinationTerms(now, rules.newsMs), new SigningSecrets(now, rules.newsMs)];
    this.order = new Order({ now, newsMs: rules.newsMs, roundMs: rules.relimitedMs });
  }

  /** All events that were ever accepted. */
  get accepted(): readonly EventRecord[] {
    return [...this.former, ...this.events.values()];
  }

  /** Events with work left. Waiting events of inactive destinations are held, and have none. */
  unfinished(): readonly EventRecord[] {
    return [...this.events.values()].filter(({ status, deleted, destinationId, test }) => {
      if (deleted || finished.includes(status)) return false;
      const { active = true, deleted: gone = false } = this.destinations.get(destinationId) ?? {};
      return status === "Processing" || active || gone || test;
    });
  }

  /** Destinations that should deliver and whose circuit is open. */
  suspended(): readonly DestinationRecord[] {
    return [...this.destinations.values()].filter(({ deleted, active, circuit }) => {
      return !deleted && active && circuit === "Open";
    });
  }

  committed(entries: readonly RecordedEvent[], by: SimulatedProcess): void {
    this.changedAt = this.#now();
    for (const entry of entries) {
      const kind = entry.stream.slice(0, entry.stream.indexOf("-"));
      const data = entry.data as Data;
      this.head = entry.position;
      if (entry.type === "EventAccepted") this.#accept(entry, data);
      else if (entry.type === "MessageAccepted") this.#message(entry, data);
      else if (messageFacts.has(entry.type)) this.messages.committed(entry);
      else if (kind === "event") this.#event(entry, data, by);
      else if (kind === "destination") this.#destination(entry, data);
      else if (kind === "circuit") this.#circuit(entry.type, data);
      else if (kind === "tenant") this.#tenant(entry.type, data);
      else if (kind === "subscriptions") this.messages.subscribed(entry);
      else if (kind === "replay") this.replays.committed(entry);
      else if (kind === "replays" || kind === "cancellations") this.#acts.reported(entry);
      else if (entry.type === "EventsPurged") takeAway(data as unknown as PurgeOrder, this, this.#now());
      else if (kind === "tenantName" || kind === "email") this.names.committed(entry);
    }
    const event = this.#ofStream.get(entries[0]?.stream ?? "");
    if (event) hold(event.status !== "Failed", "a failure is recorded with its next step", () => event.id);
  }

  deleted(stream: string): void {
    if (!stream.startsWith("event-") || this.messages.deleted(stream)) return;
    const event = this.#ofStream.get(stream);
    const status = event?.status ?? "unknown";
    hold(event != null && event.purgedAt !== null, "only purged events are deleted", () => `${stream} is ${status}`);
    event.deleted = true;
  }

  #event({ type, position, metadata }: RecordedEvent, data: Data, by: SimulatedProcess): void {
    const event = this.events.get(data.eventId);
    const where = () => `${type} of ${data.eventId}: ${data.from} to ${data.to}, attempt ${data.attempt}`;
    hold(event !== undefined && !event.deleted, "facts belong to existing events", where);
    hold(event.status === data.from, "a fact leaves the current status", () => `${where()}, was ${event.status}`);
    const attempt = event.attempts[data.attempt - 1];
    const isNewest = data.attempt === event.attempts.length;
    const stays = data.from === data.to;
    hold(stays || moves.has(`${data.from}>${data.to}`), "states move only as specified", where);
    event.status = data.to;
    if (!stays) event.movedAt = this.#now();
    if (!stays) event.movedIn = position;
    if (!stays && finished.includes(data.from)) event.leftIn = position;
    if (!stays && finished.includes(data.to)) this.order.finishes(event);
    switch (type) {
      case "DeliveryAttemptStarted":
        hold(data.to === "Processing" && !stays, "an attempt's start leads to Processing", where);
        hold(data.attempt === event.attempts.length + 1, "attempts are numbered consecutively", where);
        hold(data.from === "Pending" || (event.nextAttemptAt ?? "") <= data.at, "no attempt before its time", where);
        this.#begins(event, data, where);
        this.order.begins(event, this.events.values());
        event.attempts.push({
          number: data.attempt, by, worker: String(data["worker"]), url: String(data["url"]),
          authType: data["authType"] as string | null, probe: data["probe"] === true,
          claimedAt: this.#now(), givenUp: false,
        });
        return;
      case "DeliverySucceeded":
        hold(attempt !== undefined && !attempt.ending, "an attempt ends once", where);
        hold(data.to === (this.#isSettledBy(event, data) ? "Succeeded" : data.from),
          "a success leads to Succeeded unless cancelled", where);
        this.#over(event, attempt, true);
        attempt.ending = { ok: true, reason: null, statusCode: statusCodeOf(data) };
        if (!stays) event.nextAttemptAt = null;
        return;
      case "DeliveryFailed": {
        hold(attempt !== undefined && !attempt.ending, "an attempt ends once", where);
        const unknown = data["reason"] === "outcome unknown";
        hold(!unknown || !attempt.givenUp, "an attempt is given up once", where);
        const heldFor = this.#now() - this.outages.leaseBegan(attempt.claimedAt, this.rules.leaseMs);
        const isOver = heldFor >= this.rules.leaseMs || (this.rules.isAlone && attempt.by.crashed);
        hold(!unknown || isOver, "an attempt is given up after its lease", () => `${where()}, after ${heldFor} ms`);
        const isOwn = unknown || data["reason"] === "not sent";
        this.#over(event, attempt, isOwn || statusCodeOf(data) === 429 ? null : false);
        if (unknown) attempt.givenUp = true;
        else attempt.ending = { ok: false, reason: String(data["reason"]), statusCode: statusCodeOf(data) };
        const counts = isNewest && data.from === "Processing";
        hold(counts !== stays, "a failure moves its event unless it is late", where);
        if (counts) event.retryCount += 1;
        if (counts) event.ownFailures = isOwn ? event.ownFailures + 1 : 0;
        hold(data["retryCount"] === event.retryCount, "failures are counted", where);
        return;
      }
      case "RetryScheduled":
        this.#retry(event, data, where);
        return;
      case "DeliveryExhausted": {
        const gone = data["reason"] === "gone";
        const last = event.attempts.at(-1)?.ending;
        hold(gone === (last?.statusCode === 410), "only 410 ends an event at once", where);
        const least = event.test ? 1 : Math.min(...this.#maxTrys(event));
        hold(gone || event.retryCount >= least, "given up only after maxTrys", where);
        event.nextAttemptAt = null;
        return;
      }
      case "RetryBroughtForward":
        hold(data.from === "WaitingRetry" && stays, "states move only as specified", where);
        event.nextAttemptAt = String(data["nextAttemptAt"]);
        return;
      case "EventReplayed":
        event.retryCount = 0;
        event.ownFailures = 0;
        event.nextAttemptAt = String(data["nextAttemptAt"]);
        this.order.join(event, position, data["slot"] as number | undefined);
        this.replays.putToWork(event, event.id, { metadata });
        hold(!event.test, "states move only as specified", where);
        if (data["mode"] === "resend") return void (event.resentAfter = event.attempts.length);
        hold(data.from === "CriticalFailure", "states move only as specified", where);
        this.#acts.of(metadata).replays += 1;
        return;
      case "EventCancelled":
        hold(data.to === "Cancelled", "a cancellation leads to Cancelled", where);
        hold(data["reason"] === "requested" || this.destinations.get(event.destinationId)?.deleted === true,
          "events are cancelled only on request or after a deletion", where);
        event.nextAttemptAt = null;
        this.#acts.of(metadata).cancellations += 1;
        return;
      default:
        hold(false, "facts are of known types", where);
    }
  }

  /** Whether a success settles its event: not one of before the last resend, nor of a cancelled event. */
  #isSettledBy({ resentAfter }: EventRecord, { from, attempt }: Data): boolean {
    return from !== "Cancelled" && attempt > resentAfter;
  }

  /** Checks that an attempt begins in time, under settings that its destination has or had. */
  #begins(event: EventRecord, { at, probe, ...data }: Data, where: () => string): void {
    const destination = this.destinations.get(event.destinationId);
    if (!destination) return;
    const settings = destination.settings[Number(data["destinationRevision"])];
    hold(settings?.url === data["url"] && settings?.authType === data["authType"],
      "an attempt names the settings that it is made under", where);
    const now = this.#now();
    const dueSince = now - (Date.parse(at) - Date.parse(event.nextAttemptAt ?? at));
    const late = now - Math.max(dueSince, this.#possibleSince(destination), this.order.since(event));
    this.terms.begins(event, String(data["worker"]));
    this.secrets.begins(event.tenantId, { ...data, at }, where);
    hold(probe === true || late <= this.rules.promptMs + this.terms.patienceMs(destination.id), "nothing is overdue",
      () => `${where()}: ${late.toFixed(0)} ms late`);
    if (probe === true && destination.circuit !== "Closed") destination.lastProbe = event.id;
    destination.underWay += 1;
  }

  /** The time since which a destination permits attempts, as far as the log tells; ms of the simulation. */
  #possibleSince({ id, open, closed, limits, fullUntil, pausedUntil }: DestinationRecord): number {
    const since = (past: Past<unknown>) => past.at(-1)?.since ?? -Infinity;
    const byLimits = Math.max(fullUntil, since(limits) + this.rules.relimitedMs, this.terms.possibleSince(id));
    return Math.max(byLimits, pausedUntil, since(open), since(closed));
  }

  /** `ok` is null when the outcome says nothing about the receiver. */
  #over(event: EventRecord, attempt: AttemptRecord, ok: boolean | null): void {
    const destination = this.destinations.get(event.destinationId);
    if (!destination) return;
    const now = this.#now();
    if (ok !== null && !event.test) destination.outcomes.push({ at: now, ok });
    if (attempt.givenUp) return;
    if (destination.underWay >= (destination.limits.at(-1)?.value ?? 0)) destination.fullUntil = now;
    destination.underWay -= 1;
  }

  #accept({ stream, position, metadata }: RecordedEvent, data: Data): EventRecord {
    const { eventId: id, at: acceptedAt } = data;
    this.#begin(stream);
    const namesake = this.events.get(id);
    if (namesake) this.former.push(namesake);
    const destinationId = String(data["destinationId"]);
    const tenantId = String(data["tenantId"]);
    const owner = this.destinations.get(destinationId)?.tenantId;
    hold(owner === tenantId, "an event goes to its tenant's destination", () => `${id} to ${destinationId}`);
    const event: EventRecord = {
      id, tenantId, destinationId, acceptedAt, since: this.#now(), movedAt: this.#now(), attempts: [],
      status: "Pending", retryCount: 0, ownFailures: 0, resentAfter: 0,
      idempotencyKey: data["idempotencyKey"] as string | null,
      routed: (data["routed"] ?? null) as EventRecord["routed"], payload: String(data["payload"]), test: !!data["test"],
      nextAttemptAt: acceptedAt, movedIn: position, leftIn: "", purgedAt: null, deleted: false,
      place: position, slot: null, line: null,
    };
    this.order.join(event, position, data["slot"] as number | undefined);
    this.events.set(id, event);
    this.#ofStream.set(stream, event);
    const source = data["sourceEventId"] as string | undefined;
    if (source !== undefined) this.replays.made(event, source, this.events.get(source), { metadata });
    return event;
  }

  /** A stream begins: an earlier event of it was purged and is deleted. */
  #begin(stream: string): void {
    const before = this.#ofStream.get(stream);
    hold(!before || (before.purgedAt !== null && before.deleted), "an event begins once", () => stream);
    this.messages.begin(stream);
  }

  /** Accepts the deliveries of a message, each as an event; one without a payload is given up at once. */
  #message(entry: RecordedEvent, data: Data): void {
    this.#begin(entry.stream);
    const { id: messageId, tenantId, payload, deliveries } = this.messages.accepted(entry);
    for (const { eventId, subscriptionId, destinationId, slot, problem, ...mapped } of deliveries) {
      const event = this.#accept({ ...entry, stream: streams.event(eventId) }, {
        ...data, eventId, tenantId, destinationId, slot, idempotencyKey: null, routed: { messageId, subscriptionId },
        payload: mapped.payload ?? payload,
      });
      if (problem === null) continue;
      Object.assign(event, { status: "CriticalFailure", nextAttemptAt: null });
      this.order.finishes(event);
    }
  }

  #retry(event: EventRecord, data: Data, where: () => string): void {
    const { scheduleMs, jitter } = this.rules;
    hold(!event.test && event.retryCount < Math.max(...this.#maxTrys(event)), "no retry beyond maxTrys", where);
    const wait = scheduleMs[Math.min(event.retryCount, scheduleMs.length) - 1] ?? 0;
    const planned = Date.parse(String(data["nextAttemptAt"])) - Date.parse(data.at);
    const answer = event.attempts.at(-1)?.call?.result;
    const ending = event.attempts.at(-1)?.ending;
    const asked = ending && answer?.answered && (answer.statusCode === 429 || answer.statusCode === 503)
      ? Number(answer.headers["retry-after"] ?? 0) * 1000
      : 0;
    const [least, most] = event.ownFailures === 1
      ? [0, 0]
      : [Math.max(wait, asked), Math.max(wait * (1 + jitter), asked)];
    hold(planned >= least && planned <= most, "the retry schedule is kept", () =>
      `${where()}: ${planned} ms after failure ${event.retryCount}, not ${least} to ${most}`);
    event.nextAttemptAt = String(data["nextAttemptAt"]);
  }

  #maxTrys({ tenantId }: EventRecord): number[] {
    return inForce(this.tenants.get(tenantId)?.maxTrys ?? [], this.#now() - 30_000);
  }

  /** Runs a requested purge of a tenant, and checks how far it counted. */
  async whilePurging(tenantId: string, purge: () => Promise<void>): Promise<void> {
    const { head } = this;
    const tenant = this.tenants.get(tenantId) ?? neverPurged();
    const asked = this.#now();
    tenant.purgesAsked.add(asked);
    await purge().finally(() => tenant.purgesAsked.delete(asked));
    const { purgedUpTo } = tenant;
    hold(purgedUpTo >= head, "a purge takes all events finished before it", () => `${purgedUpTo}, asked at ${head}`);
  }

  #tenant(type: string, data: Data): void {
    const id = String(data["tenantId"]);
    const since = this.#now();
    if (type === "TenantCreated") {
      this.tenants.set(id, { id, nameHash: "", emailHashes: new Set(), maxTrys: [], timers: [], ...neverPurged() });
    }
    this.names.taken(id, data);
    this.secrets.learn(id, type, data);
    if (type === "TenantCreated" || type === "TenantDeliveryPolicyChanged") {
      this.tenants.get(id)?.maxTrys.push({ since, value: Number(data["maxTrys"]) });
      this.tenants.get(id)?.timers.push({ since, value: Number(data["circuitBreakerTimer"]) });
    }
  }

  #destination({ type, revision }: RecordedEvent, data: Data): void {
    const [id, limit] = [String(data["destinationId"]), Number(data["serverRateLimit"])];
    const since = this.#now();
    if (type === "DestinationRegistered") {
      this.destinations.set(id, {
        id, tenantId: String(data["tenantId"]), limits: [{ since, value: limit }],
        open: [{ since, value: true }], closed: [{ since, value: true }], probes: [{ since, value: null }],
        outcomes: [], underWay: 0, fullUntil: -Infinity, pauses: [], pausedUntil: -Infinity, loggedPause: null,
        lastProbe: null, circuit: "Closed", openUntil: null, failures: 0,
        deleted: false, active: true, settings: [],
      });
    }
    const destination = this.destinations.get(id);
    hold(destination !== undefined, "facts belong to existing destinations", () => id);
    this.order.learn(id, type, data);
    this.terms.learn(id, type, data);
    destination.settings[revision] = settingsAfter(destination.settings.at(-1), type, data as object);
    if (type === "DestinationRateLimitChanged") destination.limits.push({ since, value: limit });
    if (type === "DestinationActivated" || type === "DestinationDeactivated" || type === "DestinationDeleted") {
      destination.deleted ||= type === "DestinationDeleted";
      destination.active = type === "DestinationActivated";
      destination.open.push({ since, value: destination.active && !destination.deleted });
    }
  }

  #circuit(type: string, data: Data): void {
    const destination = this.destinations.get(String(data["destinationId"]));
    hold(destination !== undefined, "facts belong to existing destinations", () => String(data["destinationId"]));
    const since = this.#now();
    const before = destination.circuit;
    const where = () => `${type} of ${destination.id}, was ${before} after ${destination.failures} failures`;
    const failures = Number(data["failures"]);
    const probe = data["probe"] as { readonly eventId: string } | null;
    const probing = destination.probes.at(-1)?.value ?? null;
    const isOfEvent = ["CircuitCounted", "CircuitOpened", "CircuitProbeClaimed"].includes(type);
    const known = this.events.get(data.eventId)?.destinationId === destination.id;
    hold(known || !isOfEvent, "a circuit's fact names the event that caused it", () => `${where()}: ${data.eventId}`);
    const pausedUntil = (data["pausedUntil"] ?? null) as string | null;
    const pauses = type === "CircuitCounted" && failures === destination.failures && pausedUntil !== null
      && pausedUntil > (destination.loggedPause ?? "");
    const isCounted = type === "CircuitOpened" || (type === "CircuitCounted" && failures > 0 && !pauses);
    const named = () => [...this.former, this.events.get(data.eventId)].filter((one) => one?.id === data.eventId);
    hold(!isCounted || hasFailed(named()), "a circuit counts only failures of its receiver", where);
    if (type === "CircuitOpened") {
      const most = inForce(this.tenants.get(destination.tenantId)?.maxTrys ?? [], since - 30_000);
      const due = before === "Closed" ? failures >= Math.min(...most) : probing !== null;
      hold(due, "a circuit opens only at maxTrys or after a probe", where);
      const openFor = (Date.parse(String(data["openUntil"])) - Date.parse(data.at)) / 1000;
      const timers = inForce(this.tenants.get(destination.tenantId)?.timers ?? [], since - 30_000);
      hold(timers.includes(openFor), "a circuit stays open for the configured time", () => `${where()}: ${openFor} s`);
    } else if (type === "CircuitCounted" && !pauses) {
      const follows = failures === 0 || failures === destination.failures + 1;
      hold(before === "Closed" && follows, "a circuit counts failures one by one", where);
      const most = inForce(this.tenants.get(destination.tenantId)?.maxTrys ?? [], since - 30_000);
      hold(failures < Math.max(...most), "a circuit opens no later than at maxTrys", where);
    } else if (type === "CircuitProbeClaimed") {
      hold(before !== "Closed", "only circuits that are not closed are probed", where);
      if (probing !== null) destination.lastProbe = probing;
      const check = this.order.has(destination.id) ? this.order.checkProbe : checkTurn;
      check(destination, data, this.events.values(), { ...this.rules, now: since, where });
    } else if (type === "CircuitHalfOpened") {
      hold(before === "Open", "only open circuits are half-opened", where);
      if (probing !== null) destination.lastProbe = probing;
    } else if (type === "CircuitClosed") {
      destination.lastProbe = null;
      // A person closed the circuit, and with it the pause.
      if (!known) Object.assign(destination, { pausedUntil: since, pauses: [] });
    }
    if (before === "Closed" && failures > 0 && !pauses) {
      const most = failuresInARow(destination, since, this.rules.newsMs);
      const what = () => `${where()}: ${failures}, not ${most}`;
      hold(failures <= most, "failures are counted from the last success", what);
    }
    if (before === "Open" && (type === "CircuitProbeClaimed" || type === "CircuitHalfOpened")) {
      const dueSince = since - (Date.parse(data.at) - Date.parse(destination.openUntil ?? data.at));
      const late = since - Math.max(dueSince, this.#possibleSince(destination));
      hold(late <= this.rules.promptMs + this.terms.patienceMs(destination.id), "nothing is overdue",
        () => `${where()}: ${late.toFixed(0)} ms late`);
    }
    if (pausedUntil !== null && pausedUntil !== destination.loggedPause) {
      const until = since + Date.parse(pausedUntil) - Date.parse(data.at);
      destination.pauses.push({ by: null, from: since, until });
      destination.pausedUntil = Math.max(destination.pausedUntil, until);
    }
    destination.loggedPause = pausedUntil;
    destination.openUntil = data["openUntil"] as string | null;
    destination.circuit = String(data["position"]);
    destination.failures = failures;
    destination.closed.push({ since, value: destination.circuit === "Closed" });
    destination.probes.push({ since, value: probe?.eventId ?? null });
  }
}
