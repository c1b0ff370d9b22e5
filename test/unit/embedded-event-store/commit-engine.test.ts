import { expect } from "chai";
import { CommitEngine } from "../../../src/adapters/embedded-event-store/commit-engine.ts";
import { LogFile, logPath } from "../../../src/adapters/embedded-event-store/log-file.ts";
import { StreamIndex } from "../../../src/adapters/embedded-event-store/stream-index.ts";
import { temporaryFolder } from "../../support/embedded-store.ts";

describe("the commit engine", () => {
  let folder: ReturnType<typeof temporaryFolder>;
  let log: LogFile;

  beforeEach(() => {
    folder = temporaryFolder();
    log = new LogFile(logPath(folder.path));
  });
  afterEach(() => {
    log.close();
    folder.remove();
  });

  it("asks no index for a stream's first entry whose place is known", () => {
    log.insert(1, "event-1", 0, "id", "Noted", "{}", "{}");
    const ignorant = new StreamIndex([], 1, () => undefined);
    const engine = new CommitEngine(log, ignorant, () => {});
    const found = (limit: number, beginsAt: number) =>
      engine.read({ request: 1, stream: "event-1", from: 0, limit, backwards: false, beginsAt }).sequences;
    expect(found(1, 1)).to.deep.equal([1]);
    expect(found(1, 0)).to.deep.equal([]);
    expect(found(2, 1)).to.deep.equal([]);
  });
});
