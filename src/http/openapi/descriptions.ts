import type { Descriptions } from "./description.ts";
import { apiKeyDescriptions } from "./descriptions/api-keys.ts";
import { bulkDescriptions } from "./descriptions/bulk.ts";
import { destinationDescriptions } from "./descriptions/destinations.ts";
import { eventDescriptions } from "./descriptions/events.ts";
import { healthDescriptions } from "./descriptions/health.ts";
import { ingestDescriptions } from "./descriptions/ingest.ts";
import { inviteDescriptions } from "./descriptions/invites.ts";
import { senderDescriptions } from "./descriptions/senders.ts";
import { sessionDescriptions } from "./descriptions/sessions.ts";
import { tenantDescriptions } from "./descriptions/tenants.ts";
import { userDescriptions } from "./descriptions/users.ts";

/** Every operation, described beside its routes: `routes/users.ts` by `descriptions/users.ts`, and so on. */
export const descriptions: Descriptions = {
  ...tenantDescriptions,
  ...sessionDescriptions,
  ...userDescriptions,
  ...inviteDescriptions,
  ...apiKeyDescriptions,
  ...destinationDescriptions,
  ...senderDescriptions,
  ...ingestDescriptions,
  ...eventDescriptions,
  ...bulkDescriptions,
  ...healthDescriptions,
};
