import { expect } from "chai";
import { LogUnavailable, type EventStore, type LogEntry } from "../../../src/ports/event-store.ts";
import { Claims } from "../../../src/workers/delivery/claims.ts";
import type { Claimed, Miss, Start } from "../../../src/workers/delivery/work.ts";
import { ManualClock } from "../../support/manual-clock.ts";

describe("a first attempt whose claim the log did not answer", () => {
  const claim = { id: "claim", revision: 1, position: "7" } as unknown as LogEntry;
  const away = new LogUnavailable("away");
  let found: Claimed | Miss | undefined;
  let clock: ManualClock;

  /** Looks for it in a log that answers with what is given, one look after the other, the last again and again. */
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
    return claims.leaseMs;
  };
  const wait = async (ms: number) => {
    await new Promise(setImmediate);
    for (let waited = 0; waited < ms; waited += 250) {
      clock.advance(250);
      await new Promise(setImmediate);
    }
  };

  it("is carried out where the log shows it late, and not where it says twice that there is none", async () => {
    lookIn([], [claim]);
    await wait(500);
    expect(found).to.include({ revision: 1, position: "7" });
    lookIn([], away, []);
    await wait(500);
    expect(found).to.equal(undefined);
    await wait(250);
    expect(found).to.equal("nothing to do");
  });

  it("is looked for while the log is away, but no longer than it is leased", async () => {
    const leaseMs = lookIn(away);
    await wait(leaseMs - 250);
    expect(found).to.equal(undefined);
    await wait(250);
    expect(found).to.equal("nothing to do");
  });
});

describe("cancelling an event", () => {
  for (const [title, entries, miss] of [
    ["that cannot be read comes to nothing, and is told", [{ unreadable: "spoiled" }], "unreadable"],
    ["that is gone comes to nothing", [], "gone"],
  ] as const) it(title, async () => {
    const told: string[] = [];
    const claims = new Claims({
      clock: new ManualClock(), store: { readStream: async () => entries }, deliveryTimeoutMs: 15_000,
      metrics: { anomaly: (trouble: string) => told.push(trouble) }, logger: { error: () => undefined },
    } as unknown as ConstructorParameters<typeof Claims>[0]);
    expect(await claims.cancel({ kind: "due", eventId: "event" })).to.equal(miss);
    expect(told).to.deep.equal(miss === "unreadable" ? ["event not readable"] : []);
  });

  it("that only a newer release can read comes to nothing; of thousands a few lines tell, and no error", async () => {
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
