import { keyOfEvent } from "./event-id.ts";

/** Stream names. The part before the first dash is the stream's category. */
export const streams = {
  tenant: (id: string) => `tenant-${id}`,
  purges: (tenantId: string) => `purges-${tenantId}`,
  replays: (tenantId: string) => `replays-${tenantId}`,
  replay: (id: string) => `replay-${id}`,
  cancellations: (tenantId: string) => `cancellations-${tenantId}`,
  destination: (id: string) => `destination-${id}`,
  sender: (id: string) => `sender-${id}`,
  subscriptions: (id: string) => `subscriptions-${id}`,
  circuit: (destinationId: string) => `circuit-${destinationId}`,
  apiKey: (id: string) => `apiKey-${id}`,
  serviceAccount: (id: string) => `serviceAccount-${id}`,
  event: (id: string) => `event-${keyOfEvent(id)}`,
  session: (id: string) => `session-${id}`,
  view: (id: string) => `view-${id}`,
  notifications: (tenantId: string) => `notifications-${tenantId}`,
  portalLink: (id: string) => `portalLink-${id}`,
  invite: (id: string) => `invite-${id}`,
  person: (userId: string) => `person-${userId}`,
  email: (hash: string) => `email-${hash}`,
  tenantName: (hash: string) => `tenantName-${hash}`,
  platform: "platform",
} as const;

/** The name of the list of a tenant's refused posts in the expiring state. */
export function refusalsOf(tenantId: string): string {
  return `refusals/${tenantId}`;
}

/** The category of a stream: the kind of its subject. */
export function categoryOf(stream: string): string {
  const dash = stream.indexOf("-");
  return dash < 0 ? stream : stream.slice(0, dash);
}

/** The subject of a stream, from its name: its id, or the {@link keyOfEvent} of an event. */
export function subjectOf(stream: string): string {
  return stream.slice(stream.indexOf("-") + 1);
}
