import { expect } from "chai";
import { Claims } from "../../../../src/delivery/dispatch/claims.ts";
import type { Claimed, Miss, Start } from "../../../../src/delivery/dispatch/work.ts";
import { Refusal } from "../../../../src/kernel/domain/refusal.ts";
import { streams } from "../../../../src/kernel/domain/streams.ts";
import { LogUnavailable, type EventStore, type LogEntry } from "../../../../src/kernel/ports/event-store.ts";
import { createTenant, openIngest } from "../../../support/accounts.ts";
import { http } from "../../../support/http.ts";
import { ManualClock } from "../../../support/manual-clock.ts";
import { ManualRelay } from "../../../support/manual-relay.ts";
import { eventually } from "../../../support/relay.ts";
import { quiet, uncounted } from "../../../support/telemetry.ts";

describe("a first attempt whose claim got no answer from the log", () => {
  const claim = { id: "claim", revision: 1, position: "7" } as unknown as LogEntry;
  const away = new LogUnavailable("away");
  let found: Claimed | Miss | undefined;
  let clock: ManualClock;

  /** Looks for the claim in a log that gives these answers, one for each look; it repeats the last one. */
  const lookIn = (...answers: readonly (readonly LogEntry[] | LogUnavailable)[]) => {
    found = undefined;
    clock = new ManualClock();
    let looks = 0;
    const readStream = async () => {
      const answer = answers[looks++] ?? answers.at(-1);
      if (answer instanceof LogUnavailable) throw answer;
      return answer;
    };
    const store = { readStream } as unknown as EventStore;
    const claims = new Claims(
      { clock, store, deliveryTimeoutMs: 15_000 } as unknown as ConstructorParameters<typeof Claims>[0],
    );
    const start = { state: { id: "event" }, causationId: "claim", claimedFrom: clock.monotonic() } as unknown as Start;
    const outcome = Promise.resolve("unknown" as const);
    void claims.claim({ kind: "reserved", eventId: "event", start, outcome }, false, () => true)
      .then((result) => { found = result; });
  };
  const wait = async (ms: number) => {
    await new Promise(setImmediate);
    for (let waited = 0; waited < ms; waited += 1_000) {
      clock.advance(1_000);
      await new Promise(setImmediate);
    }
  };

  it("is carried out if the log shows the claim late, but not if two looks find none", async () => {
    lookIn([], [claim]);
    await wait(2_000);
    expect(found).to.include({ revision: 1, position: "7" });
    lookIn([], away, []);
    await wait(2_000);
    expect(found).to.equal(undefined);
    await wait(1_000);
    expect(found).to.equal("nothing to do");
  });

  it("is looked for while the log is unavailable, however long: nobody else knows that nothing was sent", async () => {
    const minute = Array.from({ length: 60 }, () => away);
    lookIn(...minute, [claim]);
    await wait(60_000);
    expect(found).to.equal(undefined);
    await wait(1_000);
    expect(found).to.include({ revision: 1, position: "7" });
  });
});

describe("an event of an ordered destination", () => {
  it("is not claimed at a place that it left, since it was put back to work or is finished", async () => {
    const eventId = "0193a1b2-c3d4-7000-8000-000000000004";
    const entry = (type: string, position: string, data: object) =>
      ({ type, position, data: { eventId, ...data }, metadata: { correlationId: "c" } });
    const accepted = entry("EventAccepted", "1", { slot: 0 });
    const givenUp = entry("DeliveryExhausted", "2", { to: "CriticalFailure" });
    const replayed = entry("EventReplayed", "3", { to: "Pending", slot: 0 });
    const missOf = (position: string, ...entries: readonly object[]) => {
      const parts = {
        store: { readStream: async () => entries }, readModels: { get: async () => null },
        freshness: { ask: (question: () => unknown) => question() }, clock: new ManualClock(),
      };
      const claims = new Claims(parts as unknown as ConstructorParameters<typeof Claims>[0]);
      return claims.missOf({ kind: "due", eventId, place: { slot: 0, eventId, position } });
    };
    expect(await missOf("1", accepted)).to.equal(undefined);
    expect(await missOf("1", accepted, givenUp)).to.equal("over");
    expect(await missOf("1", accepted, givenUp, replayed)).to.equal("over");
    expect(await missOf("3", accepted, givenUp, replayed)).to.equal(undefined);
    expect(await missOf("1")).to.equal("gone");
  });

  it("is not claimed without its place, which read models that were just lost do not know", async () => {
    const relay = await ManualRelay.open();
    try {
      const { owner, tenantId } = await createTenant(relay.api.url);
      const { path, apiKey, destinationId } = await openIngest(owner.client, tenantId);
      await owner.client.api.updateDestination({ id: destinationId }, { ordering: "destination" });
      const answer = await http("POST", relay.api.url + path, { json: {}, headers: { "x-api-key": apiKey } });
      const eventId = String(answer.json["eventId"]);
      const claims = new Claims({
        ...relay.api.world, clock: new ManualClock(), logger: quiet, metrics: uncounted, workerId: "w1",
        deliveryTimeoutMs: 15_000,
      });
      expect(await claims.claim({ kind: "due", eventId }, false, () => true)).to.equal("not ours");
      const [{ position } = { position: "" }] = await relay.store.readStream(streams.event(eventId), { limit: 1 });
      const place = { slot: 0, eventId, position };
      expect(await claims.claim({ kind: "due", eventId, place }, false, () => true)).to.include({ revision: 1 });
    } finally {
      await relay.close();
    }
  });
});

