import type { Schemas } from "../../packages/client/src/index.ts";
import { originOf } from "../../src/kernel/operations/operation.ts";
import type { Account } from "./accounts.ts";
import type { TestApi } from "./api.ts";
import { http, type HttpAnswer, type HttpOptions } from "./http.ts";

/** A visitor of the portal, in a page of the relay. */
export class Visitor {
  readonly url: string;
  readonly cookie: string;

  constructor(url: string, cookie: string) {
    this.url = url;
    this.cookie = cookie;
  }

  /** The headers with which a page of the portal sends requests. */
  get headers(): Readonly<Record<"cookie" | "sec-fetch-site", string>> {
    return { cookie: this.cookie, "sec-fetch-site": "same-origin" };
  }

  call(method: string, path: string, options: HttpOptions = {}): Promise<HttpAnswer> {
    return http(method, this.url + path, { ...options, headers: { ...this.headers, ...options.headers } });
  }

  get(path: string): Promise<HttpAnswer> {
    return this.call("GET", path);
  }

  post(path: string, json?: unknown): Promise<HttpAnswer> {
    return this.call("POST", path, { json });
  }
}

/** The code in the URL of a portal link. */
export function codeOf({ url }: { readonly url: string }): string {
  return url.split("#code=")[1] ?? "";
}

/** Lets a visitor in by a fresh link of an account. */
export async function openPortal(
  { admin: { client } }: Pick<Account, "admin">, link: Schemas["CreatePortalLinkRequest"],
): Promise<{ readonly id: string; readonly visitor: Visitor }> {
  const created = await client.api.createPortalLink(link);
  const answer = await http("POST", `${client.url}/api/v1/portal/session`, { json: { code: codeOf(created) } });
  const [cookie = ""] = (answer.headers.getSetCookie()[0] ?? "").split(";");
  return { id: created.id, visitor: new Visitor(client.url, cookie) };
}

/** Registers many destinations of an owner, without requests. */
export async function registerMany(
  { api, one }: { readonly api: TestApi; readonly one: Account },
  { ownerId }: { readonly ownerId: string }, count: number,
): Promise<void> {
  const { tenantId, developer: { id: userId } } = one;
  const caller = { userId, tenantId, role: "Developer" } as const;
  const origin = originOf({ type: "user", id: userId, role: caller.role }, "test");
  const made = { url: "https://receiver.example/hook", serverRateLimit: 1, ownerId };
  const { destinations } = api.services.commands;
  await Promise.all(Array.from({ length: count }, () => destinations.register(caller, made, origin)));
}
