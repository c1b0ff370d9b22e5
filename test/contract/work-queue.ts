import { expect } from "chai";
import { QueueUnavailable, type WorkItem, type WorkQueue } from "../../src/kernel/ports/work-queue.ts";
import { firstAttempt, WorkRecorder } from "../support/work-recorder.ts";
import { until } from "./event-store/harness.ts";

/** A queue with nothing in it. */
export interface WorkQueueUnderTest {
  readonly queue: WorkQueue;
  /** The same queue in another process. */
  another(): Promise<WorkQueue>;
  /** Makes the engine unavailable to every process, and available again. */
  breakDown(): Promise<void>;
  heal(): Promise<void>;
  close(): Promise<void>;
}

export interface WorkQueueTraits {
  /** Whether several processes share it, each with a part of the destinations; it keeps items until they are taken. */
  readonly shared: boolean;
  /** Whether the engine can be unavailable. */
  readonly outages: boolean;
}

const healsWithinMs = 30_000;
const rejectsWithinMs = 20_000;
/** Much shorter than the session timeout of a silent member. */
const handsOverWithinMs = 5_500;
const destinations = Array.from({ length: 24 }, (_, index) => `destination-${index}`);

/** The contract of every adapter of WorkQueue. `make` may skip by throwing. */
export function workQueueContract(
  name: string,
  make: () => Promise<WorkQueueUnderTest>,
  { shared, outages }: WorkQueueTraits,
): void {
  describe(`${name} as work queue`, function () {
    this.timeout(90_000);
    let tested: WorkQueueUnderTest;
    let queue: WorkQueue;

    beforeEach(async () => {
      tested = await make();
      queue = tested.queue;
    });

    afterEach(() => tested.close());

    /** A consumer that has got its destinations. */
    async function joined(of: WorkQueue = queue) {
      const recorder = new WorkRecorder();
      const consumption = await of.consume(recorder);
      if (shared) await until("the consumer has its share", () => recorder.alive);
      return { recorder, stop: () => consumption.stop() };
    }

    describe("items", () => {
      it("arrive as they were published, every field", async () => {
        const items: WorkItem[] = [
          firstAttempt("a"),
          firstAttempt("b", { payload: "", idempotencyKey: "", revision: 9_007_199_254_740_991 }),
          firstAttempt("c", { idempotencyKey: "key \u0000 \" é€😀 \ud800" }),
          firstAttempt("d", { payload: "{\"é€😀\":\"\\u2028\u2028\udc00\"}" }),
          { kind: "wake", destinationId: "01890000-0000-7000-8000-000000000001", position: "" },
          { kind: "wake", destinationId: "01890000-0000-7000-8000-000000000001", position: "C:12/P:34" },
        ];
        const { recorder } = await joined();
        await queue.publish(items);
        await until("all are there", () => recorder.items.length >= items.length);
        expect(recorder.items).to.deep.equal(items);
      });

      it("come in the order of their publication to each destination", async () => {
        const { recorder } = await joined();
        const publications = Array.from({ length: 40 }, (_, round) => queue.publish(
          destinations.flatMap((destinationId) => [
            firstAttempt(`${destinationId}/${round}/0`, { destinationId, revision: 2 * round }),
            firstAttempt(`${destinationId}/${round}/1`, { destinationId, revision: 2 * round + 1 }),
          ]),
        ));
        await Promise.all(publications);
        await until("all are there", () => recorder.items.length >= 80 * destinations.length);
        for (const destinationId of destinations) {
          const revisions = recorder.items.flatMap((item) =>
            item.kind === "first" && item.destinationId === destinationId ? [item.revision] : []);
          expect(revisions, destinationId).to.deep.equal(Array.from({ length: 80 }, (_, index) => index));
        }
      });

      it("may be an empty list", async () => {
        await queue.publish([]);
      });

      it("can be published without a consumer", async () => {
        await queue.publish([firstAttempt("early")]);
        const { recorder } = await joined();
        await queue.publish([firstAttempt("late")]);
        await until("the late one is there", () => recorder.eventIds.includes("late"));
        expect(recorder.eventIds).to.deep.equal(shared ? ["early", "late"] : ["late"]);
      });

      it("come within a live session that was announced before", async () => {
        const { recorder } = await joined();
        for (let round = 0; round < 20; round++) await queue.publish([firstAttempt(String(round))]);
        await until("all are there", () => recorder.items.length >= 20);
        expect(recorder.aliveAtTake).to.not.include(false);
        expect(recorder.sessions.filter(({ alive }) => alive)).to.have.length(1);
      });
    });

    describe("a consumer that stops", () => {
      it("loses every destination and its session", async () => {
        const { recorder, stop } = await joined();
        await queue.publish([firstAttempt("a")]);
        await until("it is there", () => recorder.items.length === 1);
        const stopping = stop();
        expect(recorder.sessions.map(({ alive }) => alive)).to.not.include(true);
        await stopping;
        expect(destinations.filter((id) => recorder.owns(id))).to.deep.equal([]);
        expect(recorder.sessions.map(({ alive }) => alive)).to.not.include(true);
      });

      it("takes no more items, and leaves them to the next", async () => {
        const { recorder: first, stop } = await joined();
        await stop();
        await queue.publish([firstAttempt("a")]);
        const { recorder: second } = await joined();
        await queue.publish([firstAttempt("b")]);
        await until("the next has it", () => second.eventIds.includes("b"));
        expect(first.items).to.deep.equal([]);
        expect(second.eventIds).to.deep.equal(shared ? ["a", "b"] : ["b"]);
      });

      it("may stop while it starts", async () => {
        const recorder = new WorkRecorder();
        const consumption = await queue.consume(recorder);
        await consumption.stop();
        const { recorder: next } = await joined();
        await queue.publish([firstAttempt("a")]);
        await until("the next has it", () => next.items.length === 1);
        expect(recorder.items).to.deep.equal([]);
        expect(recorder.alive).to.equal(false);
      });
    });

    if (shared) {
      describe("several consumers", () => {
        const publishToAll = (round: number) =>
          queue.publish(destinations.map((id) => firstAttempt(`${id}/${round}`, { destinationId: id })));

        const ownersOf = (id: string, recorders: readonly WorkRecorder[]) =>
          recorders.filter((recorder) => recorder.owns(id)).length;

        const settled = (recorders: readonly WorkRecorder[]) => until("each destination has one owner", () =>
          recorders.every(({ alive }) => alive) && destinations.every((id) => ownersOf(id, recorders) === 1));

        /** Fails if a destination has two owners at any time during the task. */
        async function watching(recorders: readonly WorkRecorder[], task: () => Promise<void>): Promise<void> {
          const twice = new Set<string>();
          const watch = setInterval(() => {
            for (const id of destinations) if (ownersOf(id, recorders) > 1) twice.add(id);
          }, 1);
          try {
            await task();
          } finally {
            clearInterval(watch);
          }
          expect([...twice]).to.deep.equal([]);
        }

        it("share the destinations: each item comes once, to its destination's owner", async () => {
          const { recorder: a } = await joined();
          const { recorder: b } = await joined(await tested.another());
          await settled([a, b]);
          for (let round = 0; round < 5; round++) await publishToAll(round);
          await until("all are there", () => a.items.length + b.items.length >= 5 * destinations.length);
          expect(new Set([...a.eventIds, ...b.eventIds])).to.have.property("size", 5 * destinations.length);
          expect(a.items.length + b.items.length).to.equal(5 * destinations.length);
          for (const recorder of [a, b]) {
            expect(recorder.items).to.not.have.length(0);
            expect(recorder.items.filter(({ destinationId }) => !recorder.owns(destinationId))).to.deep.equal([]);
          }
        });

        it("hand over at once when one joins: the first keeps a share, no destination has two owners", async () => {
          const { recorder: a } = await joined();
          const sessionBefore = a.sessions.at(-1);
          const b = new WorkRecorder();
          const other = await tested.another();
          const from = performance.now();
          await watching([a, b], async () => {
            await other.consume(b);
            await settled([a, b]);
          });
          expect(performance.now() - from).to.be.below(handsOverWithinMs);
          expect(sessionBefore?.alive).to.equal(false);
          const kept = destinations.filter((id) => a.owns(id));
          expect(kept.length).to.be.within(1, destinations.length - 1);
          expect(destinations.filter((id) => b.owns(id))).to.have.length(destinations.length - kept.length);
        });

        it("take over at once when one leaves, and miss nothing", async () => {
          const { recorder: a, stop } = await joined();
          const { recorder: b } = await joined(await tested.another());
          await settled([a, b]);
          await publishToAll(0);
          await until("all are there", () => a.items.length + b.items.length >= destinations.length);
          const from = performance.now();
          await watching([a, b], async () => {
            await stop();
            await settled([b]);
          });
          expect(performance.now() - from).to.be.below(handsOverWithinMs);
          const before = a.items.length;
          await publishToAll(1);
          await until("all are there", () => new Set([...a.eventIds, ...b.eventIds]).size === 2 * destinations.length);
          expect(a.items).to.have.length(before);
        });

        it("report a destination kept through a rebalancing as kept in every step", async () => {
          const { recorder: a } = await joined();
          const seen = a.reassignments;
          const { recorder: b } = await joined(await tested.another());
          await settled([a, b]);
          expect(a.reassignments).to.equal(seen + 1);
        });
      });
    }

    if (outages) {
      describe("with the engine unavailable", () => {
        it("rejects a publication in bounded time, and takes it again when the engine is back", async () => {
          const { recorder } = await joined();
          await queue.publish([firstAttempt("before")]);
          await until("it is there", () => recorder.items.length === 1);
          await tested.breakDown();
          const from = performance.now();
          const error: unknown = await queue.publish([firstAttempt("during")]).catch((reason: unknown) => reason);
          expect(error).to.be.instanceOf(QueueUnavailable);
          expect(performance.now() - from).to.be.below(rejectsWithinMs);
          await until("no session is alive", () => !recorder.alive);
          await tested.heal();
          const healing = performance.now();
          await until("it takes items", () => queue.publish([firstAttempt("after")]).then(() => true, () => false));
          await until("they arrive", () => recorder.eventIds.includes("after"));
          expect(performance.now() - healing).to.be.below(healsWithinMs);
          expect(recorder.alive).to.equal(true);
        });

        it("starts to consume once the engine is available", async () => {
          await tested.breakDown();
          const recorder = new WorkRecorder();
          await queue.consume(recorder);
          const error: unknown = await queue.publish([firstAttempt("lost")]).catch((reason: unknown) => reason);
          expect(error).to.be.instanceOf(QueueUnavailable);
          expect(recorder.alive).to.equal(false);
          await tested.heal();
          await until("it has its share", () => recorder.alive);
          await queue.publish([firstAttempt("a")]);
          await until("items arrive", () => recorder.eventIds.includes("a"));
        });

        it("stops in bounded time", async () => {
          const { recorder, stop } = await joined();
          await tested.breakDown();
          const from = performance.now();
          await stop();
          expect(performance.now() - from).to.be.below(rejectsWithinMs);
          expect(recorder.alive).to.equal(false);
        });
      });
    }
  });
}
