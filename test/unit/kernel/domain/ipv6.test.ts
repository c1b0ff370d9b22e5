import { expect } from "chai";
import { clientNetwork, dotted, mappedIpv4, wordsOf } from "../../../../src/kernel/domain/ipv6.ts";

describe("IPv6 addresses", () => {
  it("have the same eight words in every spelling", () => {
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

  it("are counted by their /64, in every spelling, and as the IPv4 address where they are mapped", () => {
    const table: readonly [network: string, ...addresses: string[]][] = [
      [
        "2001:db8:1:2::/64", "2001:db8:1:2::", "2001:db8:1:2::1", "2001:0DB8:0001:0002:FFFF:FFFF:FFFF:FFFF",
        "2001:db8:1:2::192.0.2.1", "2001:db8:1:2::1%eth0",
      ],
      ["2001:db8:1:3::/64", "2001:db8:1:3::1"],
      ["2001:db8:0:2::/64", "2001:db8::2:0:0:0:0", "2001:db8:0:2::1"],
      ["fe80:0:0:0::/64", "fe80::1%eth0", "fe80::2%1"],
      ["0:0:0:0::/64", "::", "::1"],
      ["192.0.2.1", "192.0.2.1", "::ffff:192.0.2.1", "::FFFF:C000:201", "0:0:0:0:0:ffff:192.0.2.1"],
      ["192.0.2.2", "192.0.2.2", "::ffff:192.0.2.2"],
      ["", ""],
    ];
    for (const [network, ...addresses] of table) {
      for (const address of addresses) expect(clientNetwork(address), address).to.equal(network);
    }
  });
});
