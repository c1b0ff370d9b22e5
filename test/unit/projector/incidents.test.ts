import { expect } from "chai";
import fc from "fast-check";
import { standingCounter, standings, type IncidentDocument } from "../../../projections/incidents/incidents.ts";
import type { DomainEvent } from "../../../src/kernel/domain/domain-event.ts";
import { streams } from "../../../src/kernel/domain/streams.ts";
import { timestamp } from "../../../src/kernel/domain/time.ts";
import { idOf, type Told } from "../../support/chronicle.ts";
import { histories } from "../../support/histories.ts";
import { InMemoryReadModels } from "../../support/in-memory-read-models.ts";
import { incidentsOf } from "../../support/incidents-of.ts";
import { ManualClock } from "../../support/manual-clock.ts";
import { projectorOf } from "../../support/projector.ts";
import { sized } from "../../support/size.ts";
import { WrittenLog } from "../../support/written-log.ts";

const [tenantId, destinationId] = [idOf("tenant", 0), idOf("destination", 0)];
const event = (n: number) => idOf("event", n);

/** Whether it may be the late success of a first attempt during another, which incidents miss. */
function isMissed({ type, data }: DomainEvent): boolean {
  const { attempt, from } = data as { readonly attempt?: number; readonly from?: string };
  return type === "DeliverySucceeded" && attempt === 1 && from === "Processing";
}

