import { expect } from "chai";
import { openAccount, startTestRelay } from "../support/relay.ts";

describe("limits of the engines", () => {
  it("answers 413 to an event that the configuration lets in but the log cannot keep, and goes on", async () => {
    const relay = await startTestRelay(null, { RELAY_MAX_BODY_BYTES: "4194304" });
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
