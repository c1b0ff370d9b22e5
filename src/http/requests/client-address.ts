import type { IncomingMessage } from "node:http";
import { isIP } from "node:net";
import { mappedIpv4, spellingOf, wordsOf } from "../../kernel/domain/ipv6.ts";

/**
 * The address a request came from. Of `X-Forwarded-For` as many entries are believed, counted from the right,
 * as there are trusted proxies; anything that is not an address there is not.
 */
export function clientAddress(
  request: Pick<IncomingMessage, "headers" | "socket">, trustedProxies: number,
): string {
  const own = plain(request.socket.remoteAddress ?? "");
  if (trustedProxies === 0) return own;
  const forwarded = [request.headers["x-forwarded-for"] ?? []].flat().join(",");
  const entries = forwarded.split(",").filter((entry) => entry.trim());
  const entry = entries[Math.max(entries.length - trustedProxies, 0)];
  if (entry === undefined) return own;
  const address = plain(entry.trim());
  return isIP(address) ? address : own;
}

/** Without a port, brackets, zone, and the IPv6 dress of an IPv4 address; one spelling for each address. */
function plain(text: string): string {
  const [, bracketed] = /^\[([^\]]+)\](?::\d+)?$/.exec(text) ?? [];
  const [, withPort] = /^(\d+\.\d+\.\d+\.\d+):\d+$/.exec(text) ?? [];
  const address = (bracketed ?? withPort ?? text).replace(/%.*$/, "").toLowerCase();
  if (isIP(address) !== 6) return address;
  return mappedIpv4(wordsOf(address)) ?? spellingOf(address);
}
