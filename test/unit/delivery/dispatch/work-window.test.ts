import { expect } from "chai";
import { PayloadBudget } from "../../../../src/delivery/dispatch/payload-budget.ts";
import {
  mostUnreadable, windowSize, WorkWindow, type WindowParts,
} from "../../../../src/delivery/dispatch/work-window.ts";
import type { DueIndex, WaitingWork } from "../../../../src/delivery/requests/due-index.ts";
import { newCircuit, type Circuit } from "../../../../src/features/circuits/facts.ts";
import type { Destination } from "../../../../src/features/destinations/facts.ts";
import { timestamp } from "../../../../src/kernel/domain/time.ts";
import type { EventLog } from "../../../../src/kernel/ports/event-store.ts";
import type { FirstAttempt } from "../../../../src/kernel/ports/work-queue.ts";
import { ManualClock } from "../../../support/manual-clock.ts";

const item = (n: number) =>
  ({ kind: "first", destinationId: "d", eventId: `e${n}`, payload: "1", position: "1" }) as FirstAttempt;
const halfOpen = { ...newCircuit("d", "t"), position: "HalfOpen" } as const;
const unordered = { id: "d", tenantId: "t", ordering: "none", deleted: false } as Destination;
const due = (eventId: string) => ({ kind: "due", eventId }) as const;
const wake = (position: string) => ({ kind: "wake", destinationId: "d", position }) as const;

