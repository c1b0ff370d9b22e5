import { keep, readKept } from "../../app/kept.ts";

/** The relay keeps no record of a check of a signature, so the browser does. */
const name = (tenantId: string) => `relay-verified-${tenantId}`;

/** Whether a signature of the tenant was verified in this browser. */
export function verifiedBefore(tenantId: string): boolean {
  return readKept(name(tenantId)) === true;
}

/** Notes that a signature of the tenant was verified. */
export function rememberVerified(tenantId: string): void {
  keep(name(tenantId), true);
}
