import type { DomainEvent } from "../src/kernel/domain/domain-event.ts";
import type { Change, CollectionDefinition } from "../src/kernel/ports/read-models.ts";
import { apiKeysProjection } from "./api-keys/api-keys.ts";
import { auditProjection } from "./audit/audit.ts";
import { certificateEndsProjection } from "./certificates/certificate-ends.ts";
import { destinationsProjection } from "./destinations/destinations.ts";
import { directoryProjection } from "./directory/directory.ts";
import { dueProjection } from "./due/due.ts";
import { eventsProjection } from "./events/projection.ts";
import { incidentsProjection } from "./incidents/incidents.ts";
import { invitesProjection } from "./invites/invites.ts";
import { messagesProjection } from "./messages/messages.ts";
import { momentsProjection } from "./moments/moments.ts";
import { notificationsProjection } from "./notifications/notifications.ts";
import { portalLinksProjection } from "./portal-links/portal-links.ts";
import type { Projection, Recording } from "./projection.ts";
import { purgesProjection, retentionProjection } from "./purges/purges.ts";
import { quarantine } from "./quarantine/quarantine.ts";
import { replaysProjection } from "./replays/replays.ts";
import { secretEndsProjection } from "./secrets/secret-ends.ts";
import { signingKeysProjection } from "./secrets/signing-keys.ts";
import { sendersProjection } from "./senders/senders.ts";
import { serviceAccountsProjection } from "./service-accounts/service-accounts.ts";
import { eventTypesProjection, statisticsProjection } from "./statistics/statistics.ts";
import { subscriptionsProjection } from "./subscriptions/subscriptions.ts";
import { erasuresProjection, tenantsProjection } from "./tenants/tenants.ts";
import { forgettingProjection, usersProjection } from "./users/users.ts";
import { viewsProjection } from "./views/views.ts";
import { wrappedKeysProjection } from "./wrapped-keys/wrapped-keys.ts";

const projections: readonly Projection[] = [
  tenantsProjection,
  usersProjection,
  destinationsProjection,
  sendersProjection,
  subscriptionsProjection,
  apiKeysProjection,
  serviceAccountsProjection,
  invitesProjection,
  eventsProjection,
  auditProjection,
  purgesProjection,
  replaysProjection,
  directoryProjection,
  dueProjection,
  retentionProjection,
  forgettingProjection,
  erasuresProjection,
  wrappedKeysProjection,
  statisticsProjection,
  eventTypesProjection,
  momentsProjection,
  incidentsProjection,
  viewsProjection,
  secretEndsProjection,
  notificationsProjection,
  signingKeysProjection,
  certificateEndsProjection,
  messagesProjection,
  portalLinksProjection,
];

/** The collections of all read models. */
export const collections: readonly CollectionDefinition[] = [
  ...projections.flatMap((projection) => projection.collections),
  quarantine,
];

/** Differs after each change of a definition or version. */
export const fingerprint = JSON.stringify([projections.map(({ name, version }) => [name, version]), collections]);

type Handler = (data: object, recording: Recording) => readonly Change[];

const handlers = new Map<string, readonly Handler[]>();
for (const { on } of projections) {
  for (const [type, handler] of Object.entries(on)) {
    handlers.set(type, [...(handlers.get(type) ?? []), handler as Handler]);
  }
}

/** All changes that a fact makes in the read models. */
export function project(fact: DomainEvent & Recording): readonly Change[] {
  return (handlers.get(fact.type) ?? []).flatMap((handler) => handler(fact.data, fact));
}
