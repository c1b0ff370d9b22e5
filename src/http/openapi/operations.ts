import type { Operation } from "./operation.ts";
import { apiKeyOperations } from "./operations/api-keys.ts";
import { bulkOperations } from "./operations/bulk.ts";
import { destinationOperations } from "./operations/destinations.ts";
import { eventOperations } from "./operations/events.ts";
import { healthOperations } from "./operations/health.ts";
import { ingestOperations } from "./operations/ingest.ts";
import { inviteOperations } from "./operations/invites.ts";
import { senderOperations } from "./operations/senders.ts";
import { sessionOperations } from "./operations/sessions.ts";
import { tenantOperations } from "./operations/tenants.ts";
import { userOperations } from "./operations/users.ts";

/** Every operation, described beside its routes: `routes/users.ts` by `openapi/operations/users.ts`, and so on. */
export const operations: readonly Operation[] = [
  ...tenantOperations,
  ...sessionOperations,
  ...userOperations,
  ...inviteOperations,
  ...apiKeyOperations,
  ...destinationOperations,
  ...senderOperations,
  ...ingestOperations,
  ...eventOperations,
  ...bulkOperations,
  ...healthOperations,
];
