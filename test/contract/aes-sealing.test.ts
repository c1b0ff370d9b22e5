import { expect } from "chai";
import { AesSealing, masterKeyId } from "../../src/engines/aes-sealing/aes-sealing.ts";
import { Unsealable } from "../../src/kernel/ports/sealing.ts";
import { masterKeyIdOf } from "../../src/kernel/sealing/facts.ts";
import { sealingContract } from "./sealing.ts";

describe("AES-256-GCM sealing", () => {
  const first = new Uint8Array(32).fill(1);
  const second = new Uint8Array(32).fill(2);
  const dataKey = new Uint8Array(32).fill(3);

  sealingContract(() => new AesSealing(first));

  it("opens the envelopes of earlier releases", () => {
    const sealed = "s1.iN_4DO-SdnniX9P_euMsuOJBRpjBazfqhcNkj4ZOzHvz";
    const wrapped =
      "w1.e5f73acbc2ec2986.eite5MDERur2oV-WaMI8iJ5BkVgM8eBv-G2PG4fMxRMrdIssQPlZ7CbwDquRAG36EN_okWKnIIPIZyMH";
    const sealing = new AesSealing(first);
    expect(sealing.open(sealed, dataKey, "t/x")).to.equal("clear");
    expect(sealing.unwrap(wrapped, "t/dataKey")).to.deep.equal(dataKey);
  });

  it("unwraps keys wrapped under an old master key, and wraps under the new one", () => {
    const old = new AesSealing(first).wrap(dataKey, "t/dataKey");
    const rotated = new AesSealing(second, [first]);
    expect(rotated.unwrap(old, "t/dataKey")).to.deep.equal(dataKey);
    expect(rotated.masterKeyIds).to.deep.equal([masterKeyId(second), masterKeyId(first)]);
    expect(masterKeyIdOf(old)).to.equal(masterKeyId(first));
    const rewrapped = rotated.wrap(rotated.unwrap(old, "t/dataKey"), "t/dataKey");
    expect(masterKeyIdOf(rewrapped)).to.equal(masterKeyId(second));
    expect(new AesSealing(second).unwrap(rewrapped, "t/dataKey")).to.deep.equal(dataKey);
  });

  it("names the missing master key", () => {
    const wrapped = new AesSealing(first).wrap(dataKey, "t/dataKey");
    expect(() => new AesSealing(second).unwrap(wrapped, "t/dataKey")).to.throw(Unsealable, masterKeyId(first));
  });

  it("takes master keys of 32 bytes only", () => {
    expect(() => new AesSealing(new Uint8Array(16))).to.throw(RangeError);
    expect(() => new AesSealing(first, [new Uint8Array(31)])).to.throw(RangeError);
  });
});
