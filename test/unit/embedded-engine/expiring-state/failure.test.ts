import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { MessageChannel } from "node:worker_threads";
import { expect } from "chai";
import {
  remoteExpiringState, SqliteExpiringState,
} from "../../../../packages/embedded-engine/src/expiring-state/sqlite-expiring-state.ts";
import { formatOf, marking } from "../../../../packages/embedded-engine/src/sqlite/file-format.ts";
import type { ExpiringState } from "../../../../src/kernel/ports/expiring-state.ts";
import { serve } from "../../../../src/kernel/threads/calls.ts";
import { temporaryFolder } from "../../../support/embedded-store.ts";

describe("expiring state that cannot be reached", () => {
  it("gives the engine's own error message, once, in its thread and in another", async () => {
    const { port1, port2 } = new MessageChannel();
    const state = new SqliteExpiringState(":memory:", { now: () => 0 });
    serve<ExpiringState>(port1, state);
    const client = remoteExpiringState(port2);
    await state.close();
    for (const asked of [state, client]) {
      const error = await asked.get(["key"]).catch((caught: unknown) => caught);
      expect(String(error)).to.equal("ExpiringStateUnavailable: database is not open");
    }
    client.close();
  });

  it("is not opened in a file of another format version, and the file keeps that version", () => {
    const folder = temporaryFolder();
    try {
      const file = join(folder.path, "state.db");
      const newer = { version: 2, release: "0.8.0" };
      const database = new DatabaseSync(file);
      database.exec(`CREATE TABLE entries (key TEXT); ${marking(newer)}`);
      database.close();
      expect(() => new SqliteExpiringState(file, { now: () => 0 })).to.throw("is of version 2");
      expect(formatOf(file)).to.deep.equal(newer);
    } finally {
      folder.remove();
    }
  });
});
