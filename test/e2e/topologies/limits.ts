import { expect } from "chai";
import { openAccount } from "../../support/relay.ts";
import { onTopology } from "../../support/topologies.ts";

export const limitsSuite = onTopology("limits of the engines", ({ start }) => {
  it("answers 413 to an event that the configuration allows but the log cannot store, and goes on", async function () {
    const relay = await start(this, null, { RELAY_MAX_BODY_BYTES: "4194304" });
    try {
      const account = await openAccount(relay.url);
      const { ingest } = await account.destination({ url: "https://receiver.example/" });
      const post = (bytes: number) =>
        fetch(relay.url + ingest, {
          method: "POST",
          headers: { "content-type": "application/json", ...account.producer.headers },
          body: JSON.stringify({ filler: "x".repeat(bytes) }),
        });
      const tooLarge = await post(1_100_000);
      expect(tooLarge.status).to.equal(413);
      expect(await tooLarge.text()).to.match(/^body: /);
      expect((await post(900_000)).status).to.equal(202);
    } finally {
      await relay.close();
    }
  });
});