describe("a window of work", () => {
  let named: string[];
  /** The positions that the due index had to cover, look by look; it fails once for each of `errors`. */
  let covered: string[];
  let errors: Error[];
  /** The heads of the log, look by look. */
  let heads: string[];
  let parts: WindowParts;
  let window: WorkWindow;

  beforeEach(() => {
    [named, covered, errors] = [[], [], []];
    const first = (limit: number): WaitingWork[] => named.slice(0, limit).map((eventId) => ({ eventId, dueAt: "" }));
    const dueIndex = {
      due: async (_of: unknown, _until: unknown, limit: number) => first(limit),
      oldestDue: async (_of: unknown, _now: unknown, limit: number, after = "") =>
        named.filter((eventId) => eventId > after).slice(0, limit),
      cover: async (position: string) => {
        covered.push(position);
        const error = errors.shift();
        if (error) throw error;
      },
    } as unknown as DueIndex;
    heads = [];
    const log = { head: async () => heads.shift() ?? "head" } as unknown as EventLog;
    parts = { dueIndex, log, clock: new ManualClock(), payloadBudget: new PayloadBudget(2 * windowSize) };
    window = new WorkWindow("d", parts);
  });

  const refill = () => window.refill()(unordered, 0);
  const taken = () => Array.from({ length: windowSize + 1 }, () => window.take()?.eventId).filter((id) => id);

  it("leaves events beyond its size to the due index, and is low when few are left", async () => {
    for (let n = 0; n <= windowSize; n += 1) window.offer(item(n));
    expect(window.low).to.equal(false);
    expect(taken()).to.deep.equal(Array.from({ length: windowSize }, (_, n) => `e${n}`));
    expect(window.low).to.equal(true);
    named = ["e0", `e${windowSize}`];
    await refill();
    // The index may still name events whose attempts are open.
    expect(taken()).to.deep.equal([`e${windowSize}`]);
    expect(window.low).to.equal(false);
  });

  it("leaves events to the due index while payloads of other windows exhaust the budget", () => {
    const other = new WorkWindow("other", parts);
    const payload = "x".repeat(windowSize);
    for (const n of [1, 2]) other.offer({ ...item(n), payload });
    window.offer(item(3));
    expect([window.idle, window.low]).to.deep.equal([true, true]);
    other.take();
    window.offer({ ...item(4), payload });
    expect(taken()).to.deep.equal(["e4"]);
    other.hold();
    for (const n of [5, 6]) window.offer({ ...item(n), payload });
    expect(taken()).to.deep.equal(["e5", "e6"]);
  });

  it("waits for the due index to cover its own writes and the positions of wake-ups", async () => {
    window.written("5");
    window.written("4");
    window.offer(wake("3"));
    await refill();
    for (const position of ["6", "7", "6"]) window.offer(wake(position));
    await refill();
    expect(covered).to.deep.equal(["5", "7"]);
  });

  it("waits only once for a position beyond the head of the log", async () => {
    window.offer(wake("i: beyond the head"));
    errors.push(new Error("the due index is behind"));
    await refill().catch(() => undefined);
    expect(window.low).to.equal(true);
    await refill();
    expect(covered).to.deep.equal(["i: beyond the head", "head"]);
  });

  it("is not clear for newer events after it dropped events or an attempt failed, until a refill", async () => {
    expect(window.clear).to.equal(true);
    for (const lose of [() => window.hold(), () => window.lookAgain(), () => window.end(due("e1"), "not ours")]) {
      window.offer(item(1));
      window.take();
      window.end(due("e1"), undefined);
      expect(window.clear).to.equal(true);
      lose();
      expect([window.clear, window.low, window.idle]).to.deep.equal([false, true, true]);
      await refill();
      expect([window.clear, window.low, window.idle]).to.deep.equal([true, false, true]);
    }
  });

  it("is not clear for newer events while it holds events or looks for them; it looks once at a time", async () => {
    window.offer(item(1));
    expect(window.clear).to.equal(false);
    window.take();
    window.offer(wake("1"));
    expect(window.clear).to.equal(false);
    const looking = refill();
    expect([window.clear, window.low]).to.deep.equal([false, false]);
    window.offer(wake("2"));
    expect(window.low).to.equal(false);
    await looking;
    expect(window.low).to.equal(true);
  });

  it("is called by work and wake-ups, until it is held", () => {
    for (const call of [wake("1"), item(1)]) {
      window.offer(call);
      expect(window.called).to.equal(true);
      window.hold();
      expect(window.called).to.equal(false);
    }
  });

  for (const count of [windowSize - 1, windowSize]) it(`finds the rest of ${count} events again`, async () => {
    named = Array.from({ length: count }, (_, n) => `e${n}`);
    const arrived = ["e3", "e100", "e101"];
    window.offer(wake("1"));
    const looking = refill();
    for (const n of [3, 100, 101]) window.offer(item(n));
    await looking;
    const first = taken();
    expect(first).to.have.length(windowSize);
    expect(first.slice(0, 3)).to.deep.equal(arrived);
    expect(window.low).to.equal(true);
    await refill();
    expect(covered).to.deep.equal(["1", "1"]);
    expect([...first, ...taken()]).to.have.members([...named, "e100", "e101"]);
  });

  it("becomes low, to ask for the events left out, even while new ones arrive", () => {
    for (let n = 0; n <= windowSize; n += 1) window.offer(item(n));
    for (let n = 100; n < 100 + windowSize && !window.low; n += 1) {
      window.offer(item(n));
      window.take();
    }
    expect(window.low).to.equal(true);
    expect(taken().at(-1)).to.equal(`e${windowSize - 1}`);
  });

  it("keeps places for the events that it looks for, even while many new ones arrive", async () => {
    named = ["e0", "e1"];
    window.offer(wake("1"));
    const looking = refill();
    for (let n = 100; n < 100 + windowSize; n += 1) window.offer(item(n));
    await looking;
    expect(taken()).to.include.members(named);
  });

  it("does not start new events before older ones left in the due index", async () => {
    const count = windowSize + 1;
    named = Array.from({ length: count }, (_, n) => `e${n}`);
    window.offer(wake("1"));
    await refill();
    const first = taken();
    window.offer(item(count));
    expect([window.idle, window.low]).to.deep.equal([true, true]);
    named = [`e${windowSize}`, `e${count}`];
    window.hold();
    await refill();
    expect([...first, ...taken()]).to.deep.equal(Array.from({ length: count + 1 }, (_, n) => `e${n}`));
    window.offer(item(count + 1));
    expect(taken()).to.deep.equal([`e${count + 1}`]);
  });

  it("takes new events when the due index cannot tell the older ones", async () => {
    named = Array.from({ length: windowSize + 1 }, (_, n) => `e${n}`);
    window.offer(wake("1"));
    await refill();
    taken();
    window.hold();
    errors.push(new Error("the due index is behind"));
    expect(await refill().catch(String)).to.equal("Error: the due index is behind");
    window.offer(item(100));
    expect(taken()).to.deep.equal(["e100"]);
  });

  it("looks from the start for events that it dropped", async () => {
    named = Array.from({ length: 2 * windowSize }, (_, n) => `e${n}`);
    window.offer(wake("1"));
    await refill();
    window.hold();
    await refill();
    expect(covered).to.deep.equal(["1", ""]);
    expect(taken()).to.deep.equal(named.slice(0, windowSize));
    // The index has more behind the page.
    expect(window.low).to.equal(true);
  });

  it("drops the events of an open look, and finds them again", async () => {
    named = Array.from({ length: 2 * windowSize }, (_, n) => `e${n}`);
    window.offer(wake("1"));
    const looking = refill();
    window.hold();
    await looking;
    expect([window.idle, window.low]).to.deep.equal([true, true]);
    await refill();
    expect(taken()).to.deep.equal(named.slice(0, windowSize));
  });

  it("waits after a pause until the due index covers the events from before and during it", async () => {
    const first = (position: string) => window.offer({ ...item(Number(position)), position });
    for (const position of ["3", "5", "4"]) first(position);
    window.holdForPause();
    first("6");
    window.holdForPause();
    window.holdForPause();
    expect([window.idle, window.clear, window.low]).to.deep.equal([true, false, true]);
    named = ["e3", "e5", "e4", "e6"];
    await refill();
    expect(covered).to.deep.equal(["6"]);
    expect(taken()).to.deep.equal(named);
  });

  it("takes a dropped event again, but not an unreadable one", async () => {
    window.offer(item(1));
    window.hold();
    window.offer(item(1));
    expect(taken()).to.deep.equal(["e1"]);
    window.end(due("e1"), "unreadable");
    window.offer(item(1));
    named = ["e1", "e2"];
    expect(taken()).to.deep.equal([]);
    expect(await window.oldest(halfOpen, unordered)).to.include({ eventId: "e2" });
    expect(covered).to.deep.equal(["head"]);
  });

  it("remembers a limited number of unreadable events; beyond that it takes new ones, and does not look", () => {
    window.offer(wake("1"));
    for (let n = 1; n < mostUnreadable; n += 1) window.end(due(`u${n}`), "unreadable");
    expect(window.low).to.equal(true);
    window.end(due("u0"), "unreadable");
    expect(window.low).to.equal(false);
    window.offer(item(1));
    expect(taken()).to.deep.equal(["e1"]);
  });

  it("looks for a probe behind an event that the log lacks, until that is accepted again", async () => {
    const oldest = async () => (await window.oldest(halfOpen, unordered))?.eventId;
    expect(await oldest()).to.equal(undefined);
    named = ["e1", "e2"];
    expect(await oldest()).to.equal("e1");
    window.end(due("e1"), undefined);
    expect(await oldest()).to.equal("e1");
    errors.push(new Error("behind"));
    expect(await oldest().catch(String)).to.equal("Error: behind");
    window.end(due("e1"), "gone");
    expect(await oldest()).to.equal("e2");
    window.offer(item(1));
    expect(await oldest()).to.equal("e1");
    expect(taken()).to.deep.equal(["e1"]);
  });

  it("looks for the next probe of an outage behind the last one, and from the start after the newest", async () => {
    named = ["e1", "e2", "e3"];
    const after = async (circuit: Partial<Circuit>) =>
      (await window.oldest({ ...halfOpen, ...circuit }, unordered))?.eventId;
    expect(await after({ lastProbe: "e1" })).to.equal("e2");
    expect(await after({ lastProbe: "e3" })).to.equal("e1");
    // A claimed probe must be lost: otherwise there would be no look.
    expect(await after({ lastProbe: "e1", probe: { eventId: "e2", leaseUntil: timestamp(0) } })).to.equal("e3");
    window.end(due("e2"), "unreadable");
    window.end(due("e3"), "gone");
    expect(await after({ lastProbe: "e1" })).to.equal("e1");
    named = ["e9"];
    expect(await after({ lastProbe: "e9" }), "the only one").to.equal("e9");
  });

  it("repeats a failed look at its first position, even after later claims", async () => {
    const refillBehind = async () => {
      errors.push(new Error("the due index is behind"));
      expect(await refill().catch(String)).to.equal("Error: the due index is behind");
    };
    window.written("5");
    await refillBehind();
    window.written("6");
    await refillBehind();
    // The next look covers later items.
    window.offer(wake("7"));
    await refill();
    expect(window.low).to.equal(true);
    window.written("8");
    await refill();
    expect(window.low).to.equal(false);
    expect(covered).to.deep.equal(["5", "5", "5", "8"]);
    await refillBehind();
    window.hold();
    window.written("9");
    await refill();
    expect(covered.slice(4)).to.deep.equal(["8", "9"]);
  });

  it("looks for a probe of one outage at its first position, even as the log grows", async () => {
    const open = (openUntil: string) => ({ ...halfOpen, position: "Open", openUntil }) as const;
    heads = ["2", "5", "7", "9"];
    errors.push(new Error("behind"), new Error("behind"), new Error("behind"));
    for (const openUntil of ["noon", "noon", "one"]) {
      await window.oldest(open(openUntil), unordered).catch(() => undefined);
    }
    window.written("6");
    await window.oldest(open("one"), unordered);
    await window.oldest(open("one"), unordered);
    expect(covered).to.deep.equal(["2", "2", "5", "6", "7"]);
  });

  it("asks the due index again after a failure", async () => {
    window.offer(wake("2"));
    errors.push(new Error("away"));
    const failed = await refill().catch((error: unknown) => String(error));
    expect([failed, window.clear, window.low]).to.deep.equal(["Error: away", false, true]);
    await refill();
    expect(covered).to.deep.equal(["2", "2"]);
    expect(window.low).to.equal(false);
  });
});
