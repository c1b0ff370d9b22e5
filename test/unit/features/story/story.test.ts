import { expect } from "chai";
import { newCircuit, type Circuit, type CircuitEvent } from "../../../../src/features/circuits/facts.ts";
import { decide, type WebhookCommand } from "../../../../src/features/events/decide.ts";
import {
  evolve, type WaitReason, type WebhookEvent, type WebhookState,
} from "../../../../src/features/events/facts.ts";
import type { Cause, Chapter, StoryFacts, Told } from "../../../../src/features/story/story.ts";
import { tellStory } from "../../../../src/features/story/tell.ts";
import type { Actor, DomainEvent } from "../../../../src/kernel/domain/domain-event.ts";
import { timestamp } from "../../../../src/kernel/domain/time.ts";
import { position } from "../../../support/position.ts";
import { metadata } from "../../../support/recorded.ts";

const tenantId = "0198f2a1-6c3e-7b54-9d0f-2a8b6c4d1e01";
const destinationId = "0198f2a1-6c3e-7b54-9d0f-2a8b6c4d1e03";
const senderId = "0198f2a1-6c3e-7b54-9d0f-2a8b6c4d1e0b";
const eventId = "019c167f-c818-87c8-8ca8-64b1d472e0ea";
const other = "019c167f-c818-87c8-8ca8-64b1d472e0eb";
const start = Date.UTC(2026, 0, 31, 12);
/** A time in seconds after the start. */
const second = (at: number) => timestamp(start + at * 1_000);
const user: Actor = { type: "user", id: senderId, role: "Developer" };
const service: Actor = { type: "service", part: "delivery" };
const answer = (statusCode: number) => ({ statusCode, headers: {}, body: "", truncated: false });

/** How an attempt fails. */
interface Failure {
  readonly statusCode: number;
  readonly retryAfterMs: number | null;
  readonly maxTrys: number;
  readonly retryOn?: readonly string[];
  readonly deleted: boolean;
  readonly lost: boolean;
}

const failure: Failure = { statusCode: 500, retryAfterMs: null, maxTrys: 10, deleted: false, lost: false };

type Neighbour = Exclude<keyof StoryFacts, "routed">;

/** A log of an event and its neighbours, written fact by fact; each call is one second later unless told. */
class Log {
  readonly facts = {
    event: [], destination: [], circuit: [], tenant: [], sender: [],
  } as { -readonly [Of in Neighbour]: StoryFacts[Of][number][] };
  #count = 0;
  #state: WebhookState;
  #circuit: Circuit = newCircuit(destinationId, tenantId);
  now = 0;

  constructor() {
    const settings = { url: "https://r.example/", serverRateLimit: 1, auth: null, ingestTokenHash: "h" };
    const data = { destinationId, tenantId, at: this.at, ...settings };
    this.#write("destination", user, { type: "DestinationRegistered", data });
  }

  get at() {
    return second(this.now);
  }

  at_(at: number): this {
    this.now = at;
    return this;
  }

  /** Facts of the event, by a command. */
  event(command: WebhookCommand, actor: Actor = service): this {
    for (const fact of decide(this.#state, command)) {
      this.#state = evolve(this.#state, fact);
      this.#write("event", actor, fact);
    }
    return this;
  }

  accept(): this {
    const event = {
      eventId, tenantId, destinationId, apiKeyId: other, senderId, senderRevision: 0, idempotencyKey: null,
      payload: "{}", original: null,
    };
    return this.event({ type: "Accept", event, at: this.at }, { type: "apiKey", id: other });
  }

  claim(waitedFor?: WaitReason, probe = false): this {
    const claim = {
      leaseUntil: second(this.now + 20), worker: "w", url: "https://r.example/", authType: null,
      destinationRevision: 0, secretFingerprint: "f", probe, ...(waitedFor && { waitedFor }),
    };
    return this.event({ type: "StartAttempt", with: claim, at: this.at });
  }

  succeed(attempt = this.#newest): this {
    const outcome = { attempt, durationMs: 9, requestHeaders: {}, answer: answer(204) };
    return this.event({ type: "Succeed", ...outcome, at: this.at });
  }

  fail(how: Partial<Failure> = {}): this {
    const { statusCode, retryAfterMs, maxTrys, retryOn, deleted, lost } = { ...failure, ...how };
    return this.event({
      type: "Fail", attempt: this.#newest, durationMs: 9, reason: lost ? "outcome unknown" : "status", error: "failed",
      requestHeaders: {}, answer: lost ? null : answer(statusCode), retryAfterMs,
      policy: { scheduleMs: [10_000], jitter: 0, maxTrys, retryOn }, destinationDeleted: deleted, random: 0,
      at: this.at,
    });
  }

  get #newest(): number {
    return this.#state?.attempts ?? 0;
  }

