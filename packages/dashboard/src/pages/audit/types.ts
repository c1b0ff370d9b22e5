import type { ParametersOf } from "../../../../client/src/index.ts";

/** A type of entry by which the audit can be filtered. */
type AuditType = NonNullable<ParametersOf<"listAudit">["Type"]>;

/** The types of entries by the kind of thing; the compiler holds them to the API's. */
const types: Readonly<Record<AuditType, string>> = {
  TenantCreated: "Tenant", TenantRenamed: "Tenant", TenantDeliveryPolicyChanged: "Tenant",
  TenantRetentionChanged: "Tenant", WebhookSecretRegenerated: "Tenant",
  UserCreated: "People", UserEmailChanged: "People", UserPasswordChanged: "People", UserRoleChanged: "People",
  UserStatusChanged: "People", UserDeleted: "People", UserForgotten: "People", InviteCreated: "People",
  InviteAccepted: "People", InviteRevoked: "People", InviteForgotten: "People",
  DestinationRegistered: "Destinations", DestinationUrlChanged: "Destinations",
  DestinationRateLimitChanged: "Destinations", DestinationActivated: "Destinations",
  DestinationDeactivated: "Destinations", DestinationAuthConfigured: "Destinations",
  DestinationAuthRemoved: "Destinations", IngestTokenRegenerated: "Destinations", DestinationDeleted: "Destinations",
  CircuitClosed: "Destinations",
  SenderCreated: "Senders", SenderRenamed: "Senders", SenderDestinationChanged: "Senders",
  SenderMappingChanged: "Senders", SenderSearchFieldsChanged: "Senders", SenderActivated: "Senders",
  SenderDeactivated: "Senders", SenderIngestTokenRegenerated: "Senders", SenderDeleted: "Senders",
  ApiKeyIssued: "Keys", ApiKeyRevoked: "Keys", ServiceAccountCreated: "Keys", ServiceAccountRenamed: "Keys",
  ServiceAccountRoleChanged: "Keys", ServiceAccountActivated: "Keys", ServiceAccountDeactivated: "Keys",
  ServiceAccountDeleted: "Keys", ServiceKeyIssued: "Keys", ServiceKeyRevoked: "Keys",
  EventsPurged: "Operations", ReplayOrdered: "Operations", ReplayCompleted: "Operations",
  ReplayJobOrdered: "Operations", ReplayJobCancelled: "Operations", CancellationOrdered: "Operations",
  CancellationCompleted: "Operations",
};

/** All types of the audit, by the kind of thing. */
export const auditTypes = Object.groupBy(Object.keys(types) as AuditType[], (type) => types[type]);
