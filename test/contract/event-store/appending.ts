import { randomUUID } from "node:crypto";
import { expect } from "chai";
import { EntryTooLarge, noStream, RevisionConflict, UnacceptableEntry } from "../../../src/kernel/ports/event-store.ts";
import { unacceptableType } from "../../support/plain-codec.ts";
import { expectOrdered, failureOf, freshStream, note, textOf, texts, type Bench } from "./harness.ts";

/** Appends: order, expectations, races, atomicity, repetition, sizes. */
export function appendingContract(bench: () => Bench): void {
  describe("appending", () => {
    it("numbers revisions from 0 and positions upwards", async () => {
      const stream = freshStream();
      const first = await bench().store.append(stream, noStream, [note("a")]);
      const second = await bench().store.append(stream, 0, [note("b"), note("c")]);
      const other = await bench().store.append(freshStream(), noStream, [note("d")]);
      expect([first.revision, second.revision, other.revision]).to.deep.equal([0, 2, 0]);
      expect(first.position < second.position && second.position < other.position).to.equal(true);
      expect(first.position > "").to.equal(true);
    });

    it("keeps the entries as they were given", async () => {
      const stream = freshStream();
      const given = [note("first"), note("second \u0000 \u2028")];
      const { position } = await bench().store.append(stream, noStream, given);
      const entries = await bench().store.readStream(stream);
      expect(entries.map(({ position: _, ...rest }) => rest)).to.deep.equal(given.map(({ id, event, metadata }, at) => (
        { stream, revision: at, id, type: event.type, data: event.data, metadata }
      )));
      expectOrdered(entries);
      expect(entries.at(-1)!.position).to.equal(position);
    });

    it("refuses an append at another revision than the expected, and names the actual one", async () => {
      const stream = freshStream();
      await bench().write(stream, "a", "b");
      const attempts = [[noStream, 1, stream], [0, 1, stream], [5, 1, stream], [0, noStream, freshStream()]] as const;
      for (const [expected, actual, of] of attempts) {
        const failure = await failureOf(bench().store.append(of, expected, [note("late")]));
        expect(failure).to.be.instanceOf(RevisionConflict);
        expect(failure).to.include({ stream: of, expected, actual });
        expect(texts(await bench().store.readStream(of))).to.deep.equal(of === stream ? ["a", "b"] : []);
      }
    });

    it("lets exactly one of many appends at one revision win, at the stream's start and later", async () => {
      const stream = freshStream();
      for (const expected of [noStream, 0, 1]) {
        const outcomes = await Promise.allSettled(Array.from({ length: 50 }, (_, racer) =>
          bench().store.append(stream, expected, [note(`${expected}/${racer}`)])));
        const winners = outcomes.flatMap((outcome, racer) => (outcome.status === "fulfilled" ? [racer] : []));
        expect(winners).to.have.length(1);
        for (const outcome of outcomes) {
          if (outcome.status === "rejected") expect(outcome.reason).to.be.instanceOf(RevisionConflict);
        }
        const entries = await bench().store.readStream(stream);
        expect(entries).to.have.length(expected + 2);
        expect(textOf(entries.at(-1)!)).to.equal(`${expected}/${winners[0]}`);
      }
    });

    it("lets exactly one client win", async () => {
      const stream = freshStream();
      const rival = await bench().engine.store();
      const outcomes = await Promise.allSettled(Array.from({ length: 40 }, (_, racer) =>
        (racer % 2 === 0 ? bench().store : rival).append(stream, noStream, [note(String(racer))])));
      expect(outcomes.filter(({ status }) => status === "fulfilled")).to.have.length(1);
      expect(await rival.readStream(stream)).to.have.length(1);
    });

    it("commits the entries of one append together or not at all", async () => {
      const stream = freshStream();
      await Promise.allSettled(Array.from({ length: 20 }, (_, racer) =>
        bench().store.append(stream, noStream, ["x", "y", "z"].map((part) => note(`${racer}${part}`)))));
      const won = texts(await bench().store.readStream(stream));
      const racer = won[0]!.slice(0, -1);
      expect(won).to.deep.equal([`${racer}x`, `${racer}y`, `${racer}z`]);
      await failureOf(bench().store.append(stream, 1, [note("no"), note("neither")]));
      expect(texts(await bench().store.readStream(stream))).to.deep.equal(won);
    });

    it("never shows a part of an append", async () => {
      const stream = freshStream();
      const writing = new AbortController();
      const lengths = new Set<number>();
      const watch = (async () => {
        while (!writing.signal.aborted) lengths.add((await bench().store.readStream(stream)).length);
      })();
      try {
        for (let round = 0; round < 20; round++) {
          await bench().store.append(stream, round * 5 - 1, Array.from({ length: 5 }, () => note("x".repeat(5000))));
        }
      } finally {
        writing.abort();
        await watch;
      }
      expect([...lengths].filter((length) => length % 5 !== 0)).to.deep.equal([]);
    });

    it("keeps the order of concurrent calls to one stream", async () => {
      const stream = freshStream();
      const outcomes = await Promise.all(Array.from({ length: 30 }, (_, at) =>
        bench().store.append(stream, at - 1, [note(String(at))])));
      expect(outcomes.map(({ revision }) => revision)).to.deep.equal(outcomes.map((_, at) => at));
    });

    it("answers an append repeated with the same ids as the first time", async () => {
      const stream = freshStream();
      const opening = [note("a"), note("b")];
      const later = [note("c")];
      const first = await bench().store.append(stream, noStream, opening);
      const second = await bench().store.append(stream, 1, later);
      await bench().write(stream, "d");
      expect(await bench().store.append(stream, noStream, opening)).to.deep.equal(first);
      expect(await bench().store.append(stream, 1, later)).to.deep.equal(second);
      const rival = await bench().engine.store();
      expect(await rival.append(stream, 1, later)).to.deep.equal(second);
      expect(texts(await bench().store.readStream(stream))).to.deep.equal(["a", "b", "c", "d"]);
    });

    it("answers both of two appends with the same ids that run at once", async () => {
      const stream = freshStream();
      for (const expected of [noStream, 0]) {
        const entries = [note(`at ${expected}`)];
        const outcomes = await Promise.all([1, 2, 3].map(() => bench().store.append(stream, expected, entries)));
        for (const outcome of outcomes) expect(outcome).to.deep.equal(outcomes[0]);
      }
      expect(await bench().store.readStream(stream)).to.have.length(2);
    });

    it("reports the same ids at another revision, in part, or in another order as a conflict", async () => {
      const stream = freshStream();
      const [a, b, c] = [note("a"), note("b"), note("c")] as const;
      await bench().store.append(stream, noStream, [a, b, c]);
      for (const [expected, entries] of [[0, [a]], [noStream, [a, note("x")]], [noStream, [b, a]], [1, [b]]] as const) {
        expect(await failureOf(bench().store.append(stream, expected, entries))).to.be.instanceOf(RevisionConflict);
      }
      expect(texts(await bench().store.readStream(stream))).to.deep.equal(["a", "b", "c"]);
    });

    it("takes appends of up to a megabyte and refuses larger ones without harm to others", async () => {
      const stream = freshStream();
      const filler = (bytes: number) => note("x".repeat(bytes));
      await bench().store.append(stream, noStream, [filler(450_000), filler(450_000)]);
      const neighbours = Promise.all(Array.from({ length: 10 }, () =>
        bench().store.append(freshStream(), noStream, [note("n")])));
      const tooLarge = [[filler(1_100_000)], [filler(600_000), filler(600_000)], [note("é".repeat(550_000))]];
      for (const entries of tooLarge) {
        expect(await failureOf(bench().store.append(stream, 1, entries))).to.be.instanceOf(EntryTooLarge);
      }
      await neighbours;
      expect((await bench().store.append(stream, 1, [note("goes on")])).revision).to.equal(2);
    });

    it("refuses entries that the codec refuses, and an empty append", async () => {
      const stream = freshStream();
      const unacceptable = [note("fine"), note("not", randomUUID(), unacceptableType)];
      expect(await failureOf(bench().store.append(stream, noStream, unacceptable))).to.be.instanceOf(UnacceptableEntry);
      expect(await failureOf(bench().store.append(stream, noStream, []))).to.be.instanceOf(UnacceptableEntry);
      expect(await bench().store.readStream(stream)).to.deep.equal([]);
    });
  });
}
