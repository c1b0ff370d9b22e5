import { rmSync } from "node:fs";
import { join } from "node:path";
import { expect } from "chai";
import { openEmbeddedEventStore } from "../../../../packages/embedded-engine/src/event-store/embedded-event-store.ts";
import { SystemClock } from "../../../../src/engines/system/system-clock.ts";
import { LogUnavailable, noStream } from "../../../../src/kernel/ports/event-store.ts";
import { failureOf, freshStream, note } from "../../../contract/event-store/harness.ts";
import { temporaryFolder } from "../../../support/embedded-store.ts";
import { plainCodec } from "../../../support/plain-codec.ts";

describe("an embedded event store of which a file was removed", () => {
  for (const name of ["log.db", "log.db-wal", "log.db-shm"]) {
    it(`acknowledges no further append, and ends: ${name}`, async () => {
      const folder = temporaryFolder();
      const fatal: Error[] = [];
      const store = await openEmbeddedEventStore({
        dataDir: folder.path, codec: plainCodec, clock: new SystemClock(), onFatal: (error) => fatal.push(error),
      });
      await store.append(freshStream(), noStream, [note("x")]);
      const path = join(folder.path, name);
      rmSync(path);
      expect(await failureOf(store.ping())).to.have.property("message").that.includes(`${path} was removed`);
      expect(await failureOf(store.append(freshStream(), noStream, [note("y")]))).to.be.instanceOf(LogUnavailable);
      expect(fatal.map(({ message }) => message)).to.deep.equal([`${path} was removed while it was in use`]);
      await store.close();
      folder.remove();
    });
  }
});
