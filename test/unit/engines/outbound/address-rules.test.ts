import { expect } from "chai";
import { createAddressRules } from "../../../../src/engines/outbound/address-rules.ts";
import { sized } from "../../../support/size.ts";

/** The first and the last address of every special range, and the neighbours that are public. */
const special4 = [
  ["0.0.0.0", "0.255.255.255"], ["10.0.0.0", "10.255.255.255"], ["100.64.0.0", "100.127.255.255"],
  ["127.0.0.0", "127.255.255.255"], ["169.254.0.0", "169.254.255.255"], ["172.16.0.0", "172.31.255.255"],
  ["192.0.0.0", "192.0.0.255"], ["192.0.2.0", "192.0.2.255"], ["192.88.99.0", "192.88.99.255"],
  ["192.168.0.0", "192.168.255.255"], ["198.18.0.0", "198.19.255.255"], ["198.51.100.0", "198.51.100.255"],
  ["203.0.113.0", "203.0.113.255"], ["224.0.0.0", "239.255.255.255"], ["240.0.0.0", "255.255.255.255"],
] as const;

const public4 = [
  "1.0.0.0", "1.1.1.1", "8.8.8.8", "9.255.255.255", "11.0.0.0", "100.63.255.255", "100.128.0.0", "126.255.255.255",
  "128.0.0.0", "169.253.255.255", "169.255.0.0", "172.15.255.255", "172.32.0.0", "191.255.255.255", "192.0.1.0",
  "192.0.3.0", "192.88.98.255", "192.88.100.0", "192.167.255.255", "192.169.0.0", "198.17.255.255", "198.20.0.0",
  "198.51.99.255", "198.51.101.0", "203.0.112.255", "203.0.114.0", "223.255.255.255",
];

const special6 = [
  "::", "::1", "::ffff:127.0.0.1", "::ffff:a9fe:a9fe", "::127.0.0.1", "::ffff:0:10.0.0.1", "64:ff9b::10.0.0.1",
  "64:ff9b::a9fe:a9fe", "64:ff9b:1::8.8.8.8", "64:ff9b::1:808:808", "100::1", "100:0:0:1::1", "1fff:ffff::1", "2001::1",
  "2001:0:4136:e378::", "2001:10::1", "2001:20::1", "2001:1ff:ffff::1", "2001:db8::1", "2001:db8:ffff::1", "2002::1",
  "2002:7f00:1::1", "2002:808:808::1", "3fff::1", "3fff:fff::1", "4000::1", "5f00::1", "fc00::1", "fd00::1", "fdff::1",
  "fe80::1", "fe80::1%eth0", "febf::1", "fec0::1", "ff02::1", "ffff::1", "fd00:ec2::254", "2606:4700::5efe:10.0.0.1",
  "2606:4700::200:5efe:127.0.0.1",
];

const public6 = [
  "2000::1", "2001:200::1", "2001:4860:4860::8888", "2001:db7::1", "2001:db9::1", "2003::1", "2606:4700:4700::1111",
  "2a00:1450:4001::1", "3ffe::1", "3fff:1000::1", "::ffff:8.8.8.8", "::FFFF:0808:0808", "64:ff9b::8.8.8.8",
  "2606:4700::5efe:8.8.8.8",
];

