import { mkdirSync, renameSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect } from "chai";
import { EntryReaders } from "../../../../packages/embedded-engine/src/event-store/entry-readers.ts";
import { LogFile, logPath } from "../../../../packages/embedded-engine/src/event-store/log-file.ts";
import type { RequestAnswer } from "../../../../packages/embedded-engine/src/event-store/protocol.ts";
import { noStream } from "../../../../src/kernel/ports/event-store.ts";
import { note, textOf } from "../../../contract/event-store/harness.ts";
import { openPlainStore, temporaryFolder } from "../../../support/embedded-store.ts";
import { withoutThreads } from "../../../support/no-threads.ts";

describe("readers of entries at known places", () => {
  const folder = temporaryFolder();
  after(() => folder.remove());

  it("share the reads of a turn between them: each is done once", async () => {
    const log = new LogFile(logPath(folder.path));
    const requests = Array.from({ length: 41 }, (_, at) => at + 1);
    log.transaction(() => {
      for (const at of requests) log.insert(at, `a-${at}`, 0, String(at), "Noted", "{}", "{}");
    });
    const answers: RequestAnswer[] = [];
    const readers = new EntryReaders(logPath(folder.path), (more) => answers.push(...more));
    for (const request of requests) readers.send({ request, stream: `a-${request}`, sequence: request });
    await readers.close();
    log.close();
    const found = answers.map((answer) => answer.kind === "answer" ? answer.result : answer.reason);
    expect(found).to.have.deep.members(requests.map((at) =>
      ({ revisions: [0], sequences: [at], texts: [String(at), "Noted", "{}", "{}"] })));
  });

  it("find nothing where the system gives no thread, and start one for the next read", async () => {
    const path = join(folder.path, "none");
    mkdirSync(path);
    const log = new LogFile(logPath(path));
    log.transaction(() => log.insert(1, "a-1", 0, "1", "Noted", "{}", "{}"));
    let answered = Promise.withResolvers<readonly RequestAnswer[]>();
    const readers = new EntryReaders(logPath(path), (answers) => answered.resolve(answers));
    const read = async (request: number) => {
      answered = Promise.withResolvers();
      readers.send({ request, stream: "a-1", sequence: 1 });
      return answered.promise;
    };
    expect(await withoutThreads(() => read(1))).to.deep.equal(
      [{ kind: "answer", request: 1, result: { revisions: [], sequences: [], texts: [] } }]);
    expect(await read(2)).to.deep.equal(
      [{ kind: "answer", request: 2, result: { revisions: [0], sequences: [1], texts: ["1", "Noted", "{}", "{}"] } }]);
    await readers.close();
    log.close();
  });

  it("find nothing where their thread cannot start, and start another for the next read", async () => {
    const path = logPath(join(folder.path, "later"));
    let answered = Promise.withResolvers<readonly RequestAnswer[]>();
    const readers = new EntryReaders(path, (answers) => answered.resolve(answers));
    const read = async (request: number) => {
      answered = Promise.withResolvers();
      readers.send({ request, stream: "a-1", sequence: 1 });
      return answered.promise;
    };
    expect(await read(1)).to.deep.equal(
      [{ kind: "answer", request: 1, result: { revisions: [], sequences: [], texts: [] } }]);
    mkdirSync(dirname(path));
    const log = new LogFile(path);
    log.transaction(() => log.insert(1, "a-1", 0, "1", "Noted", "{}", "{}"));
    expect(await read(2)).to.deep.equal(
      [{ kind: "answer", request: 2, result: { revisions: [0], sequences: [1], texts: ["1", "Noted", "{}", "{}"] } }]);
    await readers.close();
    log.close();
  });

  it("leave entries that they do not find to the log's own thread", async () => {
    const path = join(folder.path, "store");
    const store = await openPlainStore(path);
    const { position: beginsAt } = await store.append("a-1", noStream, [note("x")]);
    // This starts the housekeeping thread: if it opened the log only after the rename, it would make a new one.
    await store.scrub();
    renameSync(logPath(path), `${logPath(path)}.away`);
    expect((await store.readStream("a-1", { limit: 1, beginsAt })).map(textOf)).to.deep.equal(["x"]);
    await store.close();
  });
});