describe("the lease of a claim", () => {
  it("lasts as long as the timeout of its destination, or else of the relay, and 5 s", () => {
    const parts = (deliveryTimeoutMs: number) => ({ deliveryTimeoutMs, clock: new ManualClock() });
    const claims = (deliveryTimeoutMs: number) =>
      new Claims(parts(deliveryTimeoutMs) as unknown as ConstructorParameters<typeof Claims>[0]);
    expect([null, 1_000, 60_000].map((timeoutMs) => claims(15_000).leaseMs({ timeoutMs })))
      .to.deep.equal([20_000, 6_000, 65_000]);
    expect([15_000, 90_000].map((ms) => claims(ms).longestLeaseMs)).to.deep.equal([65_000, 95_000]);
  });
});

describe("a claim of a waiting event that got no answer from the log", () => {
  let relay: ManualRelay;
  let eventId: string;
  let clock: ManualClock;
  let claims: Claims;
  beforeEach(async () => {
    relay = await ManualRelay.open();
    const { owner, tenantId } = await createTenant(relay.api.url);
    const { path, apiKey } = await openIngest(owner.client, tenantId);
    const answer = await http("POST", relay.api.url + path, { json: {}, headers: { "x-api-key": apiKey } });
    eventId = String(answer.json["eventId"]);
    clock = new ManualClock();
    claims = new Claims({
      ...relay.api.world, clock, logger: quiet, metrics: uncounted, workerId: "w1", deliveryTimeoutMs: 15_000,
    });
  });
  afterEach(() => relay.close());

  for (const written of [true, false]) {
    it(written ? "is this worker's all the same where the log has it" : "fails where the log has it not", async () => {
      const append = relay.store.append.bind(relay.store);
      relay.store.append = async (...given) => {
        if (written) await append(...given);
        throw new LogUnavailable("no answer");
      };
      const claiming = claims.claim({ kind: "due", eventId }, false, () => true).catch((error: unknown) => error);
      for (let looks = 0; looks < 2; looks += 1) {
        await eventually(async () => clock.pending, ({ length }) => length > 0);
        clock.advance(1_000);
        if (written) break;
      }
      const claimed = await claiming;
      if (written) expect(claimed).to.include({ revision: 1 });
      else expect(claimed).to.be.instanceOf(LogUnavailable);
    });
  }
});

describe("cancelling an event", () => {
  for (const [title, entries, miss] of [
    ["that is unreadable has no effect, and is reported", [{ unreadable: "spoiled" }], "unreadable"],
    ["that is gone has no effect", [], "gone"],
  ] as const) it(title, async () => {
    const told: string[] = [];
    const claims = new Claims({
      clock: new ManualClock(), store: { readStream: async () => entries }, deliveryTimeoutMs: 15_000,
      readModels: { get: async () => null }, freshness: { ask: (question: () => unknown) => question() },
      metrics: { anomaly: (trouble: string) => told.push(trouble) }, logger: { error: () => undefined },
    } as unknown as ConstructorParameters<typeof Claims>[0]);
    expect(await claims.cancel({ kind: "due", eventId: "event" })).to.equal(miss);
    expect(told).to.deep.equal(miss === "unreadable" ? ["event not readable"] : []);
  });

  it("fails where read models that are built again lack it: it may be a delivery that has not begun", async () => {
    const lost = new Refusal("unavailable", "the read models are being built again; try again");
    const claims = new Claims({
      clock: new ManualClock(), store: { readStream: async () => [] }, deliveryTimeoutMs: 15_000,
      readModels: { get: async () => null }, freshness: { ask: () => Promise.reject(lost) },
    } as unknown as ConstructorParameters<typeof Claims>[0]);
    const miss = await claims.cancel({ kind: "due", eventId: "event" }).catch((error: unknown) => error);
    expect(miss).to.equal(lost);
  });

  it("that only a newer release can read has no effect; a thousand of them make two lines, and no error", async () => {
    const clock = new ManualClock();
    const lines: object[] = [];
    const store = { readStream: async () => [{ unreadable: "unknown type", newer: true }] };
    const claims = new Claims({
      clock, store, deliveryTimeoutMs: 15_000,
      metrics: { anomaly: () => undefined }, logger: { warn: (fields: object) => lines.push(fields) },
    } as unknown as ConstructorParameters<typeof Claims>[0]);
    for (let n = 0; n < 1_000; n += 1) {
      expect(await claims.cancel({ kind: "due", eventId: `e${n}` })).to.equal("unreadable");
    }
    clock.advance(10_000);
    expect(lines).to.deep.equal([{ eventId: "e0" }, { events: 999 }]);
  });
});
