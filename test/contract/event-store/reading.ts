import { expect } from "chai";
import {
  noStream, type EntryTime, type EventStore, type LogEntry, type RecordedEvent,
} from "../../../src/kernel/ports/event-store.ts";
import { expectOrdered, freshStream, note, texts, until, type Bench } from "./harness.ts";

/** Reads of streams and of the log. */
export function readingContract(bench: () => Bench): void {
  describe("reading a stream", () => {
    it("reads forwards and backwards, from a revision, up to a limit", async () => {
      const stream = freshStream();
      await bench().write(stream, "0", "1", "2", "3", "4");
      const read = async (options?: Parameters<EventStore["readStream"]>[1]) =>
        texts(await bench().store.readStream(stream, options)).join("");
      expect(await read()).to.equal("01234");
      expect(await read({ from: 2 })).to.equal("234");
      expect(await read({ limit: 2 })).to.equal("01");
      expect(await read({ from: 1, limit: 3 })).to.equal("123");
      expect(await read({ from: 4, limit: 10 })).to.equal("4");
      expect(await read({ from: 5 })).to.equal("");
      expect(await read({ backwards: true })).to.equal("43210");
      expect(await read({ backwards: true, from: 2 })).to.equal("210");
      expect(await read({ backwards: true, limit: 2 })).to.equal("43");
      expect(await read({ backwards: true, from: 3, limit: 2 })).to.equal("32");
      expect(await read({ backwards: true, from: 0 })).to.equal("0");
      expect(await read({ backwards: true, from: 99, limit: 1 })).to.equal("4");
    });

    it("knows its own positions from texts that are none", async () => {
      const { store } = bench();
      const { position } = await store.append(freshStream(), noStream, [note("a")]);
      expect([position, await store.head()].map((own) => store.isPosition(own))).to.deep.equal([true, true]);
      const digit = position.slice(0, -1);
      const others = [
        "", digit, `${position}0`, `${digit}x`, `${digit}-`, ` ${digit}`, position.replaceAll("0", "9"), "2026-01-31",
        position.includes("/") ? "0000000000000001" : "00000000000000000001/00000000000000000001",
      ];
      expect(others.filter((other) => store.isPosition(other))).to.deep.equal([]);
    });

    it("finds the first entry by its known position, and the current first entry after a deletion", async () => {
      const [stream, other] = [freshStream(), freshStream()];
      await bench().write(other, "other");
      await bench().write(stream, "first", "second");
      const first = async (of: string) => texts(await bench().store.readStream(of, { limit: 1, beginsAt }));
      const beginsAt = (await bench().store.readStream(stream, { limit: 1 }))[0]!.position;
      expect(await first(stream)).to.deep.equal(["first"]);
      expect(await first(other)).to.deep.equal(["other"]);
      await bench().store.deleteStream(stream);
      expect(await first(stream)).to.deep.equal([]);
      await bench().store.append(stream, noStream, [note("again")]);
      expect(await first(stream)).to.deep.equal(["again"]);
      expect(await first(freshStream())).to.deep.equal([]);
    });

    it("finds nothing in a missing stream", async () => {
      expect(await bench().store.readStream(freshStream())).to.deep.equal([]);
      expect(await bench().store.readStream(freshStream(), { backwards: true, limit: 1 })).to.deep.equal([]);
    });

    it("sees every acknowledged append at once, another client's too", async () => {
      const reader = await bench().engine.store();
      for (let round = 0; round < 20; round++) {
        const stream = freshStream();
        await bench().store.append(stream, noStream, [note("seen")]);
        expect(await reader.readStream(stream)).to.have.length(1);
        expect(await bench().store.readStream(stream)).to.have.length(1);
      }
    });

    it("lets every client read an append to a deleted stream once it is acknowledged", async () => {
      const reader = await bench().engine.store();
      for (let round = 0; round < 20; round++) {
        const stream = freshStream();
        await bench().write(stream, "a");
        await bench().store.deleteStream(stream);
        await bench().store.append(stream, noStream, [note("again")]);
        expect(texts(await reader.readStream(stream))).to.deep.equal(["again"]);
        expect(texts(await reader.readStream(stream, { backwards: true, limit: 1 }))).to.deep.equal(["again"]);
      }
    });

    it("keeps streams with similar names apart", async () => {
      const stream = freshStream();
      const similar = [stream, `${stream}-`, `${stream}é`, stream.slice(0, -1), `${stream} a/b?c=%20`];
      for (const name of similar) await bench().write(name, name);
      for (const name of similar) expect(texts(await bench().store.readStream(name))).to.deep.equal([name]);
    });
  });

  describe("reading the log", () => {
    it("pages through all entries in order and reaches the head", async () => {
      const streams = [freshStream("invite"), freshStream("person")];
      const after = await bench().store.head();
      for (const stream of streams) await bench().write(stream, "a", "b", "c");
      const head = await bench().store.head();
      const all: LogEntry[] = [];
      let upTo = after;
      await until("the log was read to the end", async () => {
        const page = await bench().store.readLog(upTo, 2);
        expect(page.entries.length).to.be.at.most(2);
        for (const entry of page.entries) expect(entry.position > upTo && entry.position <= page.upTo).to.equal(true);
        all.push(...page.entries);
        upTo = page.upTo;
        return upTo >= head;
      });
      expectOrdered(all);
      const own = all.filter(({ stream }) => streams.includes(stream));
      expect(own).to.deep.equal((await Promise.all(streams.map((stream) => bench().store.readStream(stream)))).flat());
    });

    it("has the times of entries at their positions", async () => {
      const stream = freshStream("invite");
      const after = await bench().store.head();
      await bench().write(stream, "a", "b", "c");
      const head = await bench().store.head();
      const times: EntryTime[] = [];
      let upTo = after;
      await until("the log was read to the end", async () => {
        const page = await bench().store.readTimes(upTo, 2);
        expect(page.times.length).to.be.at.most(2);
        times.push(...page.times);
        upTo = page.upTo;
        return upTo >= head;
      });
      const entries = (await bench().store.readStream(stream)) as readonly RecordedEvent[];
      const positions = new Set(entries.map(({ position }) => position));
      expect(times.filter(({ position }) => positions.has(position)))
        .to.deep.equal(entries.map(({ position, metadata: { at } }) => ({ position, at })));
    });

    it("has a head at or after every acknowledged append", async () => {
      for (let round = 0; round < 10; round++) {
        const { position } = await bench().store.append(freshStream(), noStream, [note("x")]);
        const head = await bench().store.head();
        expect(head >= position).to.equal(true);
        const { upTo } = await bench().store.readLog(head, 10);
        expect(upTo >= head).to.equal(true);
      }
    });

    it("has an end that no reported position exceeds, even after a deletion", async () => {
      const [kept, deleted] = [freshStream(), freshStream()];
      const after = await bench().store.head();
      await bench().write(deleted, "a");
      await bench().write(kept, "b");
      await bench().store.deleteStream(deleted);
      let upTo = after;
      await until("the log was read to the end", async () => {
        const before = upTo;
        ({ upTo } = await bench().store.readLog(before, 2));
        return upTo === before;
      });
      const follower = bench().follow({ after }, [kept]);
      const head = await bench().store.head();
      await follower.reaches(head);
      const seen = [head, upTo, ...follower.upTos];
      const end = await bench().store.end();
      for (const position of seen) expect(position <= end).to.equal(true);
    });
  });
}
