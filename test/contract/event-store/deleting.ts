import { expect } from "chai";
import { noStream, RevisionConflict, type EventStore, type NewEntry } from "../../../src/kernel/ports/event-store.ts";
import { failureOf, freshStream, note, texts, type Bench } from "./harness.ts";

/** Deletion of streams. */
export function deletingContract(bench: () => Bench): void {
  describe("deleting a stream", () => {
    it("leaves nothing to read and lets the stream begin again, with higher revisions", async () => {
      const stream = freshStream();
      const [, , last] = await bench().write(stream, "a", "b", "c");
      await bench().store.deleteStream(stream);
      expect(await bench().store.readStream(stream)).to.deep.equal([]);
      expect(await bench().store.readStream(stream, { backwards: true, limit: 1 })).to.deep.equal([]);
      expect(await failureOf(bench().store.append(stream, 2, [note("d")]))).to.be.instanceOf(RevisionConflict)
        .and.to.include({ actual: noStream });
      const again = await bench().store.append(stream, noStream, [note("e"), note("f")]);
      // Some engines use up a revision for the deletion; none uses one twice.
      expect(again.revision).to.be.at.least(4);
      const [e, f, g] = [again.revision - 1, again.revision, again.revision + 1];
      expect(again.position > last!.position).to.equal(true);
      expect((await bench().store.append(stream, f, [note("g")])).revision).to.equal(g);
      const entries = await bench().store.readStream(stream);
      expect(entries.map(({ revision }) => revision)).to.deep.equal([e, f, g]);
      expect(texts(await bench().store.readStream(stream, { from: 1, limit: 2 }))).to.deep.equal(["e", "f"]);
      expect(texts(await bench().store.readStream(stream, { backwards: true }))).to.deep.equal(["g", "f", "e"]);
    });

    it("lets exactly one append begin it again, and answers its repetition alike", async () => {
      const stream = freshStream();
      await bench().write(stream, "a");
      await bench().store.deleteStream(stream);
      const entries = Array.from({ length: 20 }, (_, racer) => [note(String(racer))]);
      const outcomes = await Promise.allSettled(entries.map((entry) => bench().store.append(stream, noStream, entry)));
      const winner = outcomes.findIndex(({ status }) => status === "fulfilled");
      expect(outcomes.filter(({ status }) => status === "fulfilled")).to.have.length(1);
      const repeated = await bench().store.append(stream, noStream, entries[winner]!);
      expect(outcomes[winner]).to.deep.equal({ status: "fulfilled", value: repeated });
      expect(await bench().store.readStream(stream)).to.have.length(1);
    });

    it("for good keeps every append away for ever, whatever it expects and whether the stream ever began", async () => {
      const [begun, deleted, never] = [freshStream(), freshStream(), freshStream()];
      const first = [note("a"), note("b")];
      const { revision } = await bench().store.append(begun, noStream, first);
      await bench().store.append(deleted, noStream, first);
      await bench().store.deleteStream(deleted);
      expect(await failureOf(bench().store.deleteStream(begun, 0, { forGood: true }))).to.be
        .instanceOf(RevisionConflict).and.to.include({ expected: 0, actual: revision });
      expect(texts(await bench().store.readStream(begun))).to.deep.equal(["a", "b"]);
      for (const [stream, expected] of [[begun, revision], [deleted, noStream], [never, noStream]] as const) {
        await bench().store.deleteStream(stream, expected, { forGood: true });
        await expectClosed(bench().store, stream, first);
        for (const options of [{ forGood: true }, {}]) {
          await bench().store.deleteStream(stream, revision, options);
          await bench().store.deleteStream(stream, undefined, options);
        }
        await expectClosed(bench().store, stream, first);
      }
    });

    it("for good at an expected state destroys no append that was acknowledged before", async () => {
      const rival = await bench().engine.store();
      for (let round = 0; round < 24; round += 1) {
        const [stream, before] = [freshStream(), round % 3];
        // In turn one that never began, one that was deleted, and one with an entry.
        if (before > 0) await bench().write(stream, "old");
        if (before === 1) await bench().store.deleteStream(stream);
        const expected = before === 2 ? 0 : noStream;
        const appends = () => Array.from({ length: 5 }, () => bench().store.append(stream, expected, [note("new")]));
        const early = round % 2 === 0 ? [] : appends();
        const deletion = rival.deleteStream(stream, expected, { forGood: true });
        const outcomes = await Promise.allSettled([deletion, ...early, ...appends()]);
        expect(outcomes.filter(({ status }) => status === "fulfilled")).to.have.length(1);
        for (const outcome of outcomes) {
          if (outcome.status === "rejected") expect(outcome.reason).to.be.instanceOf(RevisionConflict);
        }
        if (outcomes[0].status === "fulfilled") await expectClosed(bench().store, stream, [note("late")]);
        else {
          const left = before === 2 ? ["old", "new"] : ["new"];
          expect(texts(await bench().store.readStream(stream))).to.deep.equal(left);
        }
      }
    });

    it("for good at any state takes what was appended before, and lets nothing be appended after", async () => {
      const rival = await bench().engine.store();
      for (let round = 0; round < 10; round += 1) {
        const stream = freshStream();
        const appends = Array.from({ length: 5 }, () => bench().store.append(stream, noStream, [note("new")]));
        await Promise.all([rival.deleteStream(stream, undefined, { forGood: true }), Promise.allSettled(appends)]);
        await expectClosed(bench().store, stream, [note("late")]);
      }
    });

    it("for good lets subscriptions reach the head", async () => {
      const follower = bench().follow({ after: await bench().store.head(), prompt: true }, []);
      const [begun, never] = [freshStream(), freshStream()];
      await bench().write(begun, "a");
      for (const stream of [never, begun]) {
        await bench().store.deleteStream(stream, undefined, { forGood: true });
        await follower.reaches(await bench().store.head());
      }
    });

    it("can be repeated, and can be done to a stream that does not exist", async () => {
      const stream = freshStream();
      await bench().store.deleteStream(stream);
      expect((await bench().store.append(stream, noStream, [note("a")])).revision).to.equal(0);
      for (let last = 0, round = 0; round < 3; round++) {
        await bench().store.deleteStream(stream);
        await bench().store.deleteStream(stream);
        expect(await bench().store.readStream(stream)).to.deep.equal([]);
        const { revision } = await bench().store.append(stream, noStream, [note("x")]);
        expect(revision).to.be.greaterThan(last);
        last = revision;
      }
    });

    it("at an expected revision leaves a stream at another revision, and a missing one", async () => {
      const stream = freshStream();
      await bench().store.deleteStream(stream, 5);
      await bench().write(stream, "a", "b");
      for (const other of [0, 2, noStream]) {
        expect(await failureOf(bench().store.deleteStream(stream, other))).to.be.instanceOf(RevisionConflict)
          .and.to.include({ stream, expected: other, actual: 1 });
      }
      expect(texts(await bench().store.readStream(stream))).to.deep.equal(["a", "b"]);
      await bench().store.deleteStream(stream, 1);
      expect(await bench().store.readStream(stream)).to.deep.equal([]);
      await bench().store.deleteStream(stream, 1);
      await bench().store.append(stream, noStream, [note("c")]);
      expect(await failureOf(bench().store.deleteStream(stream, 1))).to.be.instanceOf(RevisionConflict);
      expect(texts(await bench().store.readStream(stream))).to.deep.equal(["c"]);
    });

    it("or writing to it succeeds when both race, never both", async () => {
      for (let round = 0; round < 20; round += 1) {
        const stream = freshStream();
        await bench().write(stream, "a");
        const [deleted, written] = await Promise.allSettled(
          round % 2 === 0
            ? [bench().store.deleteStream(stream, 0), bench().store.append(stream, 0, [note("b")])]
            : [bench().store.append(stream, 0, [note("b")]), bench().store.deleteStream(stream, 0)].toReversed(),
        );
        expect([deleted?.status, written?.status].sort()).to.deep.equal(["fulfilled", "rejected"]);
        const left = written?.status === "fulfilled" ? ["a", "b"] : [];
        expect(texts(await bench().store.readStream(stream))).to.deep.equal(left);
      }
    });

    it("changes no other stream and holds up no subscription", async () => {
      const [doomed, neighbour] = [freshStream(), freshStream()];
      const follower = bench().follow({ after: await bench().store.head() }, [neighbour]);
      await bench().write(neighbour, "a");
      await bench().write(doomed, "x", "y");
      await bench().write(neighbour, "b");
      await bench().store.deleteStream(doomed);
      expect(texts(await bench().store.readStream(neighbour))).to.deep.equal(["a", "b"]);
      await bench().write(neighbour, "c");
      await follower.sees(3);
      expect(texts(follower.seen)).to.deep.equal(["a", "b", "c"]);
      const late = bench().follow({ after: "" }, [neighbour]);
      await late.sees(3);
      expect(texts(late.seen)).to.deep.equal(["a", "b", "c"]);
    });
  });
}

/** Fails unless the stream is deleted for good: it has nothing to read, and takes no append. */
async function expectClosed(store: EventStore, stream: string, entries: readonly NewEntry[]): Promise<void> {
  for (const expected of [noStream, 0, 1, 7]) {
    expect(await failureOf(store.append(stream, expected, entries))).to.be.instanceOf(RevisionConflict)
      .and.to.include({ stream, expected, actual: noStream });
  }
  expect(await store.readStream(stream)).to.deep.equal([]);
}
