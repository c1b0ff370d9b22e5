import type { Descriptions } from "../description.ts";
import { apiKeyDescriptions } from "./api-keys.ts";
import { auditDescriptions } from "./audit.ts";
import { bulkDescriptions } from "./bulk.ts";
import { destinationDescriptions } from "./destinations.ts";
import { eventScanDescriptions } from "./event-scans.ts";
import { eventDescriptions } from "./events.ts";
import { healthDescriptions } from "./health.ts";
import { ingestDescriptions } from "./ingest.ts";
import { inviteDescriptions } from "./invites.ts";
import { refusalDescriptions } from "./refusals.ts";
import { replayDescriptions } from "./replays.ts";
import { senderDescriptions } from "./senders.ts";
import { serviceAccountDescriptions } from "./service-accounts.ts";
import { sessionDescriptions } from "./sessions.ts";
import { statisticsDescriptions } from "./statistics.ts";
import { streamDescriptions } from "./stream.ts";
import { tenantDescriptions } from "./tenants.ts";
import { userDescriptions } from "./users.ts";

/** Every operation, described beside its routes: `routes/users.ts` by `descriptions/users.ts`, and so on. */
export const descriptions: Descriptions = {
  ...tenantDescriptions,
  ...sessionDescriptions,
  ...userDescriptions,
  ...inviteDescriptions,
  ...apiKeyDescriptions,
  ...serviceAccountDescriptions,
  ...destinationDescriptions,
  ...senderDescriptions,
  ...ingestDescriptions,
  ...eventDescriptions,
  ...eventScanDescriptions,
  ...streamDescriptions,
  ...bulkDescriptions,
  ...refusalDescriptions,
  ...statisticsDescriptions,
  ...replayDescriptions,
  ...auditDescriptions,
  ...healthDescriptions,
};
