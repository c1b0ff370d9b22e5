import { expect } from "chai";
import { dotted, mappedIpv4, wordsOf } from "../../../src/domain/ipv6.ts";

describe("IPv6 addresses", () => {
  it("have the same words in every spelling", () => {
    const words = [0x2001, 0xdb8, 0, 0, 0, 0xff, 0xa0b, 0xc0d];
    for (const spelling of [
      "2001:db8::ff:a0b:c0d", "2001:0DB8:0:0:0:00ff:0a0b:0c0d", "2001:db8::ff:10.11.12.13", "2001:db8:0:0::ff:a0b:c0d",
    ]) expect(wordsOf(spelling)).to.deep.equal(words);
    expect(wordsOf("::")).to.deep.equal([0, 0, 0, 0, 0, 0, 0, 0]);
    expect(wordsOf("::1")).to.deep.equal([0, 0, 0, 0, 0, 0, 0, 1]);
    expect(wordsOf("fe80::")).to.deep.equal([0xfe80, 0, 0, 0, 0, 0, 0, 0]);
    expect(() => wordsOf("10.0.0.1")).to.throw(TypeError);
    expect(() => wordsOf("fe80::1%eth0")).to.throw(TypeError);
  });

  it("stand for an IPv4 one where they are mapped", () => {
    expect(mappedIpv4(wordsOf("::ffff:169.254.0.255"))).to.equal("169.254.0.255");
    expect(mappedIpv4(wordsOf("0:0:0:0:0:ffff:a9fe:ff"))).to.equal("169.254.0.255");
    for (const other of ["::169.254.0.255", "64:ff9b::169.254.0.255", "::ffff:0:a9fe:ff", "1::ffff:a9fe:ff"]) {
      expect(mappedIpv4(wordsOf(other))).to.equal(undefined);
    }
    expect(dotted(0xa9fe, 0x00ff)).to.equal("169.254.0.255");
  });
});
