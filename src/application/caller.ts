import type { Role } from "../domain/roles.ts";

/** The signed-in user on whose behalf something is asked. */
export interface Caller {
  readonly userId: string;
  readonly tenantId: string;
  readonly role: Role;
}