describe("incidents", () => {
  let log: WrittenLog;
  let models: InMemoryReadModels;
  let seconds: number;
  beforeEach(() => {
    log = new WrittenLog();
    models = new InMemoryReadModels();
    seconds = 0;
    given("DestinationRegistered", { url: "https://a.example", serverRateLimit: 1, auth: null, ingestTokenHash: "h" });
  });

  const runner = (into: InMemoryReadModels) => projectorOf({ log, models: into, clock: new ManualClock() });
  const project = async () => {
    const live = runner(models);
    live.start();
    await live.drained(await log.head());
    await live.stop();
  };
  const rebuilt = async () => {
    const fresh = new InMemoryReadModels();
    await runner(fresh).rebuild();
    return fresh;
  };
  const streamOf = ({ eventId }: { eventId?: string }, type: string) =>
    (type.startsWith("Circuit") ? streams.circuit(destinationId)
      : eventId === undefined ? streams.destination(destinationId) : streams.event(eventId));
  /** Writes a fact, a second after the one before. */
  const given = (type: string, data: object = {}) => {
    const fact: DomainEvent = { type, data: { tenantId, destinationId, at: timestamp(seconds * 1_000), ...data } };
    seconds += 1;
    log.write([{ stream: streamOf(fact.data, type), fact } satisfies Told]);
  };
  const moved = (n: number, from: string, to: string) =>
    ({ eventId: event(n), acceptedAt: timestamp(0), from, to, requestHeaders: {}, durationMs: 1 });
  const answer = (statusCode: number) => ({ statusCode, headers: {}, body: "", truncated: false });
  const failed = (n: number, attempt = 1, further: object = {}) => given("DeliveryFailed", {
    ...moved(n, "Processing", "Failed"), attempt, reason: "status", error: "answered 500", answer: answer(500),
    retryCount: attempt, ...further,
  });
  const retried = (n: number, attempt = 1) => given("RetryScheduled", {
    ...moved(n, "Failed", "WaitingRetry"), retryCount: attempt, nextAttemptAt: timestamp(1),
  });
  const exhausted = (n: number) =>
    given("DeliveryExhausted", { ...moved(n, "Failed", "CriticalFailure"), retryCount: 1, reason: "max attempts" });
  const succeeded = (n: number, attempt = 1) =>
    given("DeliverySucceeded", { ...moved(n, "Processing", "Succeeded"), attempt, answer: answer(200) });
  const circuit = (type: string, position: string, failures: number) =>
    given(type, { position, failures, openUntil: timestamp(60_000), probe: null, eventId: null });
  const all = async (of = models) => Object.values(of.incidents().documents["incidents"]!) as IncidentDocument[];
  const only = async () => {
    await project();
    expect((await rebuilt()).incidents()).to.deep.equal(models.incidents());
    const found = (await all()).filter(({ state }) => state !== "begun");
    expect(found).to.have.length(1);
    return found[0]!;
  };
  const none = async () => {
    await project();
    expect((await all()).filter(({ state }) => state !== "begun")).to.deep.equal([]);
  };
  const stand = async (incident: IncidentDocument) => {
    const buckets = await models.buckets(standingCounter(incident));
    return Object.fromEntries(buckets.map(({ bucket, total }) => [standings[bucket]!, total]));
  };

  it("equal a plain fold of the log, also where the projector stopped anywhere, and after a rebuild", async () => {
    const stops = fc.array(fc.nat(), { maxLength: 3 });
    await fc.assert(fc.asyncProperty(histories(250), stops, async ({ told }, stopsAt) => {
      fc.pre(!told.some(({ fact, stream }, at) => isMissed(fact) && told.slice(0, at).some((earlier) =>
        earlier.stream === stream && (earlier.fact.data as { attempt?: number }).attempt === 2)));
      log = new WrittenLog();
      models = new InMemoryReadModels();
      for (const [at, one] of told.entries()) {
        log.write([one]);
        if (stopsAt.some((n) => n % told.length === at)) await project();
      }
      await project();
      const found = (await all()).filter(({ state }) => state !== "begun");
      const shown = await Promise.all(found.map(async (incident) => {
        const { failures, endedBy, firstEvents: _, ...rest } = incident;
        const causes = Object.fromEntries(failures.map(({ reason, count, eventId }) => [reason, [count, eventId]]));
        const counts = await stand(incident);
        return [rest.id, {
          ...rest, causes, endedBy: endedBy?.type ?? null, stand: standings.map((name) => counts[name] ?? 0),
        }];
      }));
      const expected = incidentsOf(told.map(({ fact }) => fact), (at) => log.entries[at]!.id);
      expect(Object.fromEntries(shown)).to.deep.equal(expected);
      expect((await rebuilt()).incidents()).to.deep.equal(models.incidents());
    }), { numRuns: sized(25, 1_000), endOnFailure: true });
  });

  it("take three failed attempts in a row, of one event or several", async () => {
    failed(0);
    failed(1);
    succeeded(2);
    failed(0, 2);
    failed(1, 2);
    await none();
    expect(await all()).to.have.length(1);
    failed(3);
    const incident = await only();
    expect(incident).to.include({ state: "open", attempts: 3, startedAt: timestamp(4_000) });
    expect(await stand(incident)).to.deep.equal({ waiting: 3 });
  });

  it("take fewer failed attempts where those opened the circuit", async () => {
    circuit("CircuitOpened", "Open", 1);
    failed(0);
    await none();
    circuit("CircuitOpened", "Open", 1);
    circuit("CircuitProbeClaimed", "Open", 1);
    expect(await only()).to.include({ state: "open", attempts: 1, opened: 1, probes: 1 });
  });

  it("leave out attempts that do not count for the circuit, and test events", async () => {
    for (let n = 0; n < 3; n += 1) {
      failed(n, 1, { answer: answer(429) });
      failed(n, 2, { reason: "not sent", answer: null });
      failed(n, 3, { reason: "outcome unknown", answer: null, durationMs: null, requestHeaders: null });
      failed(n, 4, { test: true });
    }
    await none();
    expect(await all()).to.deep.equal([]);
  });

  it("are not ended by a test event, nor by a failed attempt", async () => {
    for (const n of [0, 1, 2]) failed(n);
    given("DeliverySucceeded", { ...moved(3, "Processing", "Succeeded"), attempt: 1, answer: answer(200), test: true });
    expect(await only()).to.include({ state: "open", endedAt: null });
  });

  it("are over with the destination, and attempts that end later begin none", async () => {
    for (const n of [0, 1, 2]) failed(n);
    await project();
    given("DestinationDeleted", { ingestTokenHash: "h" });
    for (const n of [3, 4, 5]) failed(n);
    await project();
    for (const n of [6, 7, 8]) failed(n);
    const { state, endedBy, endedAt } = await only();
    expect([state, endedBy?.type, endedAt]).to.deep.equal(["over", "DestinationDeleted", timestamp(4_000)]);
  });

  it("count causes by reason and status code, at most 32 of them apart", async () => {
    for (let n = 0; n < 40; n += 1) failed(n, 1, { answer: answer(500 + n) });
    failed(40, 1, { answer: answer(500), error: "e".repeat(1_000) });
    failed(41, 1, { reason: "timeout", answer: null, error: "late" });
    const { failures } = await only();
    expect(failures).to.have.length(34);
    expect(failures[0]).to.deep.equal(
      { reason: "status", statusCode: 500, count: 2, error: "e".repeat(300), eventId: event(40) });
    expect(failures.slice(-2)).to.deep.equal([
      { reason: "status", statusCode: null, count: 8, error: "answered 500", eventId: event(39) },
      { reason: "timeout", statusCode: null, count: 1, error: "late", eventId: event(41) },
    ]);
  });

  it("count an event where it stands, in each incident in which it failed", async () => {
    failed(0);
    exhausted(0);
    failed(1);
    retried(1);
    failed(2);
    succeeded(3);
    const first = await only();
    expect(await stand(first)).to.deep.equal({ waiting: 2, exhausted: 1 });
    for (const attempt of [2, 3, 4]) {
      failed(1, attempt);
      retried(1, attempt);
    }
    await project();
    const second = (await all()).find(({ id }) => id !== first.id)!;
    expect(await stand(second)).to.deep.equal({ waiting: 1 });
    succeeded(1, 5);
    given("EventCancelled", { ...moved(2, "Failed", "Cancelled"), reason: "requested" });
    await project();
    expect(await stand(first)).to.deep.equal({ exhausted: 1, delivered: 1, cancelled: 1 });
    expect(await stand(second)).to.deep.equal({ delivered: 1 });
    expect((await rebuilt()).incidents()).to.deep.equal(models.incidents());
  });

  it("cost neither a question nor a write where no attempt failed", async () => {
    await project();
    const questions: string[] = [];
    const find = models.find.bind(models);
    models.find = (query) => {
      questions.push(query.collection);
      return find(query);
    };
    models.get = async (collection) => {
      questions.push(collection);
      return null;
    };
    const before = models.incidents();
    for (let n = 0; n < 50; n += 1) succeeded(n);
    await project();
    expect(questions.filter((name) => ["affectedEvents", "destinations"].includes(name))).to.deep.equal([]);
    expect(models.incidents()).to.deep.equal(before);
  });

  it("stay when the events are purged", async () => {
    for (const n of [0, 1, 2]) {
      failed(n);
      exhausted(n);
    }
    const incident = await only();
    given("EventsPurged", {
      purgeId: idOf("purge", 0), before: null, status: null, destinationId: null, at: timestamp(9_000),
    });
    await project();
    expect(await all()).to.deep.equal([incident]);
    expect(await stand(incident)).to.deep.equal({ exhausted: 3 });
  });
});
