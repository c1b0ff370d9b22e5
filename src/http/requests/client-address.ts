import type { IncomingMessage } from "node:http";
import { isIP } from "node:net";
import { mappedIpv4, spellingOf, wordsOf } from "../../kernel/domain/ipv6.ts";

/** The client's address. Trusts as many entries of `X-Forwarded-For`, from the right, as there are proxies. */
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

function plain(text: string): string {
  const [, bracketed] = /^\[([^\]]+)\](?::\d+)?$/.exec(text) ?? [];
  const [, withPort] = /^(\d+\.\d+\.\d+\.\d+):\d+$/.exec(text) ?? [];
  const address = (bracketed ?? withPort ?? text).replace(/%.*$/, "").toLowerCase();
  if (isIP(address) !== 6) return address;
  return mappedIpv4(wordsOf(address)) ?? spellingOf(address);
}
