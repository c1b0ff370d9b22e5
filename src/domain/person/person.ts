import type { DomainEvent } from "../domain-event.ts";
import type { Timestamp } from "../time.ts";

/**
 * Fact of a `person-<userId>` stream: the key that seals the person's email in every other stream,
 * itself sealed under the tenant's data key. Deleting the stream makes the address unreadable for good.
 */
export type PersonEvent = DomainEvent<
  "PersonKeyCreated",
  { userId: string; tenantId: string; key: string; at: Timestamp }
>;
