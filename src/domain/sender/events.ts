import type { DomainEvent } from "../domain-event.ts";
import type { Timestamp } from "../time.ts";
import type { SearchField } from "./search-fields.ts";

/** How a sender transforms received bodies. */
export interface Mapping {
  readonly language: "jmespath";
  readonly expression: string;
}

interface Ids {
  senderId: string;
  tenantId: string;
  at: Timestamp;
}

/** Facts of a `sender-<id>` stream. */
export type SenderEvent =
  | DomainEvent<
      "SenderCreated",
      Ids & {
        name: string;
        destinationId: string;
        mapping: Mapping | null;
        ingestTokenHash: string;
        /** Missing where there are none. */
        searchFields?: readonly SearchField[];
      }
    >
  | DomainEvent<"SenderRenamed", Ids & { name: string }>
  | DomainEvent<"SenderDestinationChanged", Ids & { destinationId: string }>
  | DomainEvent<"SenderMappingChanged", Ids & { mapping: Mapping | null }>
  | DomainEvent<"SenderSearchFieldsChanged", Ids & { searchFields: readonly SearchField[] }>
  | DomainEvent<"SenderActivated", Ids>
  | DomainEvent<"SenderDeactivated", Ids>
  | DomainEvent<"SenderIngestTokenRegenerated", Ids & { ingestTokenHash: string; previousTokenHash: string }>
  | DomainEvent<"SenderDeleted", Ids & { ingestTokenHash: string }>;
