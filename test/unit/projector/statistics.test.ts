import { randomUUID } from "node:crypto";
import { expect } from "chai";
import fc from "fast-check";
import type { DomainEvent } from "../../../src/kernel/domain/domain-event.ts";
import { streams } from "../../../src/kernel/domain/streams.ts";
import { timestamp } from "../../../src/kernel/domain/time.ts";
import { noStream } from "../../../src/kernel/ports/event-store.ts";
import { InMemoryEventStore } from "../../support/in-memory-event-store.ts";
import { InMemoryReadModels } from "../../support/in-memory-read-models.ts";
import { ManualClock } from "../../support/manual-clock.ts";
import { projectorOf } from "../../support/projector.ts";
import { salt } from "../../support/recorded.ts";
import { eventually } from "../../support/relay.ts";
import { sized } from "../../support/size.ts";
import { statisticsOf } from "../../support/statistics-of.ts";

const minuteMs = 60_000;
const dayMs = 86_400_000;
const start = Date.UTC(2026, 0, 31, 23, 58);
const [one, other] = [randomUUID(), randomUUID()];

/** The fields of an event's fact that matter here. */
interface Said {
  readonly at: number;
  readonly tenantId?: string;
  readonly destinationId?: string;
  readonly eventType?: string;
  readonly test?: true;
  readonly durationMs?: number | null;
}