describe("S1 address rules", () => {
  const allows = createAddressRules([]);

  it("refuse the special ranges of IPv4 from end to end, and no address beside them", () => {
    for (const address of special4.flat()) expect(allows(address), address).to.be.false;
    for (const address of public4) expect(allows(address), address).to.be.true;
  });

  it("allow IPv6 only where it is global unicast", () => {
    for (const address of special6) expect(allows(address), address).to.be.false;
    for (const address of public6) expect(allows(address), address).to.be.true;
  });

  it("refuse a text that is no address", () => {
    for (const text of ["", "localhost", "1.2.3", "1.2.3.4.5", "0x7f.1", "::1::", "[2606:4700::1]", "8.8.8.8 "]) {
      expect(allows(text), JSON.stringify(text)).to.be.false;
    }
  });

  it("judge every embedding of a random IPv4 address by that address", () => {
    const random = randomFrom(0x5eed);
    const whole = sized(20_000, 1_000_000);
    let refused = 0;
    for (let count = 0; count < whole; count += 1) {
      const inner = random() % 2 === 0 ? someSpecial(random) : random();
      const plain = dotted(inner);
      const isPublic = !inRanges(inner);
      expect(allows(plain), plain).to.equal(isPublic);
      for (const address of [`::ffff:${plain}`, `64:ff9b::${plain}`, `2606:4700::5efe:${plain}`]) {
        expect(allows(address), address).to.equal(isPublic);
      }
      const always = [`::${plain}`, `::ffff:0:${plain}`, `2002:${hex(inner)}::1`, `64:ff9b:1::${plain}`,
        `2001:0:${hex(random())}:0:0:${hex(~inner >>> 0)}`];
      for (const address of always) expect(allows(address), address).to.be.false;
      if (!isPublic) refused += 1;
    }
    expect(refused).to.be.within(whole / 2, whole);
  });

  it("open private, loopback and special ranges when allowed, and only these", () => {
    const opened = createAddressRules(["127.0.0.0/8", "10.1.0.0/16", "fd00::/8", "::1/128", "203.0.113.7/32"]);
    const allowed = ["127.0.0.1", "127.255.0.1", "::ffff:127.0.0.1", "10.1.2.3", "fd12::1", "::1", "203.0.113.7"];
    for (const address of allowed) {
      expect(opened(address), address).to.be.true;
    }
    for (const address of ["10.2.0.1", "192.168.0.1", "203.0.113.8", "fc00::1", "::2", "2001:db8::1"]) {
      expect(opened(address), address).to.be.false;
    }
    expect(opened("8.8.8.8")).to.be.true;
    expect(opened("2606:4700::1")).to.be.true;
  });

  it("keep an IPv6 network from opening IPv4, and the other way round", () => {
    const six = createAddressRules(["::/0"]);
    expect(six("fc00::1")).to.be.true;
    expect(six("127.0.0.1")).to.be.false;
    expect(six("::ffff:127.0.0.1")).to.be.false;
    expect(createAddressRules(["0.0.0.0/0"])("::1")).to.be.false;
  });

  it("never open link-local addresses and cloud metadata", () => {
    const open = createAddressRules(["0.0.0.0/0", "::/0", "169.254.169.254/32", "fe80::/10", "fd00:ec2::254/128"]);
    const never = [
      "169.254.169.254", "169.254.0.1", "169.254.170.2", "100.100.100.200", "168.63.129.16", "192.0.0.192", "fe80::1",
      "fe80::a9fe:a9fe", "fe80::1%eth0", "fd00:ec2::254", "fd00:ec2::23", "fd20:ce::254", "fd00:42::42",
      "::ffff:169.254.169.254", "::169.254.169.254", "64:ff9b::169.254.169.254", "64:ff9b:1::169.254.169.254",
      "2002:a9fe:a9fe::1", "2001:0:a9fe:a9fe::1", "2606:4700::5efe:169.254.169.254", "64:ff9b:1:a9fe:a9:fe00::",
      "64:ff9b:a9fe:a9fe::", "64:ff9b:a9:fea9:fe::", "64:ff9b:1:a9:fe:a9fe::", "64:ff9b:1:0:a9:fea9:fe00:0",
      "2002:808:808::5efe:169.254.169.254",
    ];
    for (const address of never) expect(open(address), address).to.be.false;
    expect(open("10.0.0.1")).to.be.true;
  });

  it("never open such an address inside a translator's, a tunnel's or a mapped one, with any network allowed", () => {
    const open = ["0.0.0.0/0", "::/0", "64:ff9b:1::/48", "64:ff9b::/96", "2002::/16", "2001::/32", "::/96"];
    const rules = [["::/0"], ["64:ff9b:1::/48"], open].map(createAddressRules);
    const random = randomFrom(0xface);
    for (let count = 0; count < sized(20_000, 1_000_000); count += 1) {
      const inner = someNever(random);
      const address = embedded(inner, random);
      for (const rule of rules) expect(rule(address), `${dotted(inner)} in ${address}`).to.be.false;
    }
  });

  it("allow a translator's other addresses if its network is allowed", () => {
    const rules = createAddressRules(["64:ff9b:1::/48"]);
    for (const address of ["64:ff9b:1::a00:1", "64:ff9b:1:a00:0:100::", "64:ff9b:1:808:8:800::"]) {
      expect(rules(address), address).to.be.true;
    }
    expect(rules("64:ff9b::10.0.0.1")).to.be.false;
    expect(rules("64:ff9b::8.8.8.8")).to.be.true;
  });

  it("refuse networks that are not CIDR", () => {
    const others = [
      "10.0.0.0", "10.0.0.0/33", "10.0.0/8", "::/129", "10.0.0.0/8/8", "localhost/8", "10.0.0.0/", "", "1.2.3.4/024",
      "::1%eth0/128", "::/00",
    ];
    for (const text of others) {
      expect(() => createAddressRules([text]), text).to.throw(RangeError);
    }
  });
});

