import type { IncomingHttpHeaders } from "node:http";
import { refuse } from "../../../kernel/domain/refusal.ts";

/** Browsers take a cookie of this prefix only from its own host, over TLS and for all paths (RFC 6265bis, 4.1.3.2). */
const secure = "__Host-relay";
/** Without TLS, at one's own machine: Safari drops secure cookies there. */
const local = "relay-local";

const attributes = {
  [secure]: "Path=/; HttpOnly; Secure; SameSite=Strict",
  [local]: "Path=/; HttpOnly; SameSite=Strict",
} as const;

/** The name of a session's cookie. */
export type CookieName = keyof typeof attributes;

export const severalCookies =
  "Cookie: several session cookies were sent, since another program at this host has set one, too: remove this site's "
  + "cookies in the browser, or open the relay under another host name";

const localNames = new Set(["localhost", "127.0.0.1", "[::1]"]);

/** The session cookie of a request, if one counts. Of two, one may be another program's: a Refusal. */
export function sessionCookie(
  headers: IncomingHttpHeaders,
): { readonly name: CookieName; readonly token: string } | undefined {
  const cookies = (headers.cookie ?? "").split(";").flatMap((cookie) => {
    const [, name, token = ""] = /^\s*(__Host-relay|relay-local)\s*=\s*(.*?)\s*$/s.exec(cookie) ?? [];
    return name === undefined ? [] : [{ name: name as CookieName, token }];
  });
  if (cookies.length > 1) refuse("unauthenticated", severalCookies);
  return cookies.find(({ name }) => name === secure || isLocal(headers.host));
}

/** Throws a Refusal (forbidden) unless one of the relay's own pages sends it: browsers show cookies for any. */
export function requireOwnPage(headers: IncomingHttpHeaders): void {
  if (headers["sec-fetch-site"] !== "same-origin") {
    refuse("forbidden", "a cookie counts with Sec-Fetch-Site: same-origin only; other programs send Authorization");
  }
}

/** The name of the cookie, by the page's origin. Throws a Refusal (invalid) where the browser would drop it. */
export function cookieNameFor({ origin }: IncomingHttpHeaders): CookieName {
  if (!origin?.startsWith("http:")) return secure;
  if (isLocal(URL.parse(origin)?.host)) return local;
  refuse("invalid", "Origin: must be https:, since browsers drop the cookie here; use TLS, or a tunnel to localhost");
}

/** The `Set-Cookie` headers for a session that ends in `seconds`: its cookie, and the end of the other one. */
export function cookiesOf(name: CookieName, token: string, seconds: number): readonly string[] {
  const other = name === secure ? local : secure;
  return [`${name}=${token}; Max-Age=${seconds}; ${attributes[name]}`, ended(other)];
}

/** The `Set-Cookie` headers that remove a session's cookie. */
export const endedCookies: readonly string[] = [ended(secure), ended(local)];

function ended(name: CookieName): string {
  return `${name}=; Max-Age=0; ${attributes[name]}`;
}

function isLocal(host: string | undefined): boolean {
  return localNames.has((host ?? "").replace(/:\d+$/, "").toLowerCase());
}