describe("statistics", () => {
  let store: InMemoryEventStore;
  let facts: DomainEvent[];
  const running: { stop: () => Promise<void> }[] = [];
  beforeEach(() => {
    store = new InMemoryEventStore();
    facts = [];
  });
  afterEach(() => Promise.all(running.splice(0).map((runner) => runner.stop())));

  const append = async (type: string, { at: ms, ...said }: Said) => {
    const eventId = randomUUID();
    const at = timestamp(ms);
    const { durationMs = 20, ...classes } = said;
    const common = { eventId, tenantId: one, destinationId: one, at, ...classes };
    const moved = (from: string, to: string) => ({ ...common, acceptedAt: timestamp(ms - 500), from, to });
    const answer = { statusCode: 204, headers: {}, body: "", truncated: false };
    const data: Readonly<Record<string, object>> = {
      EventAccepted: {
        ...common, apiKeyId: one, senderId: null, senderRevision: null, idempotencyKey: null, payload: "{}",
        original: null,
      },
      DeliverySucceeded: {
        ...moved("Processing", "Succeeded"), attempt: 1, durationMs: durationMs ?? 7, requestHeaders: {}, answer,
      },
      DeliveryFailed: {
        ...moved("Processing", "Failed"), attempt: 2, durationMs, reason: "timeout", error: "late",
        requestHeaders: null, answer: null, retryCount: 1,
      },
      DeliveryExhausted: { ...moved("Failed", "CriticalFailure"), retryCount: 1, reason: "max attempts" },
      EventCancelled: { ...moved("Pending", "Cancelled"), reason: "requested" },
    };
    const event: DomainEvent = { type, data: data[type]! };
    facts.push(event);
    const metadata = { actor: { type: "anonymous" }, correlationId: "c", causationId: null, at, salt } as const;
    await store.append(streams.event(eventId), noStream, [{ id: randomUUID(), event, metadata }]);
  };
  const runner = (models: InMemoryReadModels) => projectorOf({ log: store, models, clock: new ManualClock() });
  const numbersOf = (models: InMemoryReadModels) =>
    Object.fromEntries(Object.entries(models.statistics()).map(([key, { numbers }]) => [key, numbers]));
  const projected = async () => {
    const models = new InMemoryReadModels();
    await runner(models).rebuild();
    return models;
  };

  it("equal a plain fold of the log, also where the projector stopped anywhere, and after a rebuild", async () => {
    const fact = fc.record({
      type: fc.constantFrom(
        "EventAccepted", "DeliverySucceeded", "DeliveryFailed", "DeliveryExhausted", "EventCancelled",
      ),
      at: fc.nat(3 * dayMs).map((ms) => start + ms),
      tenantId: fc.constantFrom(one, other),
      destinationId: fc.constantFrom(one, other),
      eventType: fc.option(fc.constantFrom("a", "b/c~d", "ü"), { nil: undefined }),
      test: fc.constantFrom(undefined, undefined, undefined, true as const),
      durationMs: fc.option(fc.nat(100_000)),
      stops: fc.boolean(),
    }, { requiredKeys: ["type", "at", "tenantId", "destinationId", "durationMs", "stops"] });
    await fc.assert(fc.asyncProperty(fc.array(fact, { maxLength: 40 }), async (all) => {
      store = new InMemoryEventStore();
      facts = [];
      const models = new InMemoryReadModels();
      let live = runner(models);
      live.start();
      for (const { type, stops, eventType, test, ...said } of all) {
        await append(type, { ...said, ...(eventType !== undefined && { eventType }), ...(test && { test }) });
        if (!stops) continue;
        await live.stop();
        live = runner(models);
        live.start();
      }
      await live.drained(await store.head());
      await live.stop();
      expect(numbersOf(models)).to.deep.equal(statisticsOf(facts));
      expect((await projected()).statistics()).to.deep.equal(models.statistics());
    }), { numRuns: sized(15, 300) });
  });

  it("of minutes go after 8 days, of hours after 400, by the time of the log; those of days stay", async () => {
    const models = new InMemoryReadModels();
    const live = runner(models);
    running.push(live);
    live.start();
    const levels = () =>
      Object.keys(models.statistics()).flatMap((key) => (key.includes("/*/") ? [key.split("/")[2]] : []));
    await append("EventAccepted", { at: start });
    for (const [days, left] of [
      [8, ["minute", "hour", "day", "minute", "hour", "day"]],
      [9, ["hour", "day", "minute", "hour", "day", "minute", "hour", "day"]],
      [500, ["day", "day", "day", "day", "minute", "hour"]],
    ] as const) {
      await append("EventAccepted", { at: start + days * dayMs });
      await live.drained(await store.head());
      const wanted = [...left].sort();
      await eventually(async () => levels().sort(), (found) => JSON.stringify(found) === JSON.stringify(wanted));
      expect((await projected()).statistics()).to.deep.equal(models.statistics());
    }
  });

  it("of a fact that comes later than minutes are kept count in hours and days", async () => {
    await append("EventAccepted", { at: start + 30 * dayMs });
    await append("EventAccepted", { at: start });
    const keys = Object.keys((await projected()).statistics());
    expect(keys.filter((key) => key.includes("/minute/"))).to.have.length(2);
    expect(keys.filter((key) => key.includes("/hour/"))).to.have.length(4);
  });

  it("of many thousand rows go in small steps, while new facts are counted", async () => {
    const models = new InMemoryReadModels();
    const live = runner(models);
    running.push(live);
    for (let n = 0; n < 700; n += 1) await append("EventAccepted", { at: start + n * minuteMs });
    live.start();
    await live.drained(await store.head());
    const amended: number[] = [];
    const amend = models.amend.bind(models);
    models.amend = (changes) => {
      amended.push(changes.length);
      return amend(changes);
    };
    await append("EventAccepted", { at: start + 30 * dayMs });
    await live.drained(await store.head());
    await eventually(async () => amended, (steps) => steps.reduce((sum, step) => sum + step, 0) === 1_400);
    expect(Math.max(...amended)).to.equal(500);
  });

  it("have a tenant's first 100 types for themselves, also after restarts, and all types in the whole", async () => {
    const models = new InMemoryReadModels();
    let live = runner(models);
    live.start();
    for (let n = 0; n < 110; n += 1) {
      await append("EventAccepted", { at: start, eventType: `type ${n}` });
      if (n % 40 !== 39) continue;
      await live.drained(await store.head());
      await live.stop();
      live = runner(models);
      live.start();
    }
    await append("EventAccepted", { at: start, eventType: "type 109", tenantId: other });
    await live.drained(await store.head());
    await live.stop();
    const keys = Object.keys(models.statistics());
    const typed = keys.filter((key) => key.startsWith(`${one}/*~`) && key.includes("/day/"));
    expect(typed.map((key) => Number(/type (\d+)/.exec(key)?.[1])).sort((a, b) => a - b))
      .to.deep.equal(Array.from({ length: 100 }, (_, n) => n));
    const day = String(Math.floor(start / dayMs)).padStart(9, "0");
    expect(numbersOf(models)[`${one}/*/day/${day}`])
      .to.deep.equal({ accepted: 110 });
    const others = keys.filter((key) => key.startsWith(`${other}/*~`));
    expect(others).to.have.length(3);
    expect((await projected()).statistics()).to.deep.equal(models.statistics());
  });
});
