import type { Api } from "../api.ts";
import { ingestOperation } from "../ingest/operation.ts";
import type { Operation } from "../operation.ts";
import { apiKeyOperations } from "./api-keys.ts";
import { auditOperations } from "./audit.ts";
import { bulkOperations } from "./bulk.ts";
import { destinationOperations } from "./destinations.ts";
import { docsOperations } from "./docs.ts";
import { eventOperations } from "./events.ts";
import { healthOperations } from "./health.ts";
import { inviteOperations } from "./invites.ts";
import { refusalOperations } from "./refusals.ts";
import { replayOperations } from "./replays.ts";
import { senderOperations } from "./senders.ts";
import { serviceAccountOperations } from "./service-accounts.ts";
import { sessionOperations } from "./sessions.ts";
import { statisticsOperations } from "./statistics.ts";
import { streamOperations } from "./stream.ts";
import { tenantOperations } from "./tenants.ts";
import { userOperations } from "./users.ts";

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
    ...senderOperations(services),
    ingestOperation,
    ...eventOperations(services),
    ...streamOperations(services),
    ...bulkOperations(services),
    ...refusalOperations(services),
    ...statisticsOperations(services),
    ...replayOperations(services),
    ...auditOperations(services),
    ...healthOperations(health),
  ];
  const all = [...operations, ...docsOperations(operations, { hasPages: pages !== null })];
  return all;
}