  circuit(type: CircuitEvent["type"], change: Partial<Circuit>, ofEvent: string | null = other, actor = service): this {
    this.#circuit = { ...this.#circuit, ...change };
    this.#write("circuit", actor, { type, data: { ...this.#circuit, eventId: ofEvent, at: this.at } });
    return this;
  }

  opened(until: number): this {
    return this.circuit("CircuitOpened", { position: "Open", failures: 3, openUntil: second(until), probe: null });
  }

  probed(event: string): this {
    return this.circuit("CircuitProbeClaimed", { probe: { eventId: event, leaseUntil: second(this.now + 20) } }, event);
  }

  closed(): this {
    return this.circuit("CircuitClosed", { position: "Closed", failures: 0, openUntil: null, probe: null });
  }

  destination(type: "DestinationActivated" | "DestinationDeactivated" | "DestinationDeleted"): this {
    const data = { destinationId, tenantId, at: this.at, ingestTokenHash: "h" };
    this.#write("destination", user, { type, data });
    return this;
  }

  neighbour(of: "tenant" | "sender" | "destination", fact: DomainEvent, actor: Actor = user): this {
    this.#write(of, actor, fact);
    return this;
  }

  #write(of: Neighbour, actor: Actor, fact: DomainEvent): void {
    this.#count += 1;
    const told = { ...fact, position: position(this.#count), metadata: { ...metadata, actor, at: this.at } };
    (this.facts[of] as Told<DomainEvent>[]).push(told);
  }

  tell(present: { readonly inFlight?: number | null; readonly ahead?: number | null } = {}) {
    return tellStory(this.facts, { time: this.at, inFlight: null, ahead: null, ...present });
  }
}

const secondsOf = (at: string | null) => at && (Date.parse(at) - start) / 1_000;
/** The causes in short: the code, and the type of the entry that states it. */
const short = (because: readonly Cause[]) => because.map(({ code, entry }) => `${code} ${entry?.type ?? "-"}`);
const shortly = ({ kind, from, to, entries, because }: Chapter) =>
  [kind, [from, to].map(secondsOf), entries.map(({ type }) => type), short(because)];

describe("the story of an event", () => {
  let log: Log;
  beforeEach(() => (log = new Log()));
  const chapters = () => log.tell().chapters.map(shortly);
  const accepted = ["accepted", [0, 0], ["EventAccepted"], []];

  it("names the subscription that routed a delivery, and its message", () => {
    const { facts, at } = new Log().accept();
    const routed = { messageId: other, subscriptionId: senderId };
    const [accepted] = tellStory({ ...facts, routed }, { time: at, inFlight: null, ahead: null }).chapters;
    expect(accepted!.because.map(({ code, entry, values }) => [code, entry?.type, values])).to.deep.equal(
      [["routed", "EventAccepted", routed]]);
  });

  it("that was delivered at once has no wait", () => {
    log.accept().claim().at_(1).succeed();
    expect(chapters()).to.deep.equal([
      accepted,
      ["attempt", [0, 1], ["DeliveryAttemptStarted", "DeliverySucceeded"], ["first-attempt EventAccepted"]],
    ]);
    const [first, attempted] = log.tell().chapters;
    expect(first?.entries[0]).to.deep.equal({
      position: position(2), type: "EventAccepted", subject: { type: "event", id: eventId }, time: second(0),
      actor: { type: "apiKey", id: other },
    });
    expect(attempted?.because[0]?.entry).not.to.have.property("actor");
    expect(log.tell().waiting).to.equal(null);
  });

  it("waits for its retry by the schedule, and is given up after the last", () => {
    log.accept().claim().at_(1).fail().at_(11).claim().at_(12).fail({ maxTrys: 2 });
    expect(chapters()).to.deep.equal([
      accepted,
      ["attempt", [0, 1], ["DeliveryAttemptStarted", "DeliveryFailed"], ["first-attempt EventAccepted"]],
      ["wait", [1, 11], ["RetryScheduled"], ["retry-schedule RetryScheduled"]],
      ["attempt", [11, 12], ["DeliveryAttemptStarted", "DeliveryFailed"], ["retry-schedule RetryScheduled"]],
      ["exhausted", [12, 12], ["DeliveryExhausted"], ["max-attempts DeliveryExhausted"]],
    ]);
  });

  it("waits as long as its receiver asked for, where that is longer", () => {
    log.accept().claim().at_(1).fail({ statusCode: 503, retryAfterMs: 60_000 });
    expect(log.tell().waiting).to.deep.include({
      reason: "receiver-retry-after", since: second(1), until: second(61), ahead: null,
    });
    log.at_(61).claim();
    expect(chapters().slice(2)).to.deep.equal([
      ["wait", [1, 61], ["RetryScheduled"], ["receiver-retry-after DeliveryFailed"]],
      ["attempt", [61, null], ["DeliveryAttemptStarted"], ["receiver-retry-after DeliveryFailed"]],
    ]);
    log = new Log();
    log.accept().claim().at_(1).fail({ statusCode: 503, retryAfterMs: 2_000 });
    expect(log.tell().waiting?.reason).to.equal("retry-schedule");
  });

  it("is given up at once when its receiver is gone", () => {
    log.accept().claim().fail({ statusCode: 410 });
    expect(chapters().at(-1)).to.deep.equal(["exhausted", [0, 0], ["DeliveryExhausted"], ["gone DeliveryExhausted"]]);
  });

  it("is given up at once by an outcome that the retry policy does not list", () => {
    log.accept().claim().fail({ statusCode: 404, retryOn: ["5xx"] });
    expect(chapters().at(-1)).to.deep.equal(
      ["exhausted", [0, 0], ["DeliveryExhausted"], ["not-retried DeliveryExhausted"]],
    );
  });

  it("is cancelled once it has waited as long as its destination allows", () => {
    log.accept().at_(90_000).event({ type: "Expire", before: second(3_600), at: second(90_000) });
    expect(chapters().at(-1)).to.deep.equal(
      ["cancelled", [90_000, 90_000], ["EventCancelled"], ["expired EventCancelled"]],
    );
  });

  it("waits for its circuit, and is the probe of it", () => {
    log.accept().at_(1).opened(301).at_(100);
    expect(log.tell({ ahead: 4 }).waiting).to.deep.include({
      reason: "circuit-open", since: second(1), until: second(301), ahead: 4,
    });
    log.at_(302).probed(eventId).claim("circuit-open", true);
    expect(chapters()).to.deep.equal([
      accepted,
      ["wait", [0, 302], ["CircuitOpened", "CircuitProbeClaimed"], ["circuit-open CircuitOpened"]],
      ["attempt", [302, null], ["DeliveryAttemptStarted"],
        ["first-attempt EventAccepted", "probe CircuitProbeClaimed"]],
    ]);
  });

  it("waits behind the probe of another event, also through several outages", () => {
    log.accept().at_(1).opened(301).at_(302).probed(other).at_(303).opened(603);
    expect(log.tell().waiting).to.deep.include({ reason: "circuit-open", until: second(603) });
    log.at_(604).probed(other).at_(605).closed().claim();
    expect(chapters()[1]).to.deep.equal([
      "wait", [0, 605], ["CircuitOpened", "CircuitClosed"], ["circuit-open CircuitOpened"],
    ]);
  });

  it("is not held by an outage over when its retry was due, nor by an outage that begins when it is sent", () => {
    log.accept().claim().at_(1).fail().at_(2).opened(4).at_(5).closed().at_(11).opened(400).claim();
    expect(chapters()[2]).to.deep.equal(["wait", [1, 11], ["RetryScheduled"], ["retry-schedule RetryScheduled"]]);
  });

  it("waits while its destination is inactive", () => {
    log.accept().at_(1).destination("DestinationDeactivated").at_(50);
    expect(log.tell().waiting).to.deep.include({ reason: "destination-inactive", since: second(1), until: null });
    log.at_(60).destination("DestinationActivated").claim("destination-inactive");
    expect(chapters()).to.deep.equal([
      accepted,
      ["wait", [0, 60], ["DestinationDeactivated", "DestinationActivated"],
        ["destination-inactive DestinationDeactivated"]],
      ["setting", [1, 1], ["DestinationDeactivated"], ["requested DestinationDeactivated"]],
      ["setting", [60, 60], ["DestinationActivated"], ["requested DestinationActivated"]],
      ["attempt", [60, null], ["DeliveryAttemptStarted"], ["first-attempt EventAccepted"]],
    ]);
  });

  it("waits for a pause that the 429 of another event asked for, not for one of its own", () => {
    log.circuit("CircuitCounted", { pausedUntil: second(30) }).accept();
    expect(log.tell().waiting).to.deep.include({ reason: "receiver-pause", since: second(0), until: second(30) });
    log.at_(30).claim();
    expect(chapters()[1]).to.deep.equal(["wait", [0, 30], [], ["receiver-pause CircuitCounted"]]);
    log.at_(31).fail({ statusCode: 429, retryAfterMs: 20_000 });
    log.circuit("CircuitCounted", { pausedUntil: second(52) }, eventId);
    // The end of the pause may come a moment after that of the wait.
    log.at_(51.5).claim("receiver-pause");
    expect(chapters()[3]).to.deep.equal([
      "wait", [31, 51.5], ["RetryScheduled"], ["receiver-retry-after DeliveryFailed"],
    ]);
    log.fail({ statusCode: 429, retryAfterMs: 20_000 });
    log.circuit("CircuitCounted", { pausedUntil: second(80) }).at_(80).claim("receiver-pause");
    expect(chapters()[5]?.[3]).to.deep.equal(["receiver-retry-after DeliveryFailed", "receiver-pause CircuitCounted"]);
  });

  it("waits for the outbound proxy, and leaves out an attempt that was withdrawn", () => {
    const problem = { code: "proxy", values: { error: "away" } };
    log.accept().claim().event({ type: "Withdraw", attempt: 1, error: "away", at: second(0) });
    log.at_(1).circuit("OutboundProxyFailed", { proxyProblem: "away" }, null);
    log.at_(3).circuit("CircuitCounted", { failures: 1 });
    const { waiting } = log.tell();
    expect(waiting).to.deep.include({ reason: "proxy", since: second(1), until: null });
    expect(waiting?.because.at(-1)).to.deep.include(problem);
    log.at_(60).circuit("OutboundProxyRecovered", { proxyProblem: undefined as never }, null).claim("proxy");
    expect(chapters()).to.deep.equal([
      accepted,
      ["wait", [0, 60], ["OutboundProxyFailed", "OutboundProxyRecovered"], ["proxy OutboundProxyFailed"]],
      ["attempt", [60, null], ["DeliveryAttemptStarted"], ["first-attempt EventAccepted"]],
    ]);
  });

  it("ends a pause when a person closes the circuit", () => {
    log.circuit("CircuitCounted", { pausedUntil: second(300) }).accept().at_(10)
      .circuit("CircuitClosed", { pausedUntil: undefined as never }, null, user).at_(11).claim();
    expect(chapters()[1]?.[3]).to.deep.equal(["receiver-pause CircuitCounted"]);
    log = new Log();
    log.circuit("CircuitCounted", { pausedUntil: second(300) })
      .circuit("CircuitClosed", { pausedUntil: undefined as never }, null, user).accept().claim();
    expect(chapters()).to.have.length(2);
  });

  it("waits for a free place, as its claim says, and at present as the attempts under way do", () => {
    log.accept().at_(3);
    expect(log.tell({ inFlight: 0 }).waiting?.reason).to.equal("first-attempt");
    const { waiting } = log.tell({ inFlight: 1, ahead: 2 });
    expect(waiting).to.deep.include({ reason: "concurrency-limit", since: second(0), until: null, ahead: 2 });
    expect(waiting?.because.at(-1)).to.deep.include({ values: { serverRateLimit: 1, inFlight: 1 } });
    expect(short(waiting!.because)).to.deep.equal(["concurrency-limit DestinationRegistered"]);
    log.claim("concurrency-limit");
    expect(chapters()[1]).to.deep.equal(["wait", [0, 3], [], ["concurrency-limit DeliveryAttemptStarted"]]);
  });

  it("names a wait's first hold first and the hold stated by its claim last", () => {
    log.accept().at_(1).opened(301).at_(302).closed().at_(310).claim("concurrency-limit");
    expect(chapters()[1]?.[3]).to.deep.equal([
      "circuit-open CircuitOpened", "concurrency-limit DeliveryAttemptStarted",
    ]);
    log = new Log();
    log.accept().at_(1).opened(301).at_(2).destination("DestinationDeactivated").at_(100).closed()
      .at_(200).destination("DestinationActivated").claim("circuit-open");
    expect(chapters()[1]?.[3]).to.deep.equal([
      "destination-inactive DestinationDeactivated", "circuit-open CircuitOpened",
    ]);
  });

  it("does not guess why a due event was not sent", () => {
    log.accept().at_(60);
    expect(log.tell().waiting).to.deep.include({ reason: "not-recorded", until: null });
    log.claim();
    expect(chapters()[1]).to.deep.equal(["wait", [0, 60], [], ["not-recorded -"]]);
    log.at_(61).fail().at_(100).claim();
    expect(chapters()[3]?.[3]).to.deep.equal(["retry-schedule RetryScheduled", "not-recorded -"]);
  });

  it("goes on after a lost lease, at once, and has the outcome that came late", () => {
    log.accept().claim().at_(20).fail({ lost: true }).claim().at_(21).succeed(1);
    expect(chapters()).to.deep.equal([
      accepted,
      ["attempt", [0, 20], ["DeliveryAttemptStarted", "DeliveryFailed"], ["first-attempt EventAccepted"]],
      ["wait", [20, 20], ["RetryScheduled"], ["lease-lost DeliveryFailed"]],
      ["attempt", [20, null], ["DeliveryAttemptStarted"], ["lease-lost DeliveryFailed"]],
      ["attempt", [21, 21], ["DeliverySucceeded"], ["lease-lost DeliveryFailed"]],
    ]);
    expect(log.tell().waiting).to.equal(null);
  });

  it("ends a wait with a late success, and no attempt", () => {
    log.accept().claim().at_(20).fail({ lost: true }).at_(22).succeed(1);
    expect(chapters().slice(2)).to.deep.equal([
      ["wait", [20, 22], ["RetryScheduled"], ["lease-lost DeliveryFailed"]],
      ["attempt", [22, 22], ["DeliverySucceeded"], ["lease-lost DeliveryFailed"]],
    ]);
  });

  it("is replayed, resent, and retried at once because somebody asked", () => {
    log.accept().claim().fail({ maxTrys: 1 });
    log.at_(5).event({ type: "Replay", at: second(5) }, user).claim().at_(6).fail();
    log.at_(7).event({ type: "BringForward", at: second(7) }, user).claim().succeed();
    log.at_(9).event({ type: "Resend", at: second(9) }, user).claim().succeed();
    expect(chapters().slice(3)).to.deep.equal([
      ["replayed", [5, 5], ["EventReplayed"], ["requested EventReplayed"]],
      ["attempt", [5, 6], ["DeliveryAttemptStarted", "DeliveryFailed"], ["requested EventReplayed"]],
      ["wait", [6, 7], ["RetryScheduled", "RetryBroughtForward"], ["retry-schedule RetryScheduled"]],
      ["attempt", [7, 7], ["DeliveryAttemptStarted", "DeliverySucceeded"], ["requested RetryBroughtForward"]],
      ["replayed", [9, 9], ["EventReplayed"], ["requested EventReplayed"]],
      ["attempt", [9, 9], ["DeliveryAttemptStarted", "DeliverySucceeded"], ["requested EventReplayed"]],
    ]);
  });

  it("is cancelled because somebody asked, or because its destination was deleted", () => {
    log.accept().at_(2).event({ type: "Cancel", reason: "requested", at: second(2) }, user);
    expect(chapters().slice(1)).to.deep.equal([
      ["cancelled", [2, 2], ["EventCancelled"], ["requested EventCancelled"]],
    ]);
    log = new Log();
    log.accept().claim().at_(1).fail().at_(2).destination("DestinationDeleted");
    expect(log.at_(12).tell().waiting?.reason).to.equal("destination-deleted");
    log.event({ type: "Cancel", reason: "destination deleted", at: second(12) });
    expect(chapters().slice(2)).to.deep.equal([
      ["wait", [1, 12], ["RetryScheduled"], ["retry-schedule RetryScheduled"]],
      ["setting", [2, 2], ["DestinationDeleted"], ["requested DestinationDeleted"]],
      ["cancelled", [12, 12], ["EventCancelled"], ["destination-deleted DestinationDeleted"]],
    ]);
    log = new Log();
    log.accept().claim().fail({ deleted: true });
    expect(chapters().at(-1)?.[3]).to.deep.equal(["destination-deleted EventCancelled"]);
  });

  it("shows the settings that changed meanwhile, with their authors, and no others", () => {
    const ids = { tenantId, at: second(1) };
    log.neighbour("sender", { type: "SenderRenamed", data: { senderId, ...ids, name: "Shop" } }).accept().at_(1);
    const policy = { maxTrys: 3, circuitBreakerTimer: 9 };
    log.neighbour("tenant", { type: "TenantDeliveryPolicyChanged", data: { ...ids, ...policy } });
    log.neighbour("tenant", { type: "UserDeleted", data: { ...ids, userId: other } });
    log.neighbour("sender", { type: "SenderMappingChanged", data: { senderId, ...ids, mapping: null } });
    const token = { destinationId, ingestTokenHash: "h" };
    log.neighbour("destination", { type: "IngestTokenRegenerated", data: { ...token, ...ids } });
    log.claim().succeed();
    expect(chapters().slice(1, 3)).to.deep.equal([
      ["setting", [1, 1], ["TenantDeliveryPolicyChanged"], ["requested TenantDeliveryPolicyChanged"]],
      ["setting", [1, 1], ["SenderMappingChanged"], ["requested SenderMappingChanged"]],
    ]);
    expect(log.tell().chapters.slice(1, 3).map(({ entries }) => entries[0]?.subject)).to.deep.equal([
      { type: "tenant", id: tenantId }, { type: "sender", id: senderId },
    ]);
    expect(chapters()).to.have.length(4);
  });

  it("says of each attempt how it came out", () => {
    const log = new Log().accept().claim();
    const outcomes = () => log.tell().chapters.flatMap(({ attempt }) => (attempt ? [attempt] : []));
    const begun = { number: 1, outcome: "in progress", durationMs: null, statusCode: null, reason: null, error: null };
    expect(outcomes()).to.deep.equal([begun]);
    const failed = { ...begun, outcome: "failed", durationMs: 9, statusCode: 500, reason: "status", error: "failed" };
    expect((log.at_(1).fail(), outcomes())).to.deep.equal([failed]);
    log.at_(20).claim().at_(40).fail({ lost: true });
    expect(outcomes()[1]).to.include({ number: 2, outcome: "unknown", statusCode: null, reason: "outcome unknown" });
    log.at_(50).succeed(2);
    const delivered = { number: 2, outcome: "succeeded", durationMs: 9, statusCode: 204, reason: null, error: null };
    expect(outcomes().at(-1)).to.deep.equal(delivered);
    expect(log.tell().chapters.filter(({ kind, attempt }) => (kind === "attempt") !== (attempt !== undefined)))
      .to.deep.equal([]);
  });

  it("is told of every type of fact that an event has, but of withdrawn attempts", () => {
    const types: Readonly<Record<Exclude<WebhookEvent["type"], "DeliveryAttemptWithdrawn">, true>> = {
      EventAccepted: true, DeliveryAttemptStarted: true, DeliverySucceeded: true, DeliveryFailed: true,
      RetryScheduled: true, RetryBroughtForward: true, DeliveryExhausted: true, EventReplayed: true,
      EventCancelled: true,
    };
    log.accept().claim().fail().at_(1).event({ type: "BringForward", at: second(1) }).claim().fail({ maxTrys: 1 });
    log.event({ type: "Replay", at: second(1) }).claim().succeed().event({ type: "Resend", at: second(1) });
    log.event({ type: "Cancel", reason: "requested", at: second(1) });
    const told = log.tell().chapters.flatMap(({ entries }) => entries.map((entry) => entry.position));
    expect([...new Set(told)].sort()).to.deep.equal(log.facts.event.map((fact) => fact.position));
    expect([...new Set(log.facts.event.map(({ type }) => type))].sort()).to.deep.equal(Object.keys(types).sort());
  });
});
