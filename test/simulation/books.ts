import { createHmac } from "node:crypto";
import type { RecordedEvent } from "../../src/kernel/ports/event-store.ts";
import { hold } from "./broken.ts";
import type { MessageRecord } from "./messages.ts";
import type { Model } from "./model.ts";
import type { SimulatedProcess } from "./process.ts";
import type { SimulatedQueue } from "./queue.ts";
import type { Call, CallWatcher } from "./receivers.ts";
import { inForce, type EventRecord } from "./records.ts";
import { textIn } from "./stand-ins.ts";

interface Told {
  readonly eventId: string;
  readonly key: string | undefined;
  readonly tenantId: string;
  readonly payload: string;
}

/** Compares the answers to producers and the calls of receivers with the {@link Model}, as they happen. */
export class Books implements CallWatcher {
  /** Signing secrets that were ever in force, by tenant. */
  readonly #secrets = new Map<string, Set<string>>();
  readonly calls: Call[] = [];
  readonly #model: Model;
  readonly #queue: SimulatedQueue;
  readonly #now: () => number;
  /** The longest time until a fact has reached all processes that need it, ms. */
  readonly #newsMs: number;
  /** The longest time of a claim on its way, without the stall of its claimer, ms. */
  readonly #claimMs: number;
  readonly #underWay = new Map<string, Set<Call>>();
  /** The event that a producer got 202 for, by tenant and key. */
  readonly #byKey = new Map<string, EventRecord | MessageRecord>();

  constructor(
    parts: { model: Model; queue: SimulatedQueue; now: () => number; newsMs: number; claimMs: number },
  ) {
    this.#model = parts.model;
    this.#queue = parts.queue;
    this.#now = parts.now;
    this.#newsMs = parts.newsMs;
    this.#claimMs = parts.claimMs;
  }

  /** Learns the secrets for signing requests from the log. */
  learn(entries: readonly RecordedEvent[]): void {
    for (const { data } of entries) {
      const { tenantId = "", webhookSecret } = data as { readonly tenantId?: string; readonly webhookSecret?: string };
      if (webhookSecret === undefined) continue;
      this.#secrets.set(tenantId, (this.#secrets.get(tenantId) ?? new Set()).add(textIn(webhookSecret)));
    }
  }

  /** A producer got 202. */
  accepted(told: Told): void {
    const event = this.#told(told);
    if (told.key === undefined) return;
    const name = `${told.tenantId} ${told.key}`;
    hold(this.#byKey.get(name) !== event, "one event for a key", () => `${told.key} was told 202 twice: ${event.id}`);
    this.#byKey.set(name, event);
  }

  /** A producer got 200. */
  duplicate(told: Told): void {
    this.#told(told);
  }

  #told(told: Told): EventRecord | MessageRecord {
    const event = this.#model.events.get(told.eventId) ?? this.#model.messages.byId.get(told.eventId);
    hold(event !== undefined, "no acknowledged event is lost", () => told.eventId);
    hold(event.tenantId === told.tenantId, "no tenant sees another's data", () => told.eventId);
    hold(event.idempotencyKey === (told.key ?? null), "an event keeps its key", () => told.eventId);
    return event;
  }

  /** Checks facts as they become durable: only the owner of a destination may claim an attempt or a probe. */
  claimed(entries: readonly RecordedEvent[], by: SimulatedProcess): void {
    for (const { type, data } of entries) {
      if (type === "DeliveryAttemptStarted") this.#mayBegin(data as { readonly destinationId: string }, by);
      if (type !== "DeliveryAttemptStarted" && type !== "CircuitProbeClaimed") continue;
      const { eventId, destinationId } = data as { readonly eventId: string; readonly destinationId: string };
      const until = this.#queue.hadUntil(by, destinationId);
      hold(until >= this.#now() - this.#claimMs, "only a destination's owner claims its attempts",
        () => `${eventId} by ${by.name}, which had it until ${until.toFixed(0)}`);
    }
  }

  /** A process received a result: a 429 asks for a pause before the next attempt. */
  heard({ process, eventId, result }: Call): void {
    const destination = this.#model.destinations.get(this.#model.events.get(eventId)?.destinationId ?? "");
    if (!destination || !result?.answered || result.statusCode !== 429) return;
    const from = this.#now();
    const until = from + Number(result.headers["retry-after"] ?? 1) * 1000;
    destination.pauses.push({ by: process, from, until });
    destination.pausedUntil = Math.max(destination.pausedUntil, until);
  }

  #mayBegin({ destinationId }: { readonly destinationId: string }, by: SimulatedProcess): void {
    const destination = this.#model.destinations.get(destinationId);
    const now = this.#now();
    const { clocksApartMs } = this.#model.rules;
    // A pause known from the log was decided before its fact was written, by the clock of another process.
    const unsureMs = clocksApartMs + this.#newsMs;
    const pause = destination?.pauses.find(({ by: whose, from, until }) =>
      (whose === null || whose === by) && now > from + this.#newsMs && now < until - (whose ? 0 : unsureMs));
    hold(pause === undefined, "a pause that a receiver asked for is kept", () =>
      `${destinationId}: from ${pause?.from.toFixed(0)} to ${pause?.until.toFixed(0)}, now ${now.toFixed(0)}`);
  }

