import { expect } from "chai";
import { EntryReaders } from "../../../../src/adapters/embedded-event-store/entry-readers.ts";
import { LogFile, logPath } from "../../../../src/adapters/embedded-event-store/log-file.ts";
import type { Answer } from "../../../../src/adapters/embedded-event-store/protocol.ts";
import { temporaryFolder } from "../../../support/embedded-store.ts";

describe("readers of entries at known places", () => {
  const folder = temporaryFolder();
  after(() => folder.remove());

  it("share the reads of a turn: each is done once", async () => {
    const log = new LogFile(logPath(folder.path));
    const requests = Array.from({ length: 41 }, (_, at) => at + 1);
    log.transaction(() => {
      for (const at of requests) log.insert(at, `a-${at}`, 0, String(at), "Noted", "{}", "{}");
    });
    const answers: Answer[] = [];
    const died = (error: Error) => { throw error; };
    const readers = new EntryReaders(logPath(folder.path), (more) => answers.push(...more), died);
    for (const request of requests) readers.send({ request, stream: `a-${request}`, sequence: request });
    await readers.close();
    log.close();
    const found = answers.map((answer) => answer.kind === "answer" ? answer.result : answer.reason);
    expect(found).to.have.deep.members(requests.map((at) =>
      ({ revisions: [0], sequences: [at], texts: [String(at), "Noted", "{}", "{}"] })));
  });
});
