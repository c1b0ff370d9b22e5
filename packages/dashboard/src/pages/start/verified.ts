/** The relay keeps no record of a check of a signature, so the browser does. */
const name = (tenantId: string) => `relay-verified-${tenantId}`;

/** Whether a signature of the tenant was verified in this browser. */
export function verifiedBefore(tenantId: string): boolean {
  try {
    return localStorage.getItem(name(tenantId)) !== null;
  } catch {
    return false;
  }
}

/** Notes that a signature of the tenant was verified. */
export function rememberVerified(tenantId: string): void {
  try {
    localStorage.setItem(name(tenantId), "yes");
  } catch {
    // The browser keeps nothing: the step is to do again.
  }
}