  sent(call: Call): void {
    const event = this.#model.events.get(call.eventId);
    const what = `${call.eventId} attempt ${call.attempt} by ${call.process.name}`;
    this.calls.push(call);
    const attempt = event?.attempts[call.attempt - 1];
    // A purged event may have been accepted again before the request was sent.
    const before = this.#model.former.some(({ id }) => id === call.eventId);
    hold(attempt !== undefined || before, "no request is sent without a claim", () => what);
    if (!event || !attempt) return;
    hold(before || attempt.call === undefined, "one request for an attempt", () => what);
    attempt.call = call;
    hold(call.body === event.payload || before, "the stored bytes are sent", () => what);
    const id = event.routed?.messageId ?? event.id;
    hold(call.webhookId === id || before, "a delivery goes under the id of its message", () => what);
    hold(call.url === attempt.url, "a request goes where the claim says", () => what);
    hold(attempt.by === call.process, "no request is sent without a claim", () => what);
    hold(call.host.startsWith(`${event.tenantId}.`), "no tenant's events go to another's receiver", () => what);
    const signatures = [...(this.#secrets.get(event.tenantId) ?? [])].map((secret) =>
      `sha256=${createHmac("sha256", secret).update(call.body).digest("hex")}`);
    hold(signatures.includes(call.signature), "requests are signed for their tenant", () => what);
    this.#proves(call, attempt.authType, what);
    this.#mayGo(event, attempt.probe, attempt.claimedAt, what);
    this.#hasRoom(event.destinationId, call, attempt.claimedAt, what);
  }

  #proves({ process, proof: { apiKey, bearer } }: Call, authType: string | null, what: string): void {
    const shown = apiKey !== undefined ? "ApiKey" : bearer !== undefined ? "JwtBearer" : null;
    hold(shown === authType, "a request proves who calls as its claim says", () => `${what}: ${shown}`);
    const turnedDown = bearer === undefined ? undefined : this.calls.find((other) =>
      other.process === process && other.proof.bearer === bearer && other.result?.answered &&
      other.result.statusCode === 401);
    hold(turnedDown === undefined, "a rejected token is not sent again", () => `${what}: ${bearer}`);
  }

  over(call: Call): void {
    const event = this.#model.events.get(call.eventId);
    this.#underWay.get(event?.destinationId ?? "")?.delete(call);
    const attempt = event?.attempts[call.attempt - 1];
    if (attempt?.call !== call) return;
    const tookMs = this.#now() - attempt.claimedAt;
    hold(tookMs <= this.#model.rules.leaseMs, "a request ends before its lease", () =>
      `${call.eventId} attempt ${call.attempt}: ${tookMs.toFixed(0)} ms after its claim`);
  }

  #mayGo(event: EventRecord, probe: boolean, claimedAt: number, what: string): void {
    const destination = this.#model.destinations.get(event.destinationId);
    // A test event goes in any state of its destination.
    if (!destination || event.test) return;
    const since = claimedAt - this.#newsMs;
    hold(inForce(destination.open, since).includes(true), "no request goes to an inactive or deleted destination",
      () => `${what}, claimed at ${claimedAt.toFixed(0)}: ${JSON.stringify(destination.open.slice(-3))}`);
    if (probe) {
      hold(inForce(destination.probes, since).includes(event.id), "a probe is claimed first", () => what);
      // When the circuit is closed meanwhile, an open probe becomes an ordinary attempt.
      const closedAt = destination.closed.findLast(({ value }) => value)?.since ?? -Infinity;
      const others = [...(this.#underWay.get(destination.id) ?? [])].filter(({ eventId, attempt }) => {
        const other = this.#model.events.get(eventId)?.attempts[attempt - 1];
        return other?.probe === true && other.claimedAt >= closedAt && !this.#isCutOff(other.by);
      });
      const beside = () => `${what} beside ${others.map((one) => one.eventId).join()}`;
      hold(others.length === 0, "one probe at a time", beside);
    } else {
      const { closed } = destination;
      hold(inForce(closed, since).includes(true), "only probes are sent while the circuit is not closed",
        () => `${what}, claimed at ${claimedAt.toFixed(0)}: ${JSON.stringify(closed.slice(-3))}`);
    }
  }

  #hasRoom(destinationId: string, call: Call, claimedAt: number, what: string): void {
    const underWay = this.#underWay.get(destinationId) ?? new Set();
    this.#underWay.set(destinationId, underWay.add(call));
    const destination = this.#model.destinations.get(destinationId);
    if (!destination) return;
    const limit = Math.max(...inForce(destination.limits, claimedAt - this.#newsMs));
    for (const one of underWay) if (this.#isCutOff(one.process)) underWay.delete(one);
    if (underWay.size <= limit) return;
    // A new owner cannot know of attempts that its predecessor was claiming when its membership ended.
    const handedOverAt = this.#queue.handedOverAt(destinationId) ?? 0;
    const racing = [...underWay].filter((one) => {
      const since = this.#model.events.get(one.eventId)?.attempts[one.attempt - 1]?.claimedAt ?? 0;
      return one.process !== call.process && Math.abs(since - handedOverAt) <= this.#newsMs;
    });
    hold(underWay.size - racing.length <= limit, "a destination's limit is kept", () =>
      `${what}: ${underWay.size} under way (${racing.length} racing a hand-over), ${limit} allowed`);
  }

  /** Whether a process, and with it its requests, is known to have ended: only certain if it runs alone. */
  #isCutOff(process: SimulatedProcess): boolean {
    return this.#model.rules.isAlone && process.crashed;
  }
}
