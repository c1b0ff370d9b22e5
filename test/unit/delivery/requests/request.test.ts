import { expect } from "chai";
import {
  attemptRequest, authHeader, bearer, userAgent, type AuthHeader,
} from "../../../../src/delivery/requests/request.ts";
import { isSettableHeader } from "../../../../src/features/destinations/facts.ts";
import { signerOf, verify } from "../../../../src/kernel/tools/signature.ts";

const secret = `whsec_${Buffer.alloc(32, 9).toString("base64")}`;
const at = Date.parse("2026-01-02T03:04:05.678Z");

function attempt(auth: AuthHeader | null, test = false) {
  return attemptRequest({
    eventId: "0193a1b2-0000-7000-8000-000000000001", messageId: null,
    number: 3, body: Buffer.from("{}"), signer: signerOf(secret), auth, userAgent: userAgent("1.2.3"), at, test,
  });
}

describe("request of an attempt", () => {
  it("carries the service's headers", () => {
    const { headers, loggedHeaders } = attempt(null);
    expect(headers).to.include({
      "Content-Type": "application/json",
      "User-Agent": "webhook-relay/1.2.3",
      "X-Relay-Attempt": "3",
      "webhook-id": "0193a1b2-0000-7000-8000-000000000001",
      "webhook-timestamp": "1767323045",
    });
    expect(verify(secret, "{}", headers["X-Service-Signature"] ?? "")).to.be.true;
    expect(headers["webhook-signature"]).to.match(/^v1,[A-Za-z0-9+/]{43}=$/);
    expect(loggedHeaders).to.deep.equal(headers);
    expect(headers).to.not.have.property("X-Relay-Test");
  });

  it("says of a test event that it is one, which credentials cannot say", () => {
    expect(attempt(null, true).headers).to.include({ "X-Relay-Test": "true" });
    expect(isSettableHeader("X-Relay-Test")).to.equal(false);
  });

  it("proves who calls, and masks the proof for the log", () => {
    const cases: readonly (readonly [AuthHeader, string, string, string])[] = [
      [authHeader({ type: "ApiKey", headerName: "X-Key", value: "topsecret" }), "X-Key", "topsecret", "***"],
      [authHeader({ type: "BearerToken", token: "topsecret" }), "Authorization", "Bearer topsecret", "Bearer ***"],
      [bearer("topsecret"), "Authorization", "Bearer topsecret", "Bearer ***"],
      // RFC 7617: user "test", password "123£", UTF-8.
      [
        authHeader({ type: "BasicAuth", username: "test", password: "123£" }),
        "Authorization", "Basic dGVzdDoxMjPCow==", "Basic ***",
      ],
      [
        authHeader({ type: "BasicAuth", username: "topsecret", password: "" }),
        "Authorization", "Basic dG9wc2VjcmV0Og==", "Basic ***",
      ],
      [authHeader({ type: "BasicAuth", username: "", password: "" }), "Authorization", "Basic Og==", "Basic ***"],
    ];
    for (const [auth, name, value, masked] of cases) {
      const { headers, loggedHeaders } = attempt(auth);
      expect(headers[name]).to.equal(value);
      expect(loggedHeaders[name]).to.equal(masked);
      expect(Object.keys(loggedHeaders)).to.deep.equal(Object.keys(headers));
      expect(JSON.stringify(loggedHeaders)).to.not.match(/topsecret|dGVzd|123/);
    }
  });

  it("leaves no header of its own, nor HTTP's framing, to credentials", () => {
    for (const name of Object.keys(attempt(null).headers)) {
      expect(isSettableHeader(name), name).to.be.false;
      expect(isSettableHeader(name.toUpperCase()), name).to.be.false;
    }
    const framing = ["Host", "Content-Length", "Transfer-Encoding", "Connection", "Expect", "Upgrade", "Keep-Alive",
      "TE", "Trailer", "Proxy-Connection", "HTTP2-Settings", "Content-Encoding"];
    for (const name of framing) {
      expect(isSettableHeader(name), name).to.be.false;
    }
    for (const name of ["Authorization", "X-Api-Key", "Cookie"]) expect(isSettableHeader(name), name).to.be.true;
  });
});
