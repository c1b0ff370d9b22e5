import type { UserCaller } from "../../src/kernel/callers/caller.ts";
import { hostOf } from "./receivers.ts";

/** A destination from the view of its users. */
export interface Destination {
  readonly id: string;
  token: string;
  /** The last replaced token, and when its replacement was acknowledged. */
  former: { readonly token: string; readonly since: number } | undefined;
  /** Whether a change of the token or of the status was ever requested, or the removal. */
  changed: boolean;
}

/** A tenant from the view of its users. */
export interface Account {
  readonly caller: UserCaller;
  readonly email: string;
  readonly apiKey: string;
  readonly destinations: Destination[];
  /** A sender that fans out. */
  readonly sender: { readonly id: string; readonly token: string };
}

/** The hosts of its destinations. */
export function hostsOf({ caller, destinations }: Account): string[] {
  return destinations.map((_, at) => hostOf(caller.tenantId, at));
}
