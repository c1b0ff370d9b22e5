import type { Actor, DomainEvent, Metadata } from "../kernel/domain/domain-event.ts";
import type { EventsOf, FactDeclaration } from "../kernel/domain/fact.ts";
import { object } from "../kernel/domain/schema.ts";
import { platformFacts } from "../kernel/sealing/facts.ts";
import { cancellationsFacts } from "./bulk/facts.ts";
import { circuitFacts } from "./circuits/facts.ts";
import { shownCertificate, type SealedCertificate } from "./destinations/certificates/facts.ts";
import { destinationFacts, type DestinationAuth } from "./destinations/facts.ts";
import { maskedHeaders } from "./destinations/headers.ts";
import { webhookFacts } from "./events/facts.ts";
import { apiKeyFacts } from "./keys/api-keys/facts.ts";
import { serviceAccountFacts } from "./keys/service-accounts/facts.ts";
import { messageFacts } from "./messages/facts.ts";
import { notificationsFacts } from "./notifications/facts.ts";
import { inviteFacts } from "./people/invites/facts.ts";
import { personFacts } from "./people/persons/facts.ts";
import { sessionFacts } from "./people/sessions/facts.ts";
import { portalLinkFacts } from "./portal/facts.ts";
import { purgesFacts } from "./purges/facts.ts";
import { replaysFacts, replayJobFacts } from "./replays/facts.ts";
import { senderFacts } from "./senders/facts.ts";
import { subscriptionFacts } from "./subscriptions/facts.ts";
import { tenantFacts } from "./tenants/facts.ts";
import { reservationFacts } from "./tenants/reservations/facts.ts";
import { viewFacts } from "./views/facts.ts";

/** The declarations of all facts by the name of their history, in the order in which the API's description has them. */
const byHistory = {
  tenant: tenantFacts,
  purges: purgesFacts,
  replays: replaysFacts,
  replayJob: replayJobFacts,
  cancellations: cancellationsFacts,
  apiKey: apiKeyFacts,
  serviceAccount: serviceAccountFacts,
  invite: inviteFacts,
  destination: destinationFacts,
  circuit: circuitFacts,
  sender: senderFacts,
  subscriptions: subscriptionFacts,
  event: webhookFacts,
  view: viewFacts,
  notifications: notificationsFacts,
  portalLink: portalLinkFacts,
};

const declarations = {
  ...tenantFacts, ...purgesFacts, ...replaysFacts, ...replayJobFacts, ...cancellationsFacts, ...apiKeyFacts,
  ...serviceAccountFacts, ...inviteFacts, ...destinationFacts, ...circuitFacts, ...senderFacts, ...subscriptionFacts,
  ...webhookFacts, ...messageFacts, ...viewFacts, ...notificationsFacts, ...portalLinkFacts, ...personFacts,
  ...platformFacts, ...reservationFacts, ...sessionFacts,
};

/** Every fact of the domain. */
export type AnyEvent = EventsOf<typeof declarations>;
/** The name of a fact. */
export type FactType = AnyEvent["type"];
/** The name of a history. */
export type HistoryName = keyof typeof byHistory;

export const facts: ReadonlyMap<string, FactDeclaration> = new Map(Object.entries<FactDeclaration>(declarations));

/** By the name of each history, the names of its facts. */
export const histories = Object.fromEntries(Object.entries(byHistory).map(([history, declared]) =>
  [history, Object.keys(declared).filter((type) => facts.get(type)?.shown)],
)) as unknown as Readonly<Record<HistoryName, readonly FactType[]>>;

/** The names of the facts that the audit lists, in the order in which the API's description has them. */
export const auditTypes: readonly FactType[] = [
  histories.tenant, histories.purges, histories.replayJob.toReversed(), histories.replays, histories.cancellations,
  histories.apiKey, histories.invite, histories.destination, histories.circuit, histories.sender,
  histories.subscriptions, histories.serviceAccount, histories.view, histories.notifications, histories.portalLink,
].flat().filter((type) => facts.get(type)?.audit);

/** The version that a fact is written under. */
export function versionOf({ upcasters = [] }: Pick<FactDeclaration, "upcasters">): number {
  return upcasters.length + 1;
}

/** The JSON Schema of the data of a fact as it is written. */
export function schemaOf(type: string, fact: FactDeclaration): ReturnType<typeof object> & { readonly $id: string } {
  const { type: kind, ...keywords } = object(fact.data);
  return {
    $schema: "https://json-schema.org/draft/2020-12/schema",
    $id: `urn:webhook-relay:event:${type}:v${versionOf(fact)}`,
    title: type,
    description: fact.meaning,
    type: kind,
    ...keywords,
  };
}

/** A sentence for the description of a history: the types its facts can have. */
export function typesOf(history: HistoryName): string {
  return `Its facts: ${histories[history].map((type) => `\`${type}\``).join(", ")}.`;
}

/**
 * The shown fields of a fact's data: none if no history has it; of authentication the kind, of headers the names,
 * of client certificates neither certificate nor key.
 */
export function shownData({ type, data }: DomainEvent): object {
  const shown = facts.get(type)?.shown ?? [];
  if (shown === "all") return data;
  const own = Object.fromEntries(Object.entries(data).filter(([name]) => shown.includes(name)));
  const { auth, headers, clientCertificate, ...fields } = own;
  return {
    ...fields,
    ...(auth !== undefined && { authType: (auth as DestinationAuth | null)?.type ?? null }),
    ...(headers !== undefined && { headers: maskedHeaders(headers as object) }),
    ...(clientCertificate !== undefined && {
      clientCertificate: shownCertificate(clientCertificate as SealedCertificate),
    }),
  };
}

/** A fact of a history. */
export interface HistoryItem {
  readonly type: string;
  readonly revision: number;
  readonly position: string;
  readonly time: string;
  readonly actor: Actor;
  /** The id of the request that wrote it; of an attempt, that of the request by which the event was accepted. */
  readonly correlationId: string;
  readonly data: object;
}

/** A fact as the API shows it, from its entry in the log. */
export function historyItem(
  fact: DomainEvent & { readonly revision: number; readonly position: string; readonly metadata: Metadata },
): HistoryItem {
  const { type, revision, position, metadata: { actor, correlationId, at: time } } = fact;
  return { type, revision, position, time, actor, correlationId, data: shownData(fact) };
}
