import { execFileSync } from "node:child_process";
import { copyFileSync, mkdirSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { setImmediate as nextTurn } from "node:timers/promises";
import { MessageChannel, receiveMessageOnPort, Worker } from "node:worker_threads";
import { expect } from "chai";
import {
  EmbeddedEventStore, openEmbeddedEventStore,
} from "../../../../packages/embedded-engine/src/event-store/embedded-event-store.ts";
import { logPath } from "../../../../packages/embedded-engine/src/event-store/log-file.ts";
import type { Reply, Request, Tuning } from "../../../../packages/embedded-engine/src/event-store/protocol.ts";
import { SystemClock } from "../../../../src/engines/system/system-clock.ts";
import { LogUnavailable, noStream, type LogEntry } from "../../../../src/kernel/ports/event-store.ts";
import { failureOf, freshStream, note, textOf, until } from "../../../contract/event-store/harness.ts";
import { attachTo, openPlainStore, temporaryFolder } from "../../../support/embedded-store.ts";
import { ManualClock } from "../../../support/manual-clock.ts";
import { plainCodec } from "../../../support/plain-codec.ts";

describe("the embedded event store", () => {
  let folder: ReturnType<typeof temporaryFolder>;
  let store: EmbeddedEventStore;
  const open = async (tuning?: Partial<Tuning>) => (store = await openPlainStore(folder.path, tuning));
  const appendMany = (count: number, size = 10) => Promise.all(
    Array.from({ length: count }, () => store.append(freshStream(), noStream, [note("x".repeat(size))])),
  );

  beforeEach(() => {
    folder = temporaryFolder();
  });
  afterEach(async () => {
    await store.close();
    folder.remove();
  });

  describe("committing", () => {
    it("puts all waiting appends into one commit", async () => {
      await open();
      await appendMany(2000);
      const { commits, entries } = await store.stats();
      expect(entries).to.equal(2000);
      expect(commits).to.be.at.most(4);
    });

    it("commits appends one by one when only one may be under way", async () => {
      await open({ batchAppends: 1, batchesInFlight: 1 });
      await appendMany(50);
      expect((await store.stats()).commits).to.equal(50);
    });

    it("does not wait for long reads", async () => {
      await open();
      const stream = freshStream();
      await store.append(stream, noStream, [note("x".repeat(500_000))]);
      const port = store.connect();
      const read = { stream, from: 0, limit: 1, backwards: false };
      port.postMessage({
        kind: "reads", reads: Array.from({ length: 400 }, (_, request) => ({ request, ...read })),
      } satisfies Request);
      let answered = 0;
      const count = () => {
        for (let next = receiveMessageOnPort(port); next; next = receiveMessageOnPort(port)) {
          const reply = next.message as Reply;
          if (reply.kind === "read") answered += reply.answers.length;
        }
        return answered;
      };
      await until("reading has begun", () => count() > 0);
      await appendMany(1);
      expect(count()).to.be.lessThan(200);
      await until("all is read", () => count() === 400);
      port.close();
    });

    it("does not delay the read of an entry at a known place", async () => {
      await open();
      const stream = freshStream();
      const { position: beginsAt } = await store.append(stream, noStream, [note("x")]);
      const first = () => store.readStream(stream, { limit: 1, beginsAt });
      // The thread that reads at known places has started then.
      await first();
      const other = new DatabaseSync(logPath(folder.path), { timeout: 10_000 });
      try {
        // Until it has this lock, for up to a second, the log thread cannot commit, and answers no other request.
        other.exec("BEGIN IMMEDIATE");
        const append = store.append(stream, 0, [note("y")]).then(() => "committed", () => "gave up");
        expect(await Promise.race([append, first().then((entries) => entries.map(textOf))])).to.deep.equal(["x"]);
        other.exec("ROLLBACK");
        await append;
      } finally {
        other.close();
      }
    });

    it("gives positions without gaps", async () => {
      await open();
      const positions = (await appendMany(500)).map(({ position }) => Number(position));
      expect(positions.toSorted((one, two) => one - two)).to.deep.equal(Array.from({ length: 500 }, (_, at) => at + 1));
    });

    it("refuses appends beyond its capacity, keeps the accepted ones, and accepts more later", async () => {
      await open();
      const outcomes = await Promise.allSettled(
        Array.from({ length: 100 }, () => store.append(freshStream(), noStream, [note("x".repeat(1_000_000))])),
      );
      const refused = outcomes.flatMap((outcome) => (outcome.status === "rejected" ? [outcome.reason as Error] : []));
      expect(refused).to.have.length.within(30, 40);
      for (const reason of refused) expect(reason).to.be.instanceOf(LogUnavailable);
      expect((await store.stats()).entries).to.equal(100 - refused.length);
      await appendMany(1);
    });

    it("gives up waiting for a log that does not answer, yet subscriptions see the committed entries", async () => {
      await open({ timeoutMs: 1 });
      const seen: LogEntry[] = [];
      const subscription = store.subscribe({ after: "" }, (entries) => void seen.push(...entries));
      const outcomes: string[] = [];
      await until("an append was given up", async () => {
        // A load on the log thread that takes much longer than a millisecond.
        outcomes.push(...await Promise.all(Array.from({ length: 2000 }, () =>
          store.append(freshStream(), noStream, [note("x")]).then(() => "written", String))));
        return outcomes.includes("LogUnavailable: the log did not answer in time");
      });
      const sent = outcomes.filter((outcome) => !outcome.startsWith("LogUnavailable: the log was not written"));
      await until("all that was sent was seen", () => seen.length === sent.length);
      await subscription.stop();
    });
  });

  describe("asking", () => {
    it("gives each request its own timeout, a secure erase none, and leaves no timer behind", async () => {
      await open();
      const clock = new ManualClock();
      const { port1, port2 } = new MessageChannel();
      const welcome = { head: new SharedArrayBuffer(8), armed: new SharedArrayBuffer(4) };
      port1.postMessage({ kind: "welcome", path: logPath(folder.path), ...welcome } satisfies Reply);
      const client = await EmbeddedEventStore.attach(port2, { codec: plainCodec, clock, tuning: { timeoutMs: 100 } });
      // A log thread that answers only pings, and a secure erase when the test says so.
      let scrub = 0;
      const answer = (request: number) => port1.postMessage({ kind: "answer", request, result: null } satisfies Reply);
      port1.on("message", (request: Request) => {
        if (request.kind === "ping") answer(request.request);
        if (request.kind === "scrub") scrub = request.request;
      });
      const late: string[] = [];
      const watch = (name: string, request: Promise<unknown>) => failureOf(request).then(() => late.push(name));
      const read = watch("read", client.readStream("a-1"));
      clock.advance(60);
      const deletion = watch("deletion", client.deleteStream("a-1"));
      await client.ping();
      clock.advance(40);
      await read;
      expect(late).to.deep.equal(["read"]);
      expect(clock.pending, "for the deletion").to.deep.equal([60]);
      clock.advance(60);
      await deletion;
      const scrubbed = client.scrub();
      await until("a scrub is asked for", () => scrub > 0);
      clock.advance(86_400_000);
      answer(scrub);
      await scrubbed;
      expect(clock.pending).to.deep.equal([]);
      await client.close();
    });
  });

  describe("following", () => {
    it("hands an append's own objects to subscriptions before the append is acknowledged", async () => {
      await open();
      const seen: LogEntry[] = [];
      const options = { after: "", categories: ["live"] };
      const subscription = store.subscribe(options, (entries) => void seen.push(...entries));
      await store.append("live-0", noStream, [note("warm-up")]);
      await until("it is live", () => seen.length === 1);
      for (let round = 0; round < 20; round++) {
        const entry = note(String(round));
        const { position } = await store.append("live-1", round - 1, [entry]);
        expect(seen).to.have.length(round + 2);
        const last = seen.at(-1)!;
        expect(last.position).to.equal(position);
        expect(last.unreadable === undefined && last.data).to.equal(entry.event.data);
      }
      await subscription.stop();
    });

    it("buffers a bounded number of entries for a slow subscription, which reads the rest from the log", async () => {
      await open({ subscriptionEntries: 10 });
      const seen: LogEntry[] = [];
      const gate = Promise.withResolvers<undefined>();
      let waiting = false;
      const subscription = store.subscribe({ after: "" }, async (entries) => {
        if (entries.length > 0) waiting = true;
        if (seen.length === 1) await gate.promise;
        seen.push(...entries);
      });
      await store.append("slow-1", noStream, [note("first")]);
      await until("the first was seen", () => seen.length === 1 && waiting);
      const given = Array.from({ length: 100 }, (_, at) => note(String(at)));
      for (const [at, entry] of given.entries()) await store.append("slow-1", at, [entry]);
      expect(seen).to.have.length(1);
      gate.resolve(undefined);
      await until("all was seen", () => seen.length === 101);
      await subscription.stop();
      expect(seen.slice(1).map(textOf)).to.deep.equal(given.map((_, at) => String(at)));
      const kept = seen.slice(1).filter((entry, at) =>
        entry.unreadable === undefined && entry.data === given[at]!.event.data);
      expect(kept).to.have.length.of.at.most(11);
    });

    it("reads and follows from another thread", async () => {
      await open();
      await store.append("thread-1", noStream, [note("before")]);
      const port = store.connect();
      const worker = new Worker(new URL("./following-thread.ts", import.meta.url), {
        workerData: { port }, transferList: [port],
      });
      const seen: string[] = [];
      worker.on("message", (text: string) => seen.push(text));
      await until("the other thread has caught up", () => seen.includes("before"));
      for (const at of [0, 1, 2]) await store.append("thread-1", at, [note(String(at))]);
      await until("the other thread has followed", () => seen.includes("2"));
      expect(seen).to.deep.equal(["before", "0", "1", "2"]);
      const own = await store.readStream("fromThread-1");
      expect(own.map(textOf)).to.deep.equal(["hello"]);
      const ended = new Promise((resolve) => worker.once("exit", resolve));
      worker.postMessage("close");
      expect(await ended).to.equal(0);
    });
  });

  describe("keeping its index", () => {
    const small = { memtableRecords: 50, mergeFanout: 3 };

    it("moves it to a few segments, and finds every entry, also after a restart", async () => {
      await open(small);
      let rounds = 0;
      await until("segments were merged", async () => {
        await Promise.all(Array.from({ length: 60 }, (_, at) =>
          store.append(`event-${at}`, rounds - 1, [note(`${at}/${rounds}`)])));
        rounds += 1;
        const { flushes, merges } = await store.stats();
        return flushes >= 12 && merges >= 4;
      });
      // Two segments of each size, and one not yet merged.
      await until("there are few", async () => (await store.stats()).segments.length <= 7);
      const check = async () => {
        for (let at = 0; at < 60; at += 7) {
          const entries = await store.readStream(`event-${at}`);
          expect(entries.map(textOf)).to.deep.equal(Array.from({ length: rounds }, (_, round) => `${at}/${round}`));
          expect((await store.readStream(`event-${at}`, { backwards: true, limit: 1 })).map(textOf))
            .to.deep.equal([`${at}/${rounds - 1}`]);
        }
      };
      await check();
      await store.close();
      await open(small);
      await check();
      expect((await store.append("event-1", rounds - 1, [note("on")])).revision).to.equal(rounds);
    });

    it("rebuilds it from the log when a file is missing or damaged, and removes unused files", async () => {
      await open(small);
      await appendMany(200);
      const [doomed, kept] = [freshStream(), freshStream()];
      await store.append(doomed, noStream, [note("a"), note("b")]);
      await Promise.all([store.append(kept, noStream, [note("c")]), store.deleteStream(doomed)]);
      await until("there are segments", async () => (await store.stats()).segments.length > 0);
      const index = join(folder.path, "index");
      mkdirSync(join(index, "lost+found"));
      for (const harm of [(file: string) => rmSync(file), (file: string) => writeFileSync(file, "nonsense")]) {
        await store.close();
        harm(join(index, readdirSync(index).find((file) => file.endsWith(".segment"))!));
        writeFileSync(join(index, "99999999.segment.new"), "left by a crash");
        await open(small);
        const { segments, memtable } = await store.stats();
        expect(segments.reduce((sum, records) => sum + records, memtable)).to.equal(203);
        expect(readdirSync(index)).to.have.length(segments.length + 1).and.include("lost+found");
        expect((await store.readStream(kept)).map(textOf)).to.deep.equal(["c"]);
        expect(await store.readStream(doomed)).to.deep.equal([]);
      }
      expect((await store.append(doomed, noStream, [note("d")])).revision).to.equal(2);
    });

    it("rebuilds it when a backup of the log replaces the log after the index was rebuilt", async () => {
      const log = logPath(folder.path);
      const backup = join(folder.path, "backup.db");
      const stream = freshStream();
      const texts = Array.from({ length: 60 }, (_, at) => String(at));
      await open(small);
      // One commit, so all 60 entries are in the first segment; a segment that is built from the log ends after 50.
      await store.append(stream, noStream, texts.map((text) => note(text)));
      await until("there is a segment", async () => (await store.stats()).segments.length > 0);
      await store.close();
      copyFileSync(log, backup);
      rmSync(join(folder.path, "index"), { recursive: true });
      await open(small);
      await store.close();
      copyFileSync(backup, log);
      await open(small);
      expect((await store.readStream(stream)).map(textOf)).to.deep.equal(texts);
    });

    it("reports a segment that cannot be written, now and then, until it can be written", async () => {
      const anomalies: string[] = [];
      const tuning = { ...small, retryDelayMs: 1 };
      store = await openPlainStore(folder.path, tuning, ({ message }) => anomalies.push(message));
      const index = join(folder.path, "index");
      rmSync(index, { recursive: true });
      await appendMany(60);
      await until("it was told twice", () => anomalies.length >= 2);
      for (const trouble of anomalies) expect(trouble).to.match(/^writing a segment: ENOENT/);
      mkdirSync(index);
      await until("the segment is written", async () => (await store.stats()).flushes === 1);
    });

    const uses: readonly [doing: string, use: (stream: string) => Promise<unknown>, written: number][] = [
      ["appends", (stream) => store.append(stream, 0, [note("y")]), 1],
      ["reads", (stream) => store.readStream(stream), 0],
    ];
    for (const [doing, use, written] of uses) {
      it(`ends when ${doing} find a damaged segment, and has every entry after a restart`, async () => {
        await open(small);
        const streams = Array.from({ length: 100 }, () => freshStream());
        for (const stream of streams) await store.append(stream, noStream, [note("x")]);
        await until("there are segments", async () => (await store.stats()).segments.length > 0);
        await store.close();
        const index = join(folder.path, "index");
        for (const file of readdirSync(index)) damageFirstRecord(join(index, file));
        await open(small);
        const used = await Promise.allSettled(streams.map(use));
        for (const failure of used) {
          if (failure.status === "rejected") expect(failure.reason).to.be.instanceOf(LogUnavailable);
        }
        expect(used.some(({ status }) => status === "rejected")).to.equal(true);
        await until("it has died", () => store.head().then(() => false, () => true));
        await store.close();
        await open(small);
        for (const [at, stream] of streams.entries()) {
          const more = used[at]!.status === "fulfilled" ? written : 0;
          expect(await store.readStream(stream)).to.have.length(1 + more);
        }
      });
    }
  });

  describe("its folder", () => {
    it("names the reason why it cannot use a folder", async () => {
      await open();
      const file = join(folder.path, "file");
      writeFileSync(file, "");
      const { message } = await failureOf(openPlainStore(join(file, "data")));
      expect(message).to.equal(`EEXIST: file already exists, mkdir '${file}'`);
    });
  });

  describe("closing", () => {
    it("finishes appends under way, and refuses later requests", async () => {
      await open();
      const appends = appendMany(500);
      const closing = store.close();
      expect(await appends).to.have.length(500);
      await closing;
      for (const attempt of [
        store.append("x-1", noStream, [note("x")]), store.readStream("x-1"), store.deleteStream("x-1"), store.head(),
        store.readLog("", 1), store.stats(),
      ]) expect(await failureOf(attempt)).to.be.instanceOf(LogUnavailable);
      await open();
      expect((await store.readLog("", 1000)).entries).to.have.length(500);
    });

    it("refuses requests while it waits for a handler", async () => {
      await open();
      const [called, gate] = [Promise.withResolvers<undefined>(), Promise.withResolvers<undefined>()];
      store.subscribe({ after: "" }, () => {
        called.resolve(undefined);
        return gate.promise;
      });
      await store.append("x-1", noStream, [note("x")]);
      await called.promise;
      const closing = store.close();
      await nextTurn();
      const append = store.append("x-1", 0, [note("y")]).then(() => "written", String);
      gate.resolve(undefined);
      expect(await append).to.equal("LogUnavailable: the event store is closed");
      await closing;
    });

    it("finishes appends that wait for earlier ones", async () => {
      await open({ batchAppends: 1, batchesInFlight: 1 });
      const appends = appendMany(500);
      await store.close();
      expect(await appends).to.have.length(500);
    });

    it("answers the requests that any of its threads has received", async () => {
      await open();
      const stream = freshStream();
      const { position: beginsAt } = await store.append(stream, noStream, [note("x")]);
      const reads = [store.readStream(stream), store.readStream(stream, { limit: 1, beginsAt })];
      await store.close();
      for (const entries of await Promise.all(reads)) expect(entries.map(textOf)).to.deep.equal(["x"]);
    });

    it("happens automatically, and is reported, where its thread cannot go on", async () => {
      const fatal: Error[] = [];
      store = await openEmbeddedEventStore({
        dataDir: folder.path, codec: plainCodec, clock: new SystemClock(), onFatal: (error) => fatal.push(error),
      });
      store.connect().postMessage({ kind: "reads", reads: null });
      await until("it is told", async () => fatal.length === 1);
      expect(await failureOf(store.append(freshStream(), noStream, [note("y")]))).to.be.instanceOf(LogUnavailable);
    });

    it("refuses all further requests of other clients", async () => {
      await open();
      const client = await attachTo(store);
      await client.append("other-1", noStream, [note("x")]);
      await store.close();
      await until("the client knows", () => client.head().then(() => false, () => true));
      expect(await failureOf(client.append("other-1", 0, [note("y")]))).to.be.instanceOf(LogUnavailable);
      await client.close();
    });
  });
});

function damageFirstRecord(path: string): void {
  const script = "printf '\\377' | dd of=\"$0\" bs=1 seek=8 conv=notrunc status=none";
  execFileSync("sh", ["-c", script, path]);
}
