import { randomUUID } from "node:crypto";
import { setTimeout as pause } from "node:timers/promises";
import { expect } from "chai";
import { noStream, type EventStore, type LogEntry, type Position } from "../../../src/kernel/ports/event-store.ts";
import { expectOrdered, freshStream, note, texts, until, type Bench, type LogTail } from "./harness.ts";

/** Subscriptions: catching up, following, resuming, failing, stopping. */
export function subscribingContract(bench: () => Bench): void {
  describe("subscribing", () => {
    it("catches up and then follows live", async () => {
      const stream = freshStream();
      const after = await bench().store.head();
      await bench().write(stream, "a", "b");
      const follower = bench().follow({ after }, [stream]);
      await follower.sees(2);
      await bench().write(stream, "c");
      const [last] = await bench().write(stream, "d");
      await follower.reaches(last!.position);
      expect(texts(follower.seen)).to.deep.equal(["a", "b", "c", "d"]);
      expect(follower.seen).to.deep.equal(await bench().store.readStream(stream));
    });

    it("has no gap and no repetition while others write, at any start and any speed", async () => {
      const streams = Array.from({ length: 8 }, () => freshStream());
      const after = await bench().store.head();
      const rival = await bench().engine.store();
      const started: LogTail[] = [];
      const writer = async (client: EventStore, stream: string) => {
        for (let at = 0; at < 40; at++) await client.append(stream, at - 1, [note(String(at))]);
      };
      const writing = Promise.all(streams.map((stream, at) => writer(at < 6 ? bench().store : rival, stream)));
      for (const slowness of [0, 1, 5]) {
        started.push(bench().follow({ after }, streams, slowness === 0 ? undefined : () => slowness));
        await pause(3);
      }
      await writing;
      started.push(bench().follow({ after }, streams));
      for (const follower of started) {
        await follower.sees(320);
        expectOrdered(follower.seen);
        expect(follower.seen).to.have.length(320);
        for (const stream of streams) {
          const revisions = follower.seen.filter((entry) => entry.stream === stream).map(({ revision }) => revision);
          expect(revisions).to.deep.equal(Array.from({ length: 40 }, (_, at) => at));
        }
      }
    });

    it("follows the writes of another client", async () => {
      const stream = freshStream();
      const rival = await bench().engine.store();
      const follower = bench().follow({ after: await bench().store.head() }, [stream]);
      for (const at of [0, 1, 2]) {
        await rival.append(stream, at - 1, [note(String(at))]);
        await follower.sees(at + 1);
      }
      expect(texts(follower.seen)).to.deep.equal(["0", "1", "2"]);
    });

    it("resumes from any reported position with exactly the rest", async () => {
      const stream = freshStream();
      const after = await bench().store.head();
      const first = bench().follow({ after }, [stream]);
      for (let at = 0; at < 12; at++) await bench().write(stream, String(at));
      await first.sees(12);
      await first.stop();
      expect(first.upTos.toSorted()).to.deep.equal(first.upTos);
      const step = Math.ceil(first.upTos.length / 6);
      for (const upTo of first.upTos.filter((_, at) => at % step === 0)) {
        const rest = first.seen.filter(({ position }) => position > upTo);
        const second = bench().follow({ after: upTo }, [stream]);
        const [marker] = await bench().write(stream, "marker");
        await second.reaches(marker!.position);
        expect(second.seen.slice(0, rest.length)).to.deep.equal(rest);
        first.seen.push(second.seen.at(-1)!);
        expect(texts(second.seen).at(-1)).to.equal("marker");
        expect(second.seen).to.have.length(rest.length + 1);
      }
    });

    it("never reports a position ahead of the entries given to its handler", async () => {
      const stream = freshStream();
      const after = await bench().store.head();
      let reported = after;
      const late: LogEntry[] = [];
      let seen = 0;
      const subscription = bench().store.subscribe({ after }, async (entries, upTo) => {
        for (const entry of entries) if (entry.position <= reported || entry.position > upTo) late.push(entry);
        await pause(1);
        expect(upTo >= reported).to.equal(true);
        reported = upTo;
        seen += entries.filter((entry) => entry.stream === stream).length;
      });
      for (let at = 0; at < 50; at += 5) {
        await Promise.all([0, 1, 2, 3, 4].map((more) => bench().store.append(stream, at + more - 1, [note("x")])));
      }
      await until("all was seen", () => seen === 50);
      await subscription.stop();
      expect(late).to.deep.equal([]);
    });

    it("reads only the categories asked for, yet reports its progress in the whole log", async () => {
      const [mine, odd, other] = [freshStream("tenant"), "platform", freshStream("tenantName")];
      const after = await bench().store.head();
      await bench().write(mine, "old");
      await bench().write(other, "no");
      const seen: LogEntry[] = [];
      let upTo: Position = "";
      const categories = ["tenant", "platform", "absent"];
      const subscription = bench().store.subscribe({ after, categories }, (entries, to) => {
        seen.push(...entries);
        upTo = to;
      });
      await bench().write(odd, "no dash");
      await bench().write(mine, "new");
      await until("the wanted were seen", () => seen.length >= 3);
      const [target] = await bench().write(other, "still no");
      await until("it has looked past entries nobody wanted", async () => {
        await bench().write(other, "no again");
        return upTo >= target!.position;
      });
      await subscription.stop();
      expect(texts(seen)).to.deep.equal(["old", "no dash", "new"]);
    });

    it("gives only the types asked for, in catch-up and live, of the categories asked for", async () => {
      const [mine, other] = [freshStream("invite"), freshStream()];
      const wanted = `Wanted${randomUUID().slice(0, 8)}`;
      const after = await bench().store.head();
      const write = async (text: string) => {
        const { revision = noStream } = (await bench().store.readStream(mine, { backwards: true, limit: 1 }))[0] ?? {};
        await bench().store.append(mine, revision, [
          note("other type"), note(text, randomUUID(), wanted), note("other type", randomUUID(), `${wanted}x`),
        ]);
        await bench().store.append(freshStream(), noStream, [note("other category", randomUUID(), wanted)]);
        await bench().write(other, "neither");
      };
      await write("old");
      const seen: LogEntry[] = [];
      const anywhere: LogEntry[] = [];
      const subscriptions = [
        bench().store.subscribe({ after, categories: ["invite"], types: [wanted, "Absent"] }, (entries) => {
          seen.push(...entries);
        }),
        bench().store.subscribe({ after, types: [wanted] }, (entries) => {
          anywhere.push(...entries);
        }),
      ];
      await until("the old ones were seen", () => seen.length >= 1 && anywhere.length >= 2);
      await write("new");
      await until("the new ones were seen", () => seen.length >= 2 && anywhere.length >= 4);
      await Promise.all(subscriptions.map((subscription) => subscription.stop()));
      expect(texts(seen)).to.deep.equal(["old", "new"]);
      expect(texts(anywhere)).to.deep.equal(["old", "other category", "new", "other category"]);
    });

    it("gives one batch at a time", async () => {
      const stream = freshStream();
      let running = 0;
      let most = 0;
      let seen = 0;
      const subscription = bench().store.subscribe({ after: await bench().store.head() }, async (entries) => {
        most = Math.max(most, ++running);
        await pause(2);
        running -= 1;
        seen += entries.filter((entry) => entry.stream === stream).length;
      });
      for (let at = 0; at < 30; at++) await bench().store.append(stream, at - 1, [note("x")]);
      await until("all was seen", () => seen === 30);
      await subscription.stop();
      expect(most).to.equal(1);
    });

    it("repeats a batch to a handler that threw, before any other batch", async () => {
      const stream = freshStream();
      const calls: { texts: string[]; upTo: Position }[] = [];
      const taken: string[] = [];
      const subscription = bench().store.subscribe({ after: await bench().store.head() }, (entries, upTo) => {
        const own = texts(entries.filter((entry) => entry.stream === stream));
        if (own.length === 0) return undefined;
        calls.push({ texts: own, upTo });
        if (calls.length === 1) throw new Error("at once");
        if (calls.length === 2) return Promise.reject(new Error("later"));
        taken.push(...own);
        return undefined;
      });
      await bench().write(stream, "a", "b", "c");
      await until("all was taken", () => taken.length >= 3);
      await subscription.stop();
      expect(calls[1]).to.deep.equal(calls[0]);
      expect(calls[2]).to.deep.equal(calls[0]);
      expect(taken).to.deep.equal(["a", "b", "c"]);
    });

    it("stops for good: no handler runs once stop has resolved", async () => {
      const stream = freshStream();
      let running = false;
      let calls = 0;
      const subscription = bench().store.subscribe({ after: await bench().store.head() }, async () => {
        running = true;
        calls += 1;
        await pause(20);
        running = false;
      });
      await bench().write(stream, "a");
      await until("the handler runs", () => running);
      const stopping = subscription.stop();
      await bench().write(stream, "b");
      await stopping;
      expect(running).to.equal(false);
      const before = calls;
      const witness = bench().follow({ after: await bench().store.head() }, [stream]);
      await bench().write(stream, "c");
      await witness.sees(1);
      expect(calls).to.equal(before);
    });

    it("stops while a handler fails", async () => {
      const stream = freshStream();
      let calls = 0;
      const subscription = bench().store.subscribe({ after: await bench().store.head() }, () => {
        calls += 1;
        throw new Error("always");
      });
      await bench().write(stream, "a");
      await until("the handler failed", () => calls > 0);
      await subscription.stop();
      const before = calls;
      const witness = bench().follow({ after: await bench().store.head() }, [stream]);
      await bench().write(stream, "b");
      await witness.sees(1);
      expect(calls).to.equal(before);
    });

    it("waits out no pause when it is stopped while a handler is about to fail", async () => {
      const stream = freshStream();
      const failing = Promise.withResolvers<never>();
      let calls = 0;
      const subscription = bench().store.subscribe({ after: await bench().store.head() }, () => {
        calls += 1;
        // After so many failures the next pause is long.
        return calls < 6 ? Promise.reject(new Error("again")) : failing.promise;
      });
      await bench().write(stream, "a");
      await until("the handler runs once more", () => calls === 6);
      const startedAt = performance.now();
      const stopping = subscription.stop();
      failing.reject(new Error("at last"));
      await stopping;
      expect(performance.now() - startedAt).to.be.below(1_000);
      expect(calls).to.equal(6);
    });
  });
}
