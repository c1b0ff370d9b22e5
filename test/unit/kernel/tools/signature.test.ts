import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { expect } from "chai";
import { secretFingerprint, sign, signerOf, verify, webhookSecret } from "../../../../src/kernel/tools/signature.ts";

const secret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";

describe("signatures", () => {
  it("are those of the published Standard Webhooks example", () => {
    const body = Buffer.from('{"test": 2432232314}');
    const headers = sign(signerOf(secret), "msg_p5jXN8AQM9LWM0D4loKWxJek", 1_614_265_330_999, body);
    expect(headers["webhook-id"]).to.equal("msg_p5jXN8AQM9LWM0D4loKWxJek");
    expect(headers["webhook-timestamp"]).to.equal("1614265330");
    expect(headers["webhook-signature"]).to.equal("v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=");
  });

  it("sign the body with the whole secret string, prefix included", () => {
    // RFC 4231, test case 2: key "Jefe".
    const headers = sign(signerOf("Jefe"), "id", 0, Buffer.from("what do ya want for nothing?"));
    const digest = "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843";
    expect(headers["X-Service-Signature"]).to.equal(`sha256=${digest}`);
  });

  it("agree with a computation from the definition of HMAC, for any bytes", () => {
    const body = Buffer.from('{"a":1.0,"b":"ünïcödé \\u0000","c":123456789012345678901234567890}');
    const made = webhookSecret(Uint8Array.from({ length: 32 }, (_, index) => index * 7));
    expect(made).to.match(/^whsec_[A-Za-z0-9+/]{43}=$/);
    const headers = sign(signerOf(made), "id", 1_700_000_000_000, body);
    expect(headers["X-Service-Signature"]).to.equal(`sha256=${hmac(Buffer.from(made), body).toString("hex")}`);
    const key = Buffer.from(made.slice("whsec_".length), "base64");
    const content = Buffer.concat([Buffer.from("id.1700000000."), body]);
    expect(headers["webhook-signature"]).to.equal(`v1,${hmac(key, content).toString("base64")}`);
  });

  it("are of each secret, in the given order, while X-Service-Signature is the first one's alone", () => {
    const [body, others] = [Buffer.from("{}"), [1, 2].map((byte) => webhookSecret(new Uint8Array(32).fill(byte)))];
    const one = (each: string) => sign(signerOf(each), "id", 0, body);
    const keys = others.map((other) => signerOf(other).standardKey);
    const all = sign(signerOf(secret), "id", 0, body, keys);
    expect(all["webhook-signature"]).to.equal(
      [secret, ...others].map((each) => one(each)["webhook-signature"]).join(" "));
    expect(all["X-Service-Signature"]).to.equal(one(secret)["X-Service-Signature"]);
  });

  it("verify in either case of their hex digits, and in no other form", () => {
    const payload = '{"n":"é"}';
    const good = sign(signerOf(secret), "id", 0, Buffer.from(payload))["X-Service-Signature"];
    expect(verify(secret, payload, good)).to.be.true;
    const hex = good.slice("sha256=".length);
    expect(verify(secret, payload, `sha256=${hex.toUpperCase()}`)).to.be.true;
    const others = ["", "sha256=", hex, `SHA256=${hex}`, `${good} `, good.slice(0, -1),
      `${good.slice(0, -1)}${good.endsWith("0") ? "1" : "0"}`, `sha1=${hex}`, "é".repeat(good.length), `v1,${hex}`];
    for (const other of others) expect(verify(secret, payload, other), other).to.be.false;
    expect(verify(secret, `${payload} `, good)).to.be.false;
    expect(verify(webhookSecret(new Uint8Array(32)), payload, good)).to.be.false;
  });

  it("name a secret by a fingerprint that does not contain it", () => {
    expect(secretFingerprint(secret)).to.match(/^[0-9a-f]{16}$/);
    expect(secretFingerprint(`${secret}x`)).to.not.equal(secretFingerprint(secret));
  });

  it("name a secret as the documented command does", () => {
    const document = readFileSync(new URL("../../../../docs/verify-signatures.md", import.meta.url), "utf8");
    const [command = ""] = document.split("\n").filter((line) => line.includes("sha256sum"));
    const env = { ...process.env, WEBHOOK_SECRET: secret };
    expect(execFileSync("sh", ["-c", command], { env, encoding: "utf8" })).to.equal(`${secretFingerprint(secret)}\n`);
  });
});

/** HMAC-SHA256 from its definition (RFC 2104). */
function hmac(key: Buffer, message: Buffer): Buffer {
  const padded = Buffer.concat([key.length > 64 ? sha256(key) : key, Buffer.alloc(64)]).subarray(0, 64);
  const inner = sha256(Buffer.concat([padded.map((byte) => byte ^ 0x36), message]));
  return sha256(Buffer.concat([padded.map((byte) => byte ^ 0x5c), inner]));
}

function sha256(bytes: Buffer): Buffer {
  return createHash("sha256").update(bytes).digest();
}
