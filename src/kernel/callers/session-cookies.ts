import type { IncomingHttpHeaders } from "node:http";
import { refuse } from "../domain/refusal.ts";

/**
 * The cookies of sessions of one kind. Browsers take the `secure` one only from its own host, over TLS and for all
 * paths (RFC 6265bis, 4.1.3.2). The `local` one is for one's own machine without TLS: Safari drops secure cookies
 * there.
 */
interface CookieNames {
  readonly secure: `__Host-${string}`;
  readonly local: string;
}

/** A session's cookie in a request. */
interface ShownCookie {
  readonly name: string;
  readonly token: string;
}

export const severalCookies =
  "Cookie: several session cookies were sent, since another program at this host has set one, too: remove this site's "
  + "cookies in the browser, or open the relay under another host name";

const localNames = new Set(["localhost", "127.0.0.1", "[::1]"]);

const strict = "SameSite=Strict";
/** For a frame of another site: browsers keep such cookies for each site that frames the page. */
const partitioned = "SameSite=None; Partitioned";

/** The cookies of sessions of one kind. */
export class SessionCookies {
  readonly #names: CookieNames;

  constructor(names: CookieNames) {
    this.#names = names;
  }

  /** The session cookie of a request, if one counts. Of two, one may be another program's: a Refusal. */
  of({ cookie = "", host }: IncomingHttpHeaders): ShownCookie | undefined {
    const { secure, local } = this.#names;
    const cookies = cookie.split(";").flatMap((one) => {
      const [, name = "", token = ""] = /^\s*([^=\s]+)\s*=\s*(.*?)\s*$/s.exec(one) ?? [];
      return name === secure || name === local ? [{ name, token }] : [];
    });
    if (cookies.length > 1) refuse("unauthenticated", severalCookies);
    return cookies.find(({ name }) => name === secure || isLocal(host));
  }

  /** The name of the cookie, by the page's origin. Throws a Refusal (invalid) where the browser would drop it. */
  nameFor({ origin }: IncomingHttpHeaders): string {
    if (!origin?.startsWith("http:")) return this.#names.secure;
    if (isLocal(URL.parse(origin)?.host)) return this.#names.local;
    refuse("invalid", "Origin: must be https:, since browsers drop the cookie here; use TLS, or a tunnel to localhost");
  }

  /** The `Set-Cookie` headers for a session that ends in `seconds`: its cookie, and the end of the other one. */
  issued(name: string, token: string, seconds: number): readonly string[] {
    const { secure, local } = this.#names;
    return [this.#cookie(name, token, seconds, strict), this.#ended(name === secure ? local : secure)];
  }

  /** The same in a frame of another site. Browsers take no such cookie without `Secure`, not even at localhost. */
  issuedInFrame(token: string, seconds: number): readonly string[] {
    return [this.#cookie(this.#names.secure, token, seconds, partitioned)];
  }

  /** The `Set-Cookie` headers that remove a session's cookie. */
  get ended(): readonly string[] {
    return [this.#ended(this.#names.secure), this.#ended(this.#names.local)];
  }

  /** The `Set-Cookie` header that removes a session's cookie in a frame of another site. */
  get endedInFrame(): string {
    return this.#cookie(this.#names.secure, "", 0, partitioned);
  }

  #ended(name: string): string {
    return this.#cookie(name, "", 0, strict);
  }

  #cookie(name: string, token: string, seconds: number, sites: string): string {
    const secure = name === this.#names.secure ? "Secure; " : "";
    return `${name}=${token}; Max-Age=${seconds}; Path=/; HttpOnly; ${secure}${sites}`;
  }
}

/** The cookies of people's sessions. */
export const personCookies = new SessionCookies({ secure: "__Host-relay", local: "relay-local" });

/** The cookies of the portal's visitors. */
export const portalCookies = new SessionCookies({ secure: "__Host-relay-portal", local: "relay-portal-local" });

/** Throws a Refusal (forbidden) unless one of the relay's own pages sends it: browsers show cookies for any. */
export function requireOwnPage(headers: IncomingHttpHeaders): void {
  if (headers["sec-fetch-site"] !== "same-origin") {
    refuse("forbidden", "a cookie counts with Sec-Fetch-Site: same-origin only; other programs send Authorization");
  }
}

/** Whether a host, maybe with its port, is one's own machine by name. */
export function isLocal(host: string | undefined): boolean {
  return localNames.has((host ?? "").replace(/:\d+$/, "").toLowerCase());
}
