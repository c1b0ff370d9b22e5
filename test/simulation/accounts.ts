import type { Caller } from "../../src/application/caller.ts";
import { hostOf } from "./receivers.ts";

/** A destination as its users know it. */
export interface Destination {
  readonly id: string;
  token: string;
  /** A token that was replaced, and when that was told. */
  former: { readonly token: string; readonly since: number } | undefined;
  /** Whether a change of the token, or of what it leads to, was ever asked for. */
  changed: boolean;
}

/** A tenant as its users know it. */
export interface Account {
  readonly caller: Caller;
  readonly email: string;
  readonly apiKey: string;
  readonly destinations: Destination[];
}

/** The hosts of its destinations. */
export function hostsOf({ caller, destinations }: Account): string[] {
  return destinations.map((_, at) => hostOf(caller.tenantId, at));
}
