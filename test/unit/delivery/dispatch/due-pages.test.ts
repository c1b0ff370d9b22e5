import { expect } from "chai";
import fc from "fast-check";
import { DuePages } from "../../../../src/delivery/dispatch/work-window.ts";
import type { DueIndex, WaitingWork, WorkOf } from "../../../../src/delivery/requests/due-index.ts";
import { millis, timestamp } from "../../../../src/kernel/domain/time.ts";
import { ManualClock } from "../../../support/manual-clock.ts";

/** A due index that lags: changes show when it catches up. */
class LaggingIndex {
  shown: WaitingWork[] = [];
  looks = 0;
  read = 0;
  readonly #late: (() => void)[] = [];

  put(eventId: string, dueAt: string): void {
    this.#late.push(() => this.shown.push({ eventId, dueAt }));
  }

  take(eventId: string): void {
    this.#late.push(() => {
      this.shown = this.shown.filter((work) => work.eventId !== eventId);
    });
  }

  catchUp(): void {
    for (const change of this.#late.splice(0)) change();
  }

  async cover(): Promise<void> {
    this.looks += 1;
    this.catchUp();
  }

  async due(_of: WorkOf, until: string, limit: number, from = ""): Promise<readonly WaitingWork[]> {
    const due = this.shown.filter(({ dueAt }) => dueAt <= until && dueAt >= from);
    due.sort((a, b) => (a.dueAt === b.dueAt ? (a.eventId < b.eventId ? -1 : 1) : a.dueAt < b.dueAt ? -1 : 1));
    const page = due.slice(0, limit);
    this.read += page.length;
    return page;
  }
}

describe("pages of due work", () => {
  let index: LaggingIndex;
  let clock: ManualClock;
  let pages: DuePages;

  beforeEach(() => {
    index = new LaggingIndex();
    clock = new ManualClock();
    pages = new DuePages("d", { dueIndex: index as unknown as DueIndex, clock });
  });

  const nothingKnown = { count: 0, has: () => false };
  const next = (room: number, known: { count: number; has(id: string): boolean } = nothingKnown) =>
    pages.next({ tenantId: "t", position: "", dueBy: 1_000_000, room, known });

  const names = Array.from({ length: 100 }, (_, n) => `e${String(n).padStart(3, "0")}`);
  for (const [title, dueMs] of [["with distinct due times", 1], ["with equal due times", 0]] as const) {
    it(`go on where they ended, and wait for the index at the first and last page only, ${title}`, async () => {
      for (const [n, eventId] of names.entries()) index.put(eventId, timestamp(n * dueMs));
      const found: string[] = [];
      // The first page reads more than fits.
      for (let page = await next(10, { count: 5, has: () => false }); ; page = await next(10)) {
        for (const eventId of page.found) index.take(eventId);
        found.push(...page.found);
        if (!page.more) break;
      }
      expect(found).to.deep.equal(names);
      expect(index.looks).to.equal(2);
      if (dueMs > 0) expect(index.read).to.be.below(120);
    });
  }

  it("begin again after a second, and on demand", async () => {
    for (let n = 0; n < 50; n += 1) index.put(`e${n + 10}`, timestamp(n + 10));
    await next(5);
    index.put("early", timestamp(1));
    index.catchUp();
    expect((await next(5)).found).to.not.include("early");
    clock.advance(1_000);
    expect((await next(5)).found).to.include("early");
    index.put("earlier", timestamp(0));
    index.catchUp();
    pages.startOver();
    expect((await next(5)).found).to.include("earlier");
  });

  it("find all work, even with a late index and with equal due times", async () => {
    const step = fc.record({
      room: fc.integer({ min: 1, max: 7 }),
      puts: fc.array(fc.nat(6), { maxLength: 6 }),
      catchesUp: fc.boolean(),
      passMs: fc.constantFrom(0, 0, 10, 2_000),
    });
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 40 }), async (steps) => {
        index = new LaggingIndex();
        clock = new ManualClock();
        pages = new DuePages("d", { dueIndex: index as unknown as DueIndex, clock });
        const dueAts = new Map<string, string>();
        /** All events found so far; the dispatcher knows only those of the last page or two, in `underWay`. */
        const taken: string[] = [];
        const underWay = new Set<string>();
        const settle = (leave: number) => {
          for (const eventId of [...underWay].slice(0, Math.max(0, underWay.size - leave))) {
            underWay.delete(eventId);
            index.take(eventId);
          }
        };
        const look = async (room: number) => {
          const page = await next(room, { count: underWay.size, has: (eventId) => underWay.has(eventId) });
          expect(page.found.length).to.be.at.most(room);
          expect(page.found.map((eventId) => millis(dueAts.get(eventId)!))).to.deep.equal(
            page.found.map((eventId) => millis(dueAts.get(eventId)!)).sort((a, b) => a - b));
          for (const eventId of page.found) underWay.add(eventId);
          taken.push(...page.found);
          return page.more;
        };
        for (const { room, puts, catchesUp, passMs } of steps) {
          for (const dueMs of puts) {
            const eventId = `e${String(dueAts.size).padStart(4, "0")}`;
            dueAts.set(eventId, timestamp(dueMs));
            index.put(eventId, timestamp(dueMs));
          }
          if (catchesUp) index.catchUp();
          clock.advance(passMs);
          await look(room);
          settle(3);
        }
        for (let more = true; more;) {
          more = await look(5);
          settle(0);
        }
        expect(new Set(taken)).to.deep.equal(new Set(dueAts.keys()));
      }),
      { numRuns: 300 },
    );
  });
});
