import { MessageChannel } from "node:worker_threads";
import { expect } from "chai";
import { remoteExpiringState } from "../../../../src/adapters/embedded-expiring-state/remote-expiring-state.ts";
import { SqliteExpiringState } from "../../../../src/adapters/embedded-expiring-state/sqlite-expiring-state.ts";
import { serve } from "../../../../src/adapters/message-port/calls.ts";
import type { ExpiringState } from "../../../../src/ports/expiring-state.ts";

describe("expiring state that cannot be reached", () => {
  it("says why in the engine's own words, once, in its thread and in another", async () => {
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
});
