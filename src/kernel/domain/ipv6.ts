/** The eight 16-bit words of an IPv6 address. */
export type Words = readonly [number, number, number, number, number, number, number, number];

/** The one spelling of an IPv6 address without a zone, without dotted parts. Throws a TypeError where it is none. */
export function spellingOf(address: string): string {
  return new URL(`http://[${address}]`).hostname.slice(1, -1);
}

/** The words of an IPv6 address without a zone. Throws a TypeError where it is none. */
export function wordsOf(address: string): Words {
  const halves = spellingOf(address).split("::");
  const [head = [], tail = []] = halves.map((half) => half.split(":").filter((word) => word !== ""));
  const zeros = Array<string>(8 - head.length - tail.length).fill("0");
  const words = [...head, ...zeros, ...tail].map((word) => Number.parseInt(word, 16));
  const [a = 0, b = 0, c = 0, d = 0, e = 0, f = 0, g = 0, h = 0] = words;
  return [a, b, c, d, e, f, g, h];
}

/** `::ffff:a.b.c.d`, by which systems mean the IPv4 address itself (RFC 4291, 2.5.5.2): that one, else undefined. */
export function mappedIpv4(words: Words): string | undefined {
  const isMapped = words.slice(0, 5).every((word) => word === 0) && words[5] === 0xffff;
  return isMapped ? dotted(words[6], words[7]) : undefined;
}

/** The network by which a client is counted: an IPv4 address, the /64 of an IPv6 address, any other text itself. */
export function clientNetwork(address: string): string {
  if (!address.includes(":")) return address;
  const words = wordsOf(address.replace(/%.*$/, ""));
  return mappedIpv4(words) ?? `${words.slice(0, 4).map((word) => word.toString(16)).join(":")}::/64`;
}

/** The IPv4 address in two words. */
export function dotted(high: number, low: number): string {
  return `${high >> 8}.${high & 255}.${low >> 8}.${low & 255}`;
}