function toNumber(address: string): number {
  return address.split(".").reduce((value, part) => value * 256 + Number(part), 0);
}

function dotted(value: number): string {
  return [value >>> 24, (value >>> 16) & 255, (value >>> 8) & 255, value & 255].join(".");
}

function hex(value: number): string {
  return `${(value >>> 16).toString(16)}:${(value & 0xffff).toString(16)}`;
}

const ranges = special4.map(([from, to]) => [toNumber(from), toNumber(to)] as const);
/** Azure's: in a public range, but never used as a public address. */
const wireServer = toNumber("168.63.129.16");

function inRanges(value: number): boolean {
  return value === wireServer || ranges.some(([from, to]) => value >= from && value <= to);
}

function someSpecial(random: () => number): number {
  const [from, to] = ranges[random() % ranges.length] ?? [0, 0];
  return from + (random() % (to - from + 1));
}

const nevers = [["169.254.0.0", 16], ["100.100.100.200", 0], ["168.63.129.16", 0], ["192.0.0.192", 0]] as const;

function someNever(random: () => number): number {
  const [first, hostBits] = nevers[random() % nevers.length] ?? ["", 0];
  return toNumber(first) + (random() % 2 ** hostBits);
}

/** How IPv6 embeds an IPv4 address: `n` stands for its bytes, `N` for their complements, `x` for any byte. */
const embeddings = [
  // RFC 6052, behind a prefix of 32, 40, 48, 56, 64 and 96 bits.
  "0064ff9bnnnnxxxxxxxx", "0064ff9bxnnnxnxxxxxx", "0064ff9b0001nnxnnxxxxx", "0064ff9bxxxnxnnnxxxx",
  "0064ff9b0001xxxnnnnxxx", "0064ff9b0001xxxxxxnnnn", "0064ff9b0000000000000000nnnn",
  // 6to4, Teredo (server, client), ISATAP, compatible, translated, mapped.
  "2002nnnnxxxxxxxxxx", "20010000nnnnxxxxxxxx", "20010000xxxxxxxxNNNN",
  "fd00xxxxxx00005efennnn", "2a00xxxxxx02005efennnn",
  "000000000000000000000000nnnn", "0000000000000000ffff0000nnnn", "00000000000000000000ffffnnnn",
];

function embedded(inner: number, random: () => number): string {
  const bytes = [24, 16, 8, 0].map((shift) => (inner >>> shift) & 255);
  let next = 0;
  const byte = (kind: string) => {
    if (kind === "x") return random() & 255;
    const value = bytes[next++ % 4] ?? 0;
    return kind === "n" ? value : ~value & 255;
  };
  const form = embeddings[random() % embeddings.length] ?? "";
  // Letters of the form stand for a byte each; its other digits are hexadecimal.
  const text = form.replace(/[nNx]/g, (kind) => byte(kind).toString(16).padStart(2, "0"));
  return text.replace(/.{4}(?!$)/g, "$&:");
}

/** xorshift32: the same addresses in every run. */
function randomFrom(seed: number): () => number {
  let state = seed;
  return () => {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    return (state >>>= 0);
  };
}
