import { expect } from "chai";
import { LogUnavailable, noStream, RevisionConflict } from "../../../src/kernel/ports/event-store.ts";
import { failureOf, freshStream, note, texts, until, type Bench, type EventStoreCapabilities } from "./harness.ts";

/** Entries from the future, restarts, outages. */
export function survivingContract(bench: () => Bench, can: EventStoreCapabilities): void {
  describe("meeting an unreadable entry", () => {
    it("reports it as unreadable, in its place, and goes on", async () => {
      const stream = freshStream();
      const after = await bench().store.head();
      const live = bench().follow({ after }, [stream]);
      await bench().write(stream, "a");
      await bench().engine.plantUnreadable(stream, 0);
      await bench().write(stream, "c");
      const catchingUp = bench().follow({ after }, [stream]);
      await Promise.all([live.sees(3), catchingUp.sees(3)]);
      const logged = (await bench().store.readLog(after, 1000)).entries.filter((entry) => entry.stream === stream);
      for (const entries of [live.seen, catchingUp.seen, logged, await bench().store.readStream(stream)]) {
        expect(entries.map(({ revision }) => revision)).to.deep.equal([0, 1, 2]);
        expect(texts(entries)).to.deep.equal(["a", "unreadable", "c"]);
        expect(entries[1]).to.have.keys("stream", "revision", "position", "id", "type", "unreadable", "newer");
      }
    });
  });

  if (can.reopen) describe("living through a restart", () => {
    it("keeps all entries, ids and deletions, and gives no position twice", async () => {
      const [stream, deleted, begunAgain] = [freshStream(), freshStream(), freshStream()];
      const [closed, neverBegun] = [freshStream(), freshStream()];
      const after = await bench().store.head();
      const ids = [note("a"), note("b")];
      const first = await bench().store.append(stream, noStream, ids);
      await bench().write(begunAgain, "old");
      await bench().store.deleteStream(begunAgain);
      const [begun] = await bench().write(begunAgain, "new");
      await bench().write(deleted, "x", "y");
      await bench().store.deleteStream(deleted);
      await bench().write(closed, "x", "y");
      for (const one of [closed, neverBegun]) await bench().store.deleteStream(one, undefined, { forGood: true });
      const [head, end] = [await bench().store.head(), await bench().store.end()];

      bench().store = await bench().engine.reopen!();
      expect((await bench().store.head()) >= head).to.equal(true);
      expect((await bench().store.end()) >= end).to.equal(true);
      expect(texts(await bench().store.readStream(stream))).to.deep.equal(["a", "b"]);
      expect(await bench().store.append(stream, noStream, ids)).to.deep.equal(first);
      expect(await bench().store.readStream(deleted)).to.deep.equal([]);
      expect(texts(await bench().store.readStream(begunAgain))).to.deep.equal(["new"]);
      for (const one of [closed, neverBegun]) {
        for (const expected of [noStream, 1]) {
          expect(await failureOf(bench().store.append(one, expected, [note("z")]))).to.be.instanceOf(RevisionConflict);
        }
      }
      const again = await bench().store.append(deleted, noStream, [note("z")]);
      expect(again.revision).to.be.at.least(2);
      expect(again.position > head).to.equal(true);
      const newest = await bench().store.append(begunAgain, begun!.revision, [note("newer")]);
      expect(newest.revision).to.equal(begun!.revision + 1);
      const follower = bench().follow({ after }, [stream, begunAgain]);
      await follower.reaches(newest.position);
      // Some engines still deliver the entries of a deleted stream.
      expect(texts(follower.seen).filter((text) => text !== "old")).to.deep.equal(["a", "b", "new", "newer"]);
    });
  });

  if (can.outage) describe("losing the engine for a while", () => {
    it("fails appends as unavailable, then works again, and subscriptions resume", async () => {
      const outage = bench().engine.outage!;
      const stream = freshStream();
      const follower = bench().follow({ after: await bench().store.head() }, [stream]);
      await bench().write(stream, "a");
      await follower.sees(1);
      await outage.begin();
      const entries = [note("b")];
      expect(await failureOf(bench().store.append(stream, 0, entries))).to.be.instanceOf(LogUnavailable);
      await outage.end();
      await until("the append succeeds", async () => {
        const failure = await bench().store.append(stream, 0, entries).then(() => null, (error: Error) => error);
        if (failure) expect(failure).to.be.instanceOf(LogUnavailable);
        return failure === null;
      });
      await bench().write(stream, "c");
      await follower.sees(3);
      expect(texts(follower.seen)).to.deep.equal(["a", "b", "c"]);
    });
  });
}
