import { BlockList, isIP, isIPv4, type IPVersion } from "node:net";
import { dotted, mappedIpv4, wordsOf, type Words } from "../../kernel/domain/ipv6.ts";
import { neverCalled } from "../../kernel/domain/never-called.ts";

/** Whether outbound calls may reach an address (dotted IPv4 or any spelling of IPv6). */
export type AddressRules = (address: string) => boolean;

/** The special-purpose ranges, which are not public. */
const special4 = [
  "0.0.0.0/8", // this network
  "10.0.0.0/8", // private
  "100.64.0.0/10", // shared by carriers
  "127.0.0.0/8", // loopback
  "169.254.0.0/16", // link-local
  "172.16.0.0/12", // private
  "192.0.0.0/24", // protocol assignments
  "192.0.2.0/24", // documentation
  "192.88.99.0/24", // 6to4 relays
  "192.168.0.0/16", // private
  "198.18.0.0/15", // benchmarking
  "198.51.100.0/24", // documentation
  "203.0.113.0/24", // documentation
  "224.0.0.0/4", // multicast
  "240.0.0.0/4", // reserved, broadcast
];

/** The allocated global unicast range, and special-purpose ranges within it. */
const global6 = ["2000::/3"];
const special6 = [
  "2001::/23", // protocol assignments, Teredo
  "2001:db8::/32", // documentation
  "2002::/16", // 6to4
  "3fff::/20", // documentation
];

/** Public addresses and `allowedNetworks` (CIDR), never link-local or cloud metadata. Throws RangeError. */
export function createAddressRules(allowedNetworks: readonly string[]): AddressRules {
  const allowed = allowedNetworks.map(parseNetwork);
  // A list of both families would match IPv4 addresses, as mapped ones, against IPv6 rules.
  const allowed4 = listOf("ipv4", allowed);
  const allowed6 = listOf("ipv6", allowed);

  const allows4 = (address: string) =>
    !lists.never4.check(address) && (allowed4.check(address) || !lists.special4.check(address));

  const allows6 = (address: string) => {
    const words = wordsOf(address);
    const mapped = mappedIpv4(words);
    if (mapped !== undefined) return allows4(mapped);
    if (lists.never6.check(address, "ipv6")) return false;
    if (innerAddresses(words).some((inner) => lists.never4.check(inner))) return false;
    if (allowed6.check(address, "ipv6")) return true;
    if (isTranslated(words)) return allows4(lastOf(words));
    if (isIsatap(words) && !allows4(lastOf(words))) return false;
    return lists.global6.check(address, "ipv6") && !lists.special6.check(address, "ipv6");
  };

  return (address) => {
    const [bare = ""] = address.split("%");
    const family = isIP(bare);
    return family === 4 ? allows4(bare) : family === 6 && allows6(bare);
  };
}

interface Network {
  readonly address: string;
  readonly prefix: number;
  readonly family: IPVersion;
}

function parseNetwork(text: string): Network {
  const [, address = "", prefix = ""] = /^([^/%]+)\/(0|[1-9]\d{0,2})$/.exec(text) ?? [];
  const family = isIPv4(address) ? "ipv4" : "ipv6";
  const bits = family === "ipv4" ? 32 : 128;
  if (isIP(address) === 0 || Number(prefix) > bits) throw new RangeError(`not a network in CIDR notation: ${text}`);
  return { address, prefix: Number(prefix), family };
}

function listOf(family: IPVersion, networks: readonly Network[]): BlockList {
  const list = new BlockList();
  for (const network of networks) {
    if (network.family === family) list.addSubnet(network.address, network.prefix, family);
  }
  return list;
}

const lists = {
  special4: listOf("ipv4", special4.map(parseNetwork)),
  never4: listOf("ipv4", neverCalled.map(parseNetwork)),
  global6: listOf("ipv6", global6.map(parseNetwork)),
  special6: listOf("ipv6", special6.map(parseNetwork)),
  never6: listOf("ipv6", neverCalled.map(parseNetwork)),
};

/** `64:ff9b::a.b.c.d`: NAT64, from a network without IPv4 to the public IPv4 internet. */
function isTranslated(words: Words): boolean {
  return words[0] === 0x64 && words[1] === 0xff9b && words.slice(2, 6).every((word) => word === 0);
}

function lastOf(words: Words): string {
  return dotted(words[6], words[7]);
}

/** An interface identifier that tunnels to the IPv4 address in its last 32 bits (RFC 5214). */
function isIsatap(words: Words): boolean {
  return (words[4] & 0xfdff) === 0 && words[5] === 0x5efe;
}

/** IPv4 addresses that gateways may extract from an IPv6 one. */
function innerAddresses(words: Words): readonly string[] {
  const [a, b, c, d, e, f, g, h] = words;
  const isCompatible = words.slice(0, 6).every((word) => word === 0);
  const isIpv4Translated = a === 0 && b === 0 && c === 0 && d === 0 && e === 0xffff && f === 0;
  return [
    ...(a === 0x64 && b === 0xff9b ? translatedAddresses(words) : []),
    ...(a === 0x2002 ? [dotted(b, c)] : []),
    ...(a === 0x2001 && b === 0 ? [dotted(c, d), dotted(g ^ 0xffff, h ^ 0xffff)] : []),
    ...(isIsatap(words) || isCompatible || isIpv4Translated ? [lastOf(words)] : []),
  ];
}

/** The four bytes after a prefix of 32, 40, 48, 56, 64 and 96 bits (RFC 6052), without byte 8. */
const embeddings = [
  [4, 5, 6, 7], [5, 6, 7, 9], [6, 7, 9, 10], [7, 9, 10, 11], [9, 10, 11, 12], [12, 13, 14, 15],
] as const;

/** IPv4 addresses that translators may extract from `64:ff9b::/32`, for each length of prefix. */
function translatedAddresses(words: Words): readonly string[] {
  const bytes = words.flatMap((word) => [word >> 8, word & 255]);
  return embeddings.map((places) => places.map((place) => bytes[place]).join("."));
}
