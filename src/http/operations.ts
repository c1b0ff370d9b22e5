import { auditOperations } from "../features/audit/operations.ts";
import { bulkOperations } from "../features/bulk/operations.ts";
import { destinationOperations } from "../features/destinations/operations.ts";
import { destinationSigningOperations } from "../features/destinations/signing/operations.ts";
import { eventOperations } from "../features/events/operations.ts";
import { incidentOperations } from "../features/incidents/operations.ts";
import { ingestOperation } from "../features/ingest/operation.ts";
import { apiKeyOperations } from "../features/keys/api-keys/operations.ts";
import { serviceAccountOperations } from "../features/keys/service-accounts/operations.ts";
import { streamOperations } from "../features/live/operations.ts";
import { lookupOperations } from "../features/lookup/operations.ts";
import { messageOperations } from "../features/messages/operations.ts";
import { notificationOperations } from "../features/notifications/operations.ts";
import { inviteOperations } from "../features/people/invites/operations.ts";
import { sessionOperations } from "../features/people/sessions/operations.ts";
import { userOperations } from "../features/people/users/operations.ts";
import { portalOperations } from "../features/portal/operations.ts";
import { refusalOperations } from "../features/refusals/operations.ts";
import { replayOperations } from "../features/replays/operations.ts";
import { senderOperations } from "../features/senders/operations.ts";
import { statisticsOperations } from "../features/statistics/operations.ts";
import { subscriptionOperations } from "../features/subscriptions/operations.ts";
import { tenantOperations } from "../features/tenants/operations.ts";
import { viewOperations } from "../features/views/operations.ts";
import type { Operation } from "../kernel/operations/operation.ts";
import type { Api } from "./api.ts";
import { healthOperations } from "./health/operations.ts";
import { docsOperations } from "./openapi/operation.ts";

/** Every operation, in the order of the API document. */
export function operationsOf({ services, health, pages }: Pick<Api, "services" | "health" | "pages">): Operation[] {
  const operations: Operation[] = [
    ...tenantOperations(services),
    ...sessionOperations(services, () => all),
    ...userOperations(services),
    ...inviteOperations(services),
    ...apiKeyOperations(services),
    ...serviceAccountOperations(services),
    ...destinationOperations(services),
    ...destinationSigningOperations(services),
    ...senderOperations(services),
    ...subscriptionOperations(services),
    ingestOperation,
    ...eventOperations(services),
    ...messageOperations(services),
    ...lookupOperations(services, () => all),
    ...streamOperations(services),
    ...bulkOperations(services),
    ...refusalOperations(services),
    ...statisticsOperations(services),
    ...incidentOperations(services),
    ...replayOperations(services),
    ...viewOperations(services),
    ...notificationOperations(services),
    ...portalOperations(services, () => all),
    ...auditOperations(services),
    ...healthOperations(health),
  ];
  const all = [...operations, ...docsOperations(operations, { hasPages: pages !== null })];
  return all;
}
