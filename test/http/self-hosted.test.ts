import { expect } from "chai";
import { password, unique } from "../support/accounts.ts";
import { http } from "../support/http.ts";
import { startTestRelay } from "../support/relay.ts";

describe("creating a tenant self-hosted", () => {
  it("ignores the fields of the cloud offering, with any values", async () => {
    const relay = await startTestRelay(null, { RELAY_TURNSTILE_VERIFY_URL: "https://127.0.0.1:1/" });
    for (const value of [undefined, null, "", 7, [], {}, "x".repeat(5_000)]) {
      for (let n = 0; n < 4; n += 1) {
        const created = await http("POST", `${relay.url}/api/v1/tenants`, {
          json: {
            name: unique("Own"), ownerEmail: `${unique("someone")}@mailinator.com`, ownerPassword: password,
            deviceFingerprint: value, cfTurnstileToken: value,
          },
        });
        expect(created.status).to.equal(201);
      }
    }
    await relay.close();
  });
});
