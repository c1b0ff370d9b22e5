import { readFileSync, writeFileSync } from "node:fs";
import { expect } from "chai";
import type { EmbeddedEventStore } from "../../../../src/adapters/embedded-event-store/embedded-event-store.ts";
import { logPath } from "../../../../src/adapters/embedded-event-store/log-file.ts";
import { LogUnavailable, noStream } from "../../../../src/ports/event-store.ts";
import { failureOf, freshStream, note, texts } from "../../../contract/event-store/harness.ts";
import { attachTo, openPlainStore, temporaryFolder } from "../../../support/embedded-store.ts";

describe("reading the embedded event store", () => {
  let folder: ReturnType<typeof temporaryFolder>;
  let store: EmbeddedEventStore;

  beforeEach(async () => {
    folder = temporaryFolder();
    store = await openPlainStore(folder.path);
  });
  afterEach(async () => {
    await store.close();
    folder.remove();
  });

  it("goes past as much as was deleted on end", async () => {
    const [doomed, kept] = [freshStream(), freshStream()];
    for (let revision = noStream; revision < 4200; revision += 300) {
      await store.append(doomed, revision, Array.from({ length: 300 }, () => note("doomed")));
    }
    await store.append(kept, noStream, [note("kept")]);
    await store.deleteStream(doomed);
    expect(texts((await store.readLog("", 1)).entries)).to.deep.equal(["kept"]);
  });

  it("finds an entry at a known place for every client, though only one has threads to look there", async () => {
    const stream = freshStream();
    const { position: beginsAt } = await store.append(stream, noStream, [note("x")]);
    const client = await attachTo(store);
    expect(texts(await client.readStream(stream, { limit: 1, beginsAt }))).to.deep.equal(["x"]);
    await client.close();
  });

  it("is refused, whichever thread does it, where the log is damaged", async () => {
    const stream = freshStream();
    const { position: beginsAt } = await store.append(stream, noStream, [note("x".repeat(100_000))]);
    await store.close();
    const bytes = readFileSync(logPath(folder.path));
    // Beyond the tables: what of an entry is too long to stand in its row.
    writeFileSync(logPath(folder.path), bytes.fill(0, 50_000));
    store = await openPlainStore(folder.path);
    for (const read of [
      () => store.readStream(stream), () => store.readStream(stream, { limit: 1, beginsAt }),
      () => store.readLog("", 1),
    ]) expect(await failureOf(read())).to.be.instanceOf(LogUnavailable);
    expect((await store.append(freshStream(), noStream, [note("y")])).revision).to.equal(0);
  });
});
