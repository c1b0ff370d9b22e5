import { apiKeyFacts } from "./api-key/events.ts";
import { cancellationsFacts } from "./cancellations/cancellations.ts";
import { circuitFacts } from "./circuit/circuit.ts";
import { destinationFacts } from "./destination/events.ts";
import { webhookFacts } from "./event/events.ts";
import type { EventsOf, Fact } from "./fact.ts";
import { inviteFacts } from "./invite/events.ts";
import { personFacts } from "./person/person.ts";
import { platformFacts } from "./platform/platform.ts";
import { purgesFacts } from "./purges/purges.ts";
import { replayJobFacts } from "./replay-job/replay-job.ts";
import { replaysFacts } from "./replays/replays.ts";
import { reservationFacts } from "./reservation/reservation.ts";
import { object } from "./schema.ts";
import { senderFacts } from "./sender/events.ts";
import { serviceAccountFacts } from "./service-account/events.ts";
import { sessionFacts } from "./session/session.ts";
import { tenantFacts } from "./tenant/events.ts";

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
  event: webhookFacts,
};

/** The declarations of all facts by their names. */
const declarations = {
  ...tenantFacts, ...purgesFacts, ...replaysFacts, ...replayJobFacts, ...cancellationsFacts, ...apiKeyFacts,
  ...serviceAccountFacts, ...inviteFacts, ...destinationFacts, ...circuitFacts, ...senderFacts, ...webhookFacts,
  ...personFacts, ...platformFacts, ...reservationFacts, ...sessionFacts,
};

/** Every fact of the domain. */
export type AnyEvent = EventsOf<typeof declarations>;
/** The name of a fact. */
export type FactType = AnyEvent["type"];
/** The name of a history. */
export type HistoryName = keyof typeof byHistory;

/** The declarations of all facts by their names. */
export const facts: ReadonlyMap<string, Fact> = new Map(Object.entries<Fact>(declarations));

/** By the name of each history, the names of its facts. */
export const histories = Object.fromEntries(Object.entries(byHistory).map(([history, declared]) =>
  [history, Object.keys(declared).filter((type) => facts.get(type)?.shown)],
)) as unknown as Readonly<Record<HistoryName, readonly FactType[]>>;

/** The names of the facts that the audit lists, in the order in which the API's description has them. */
export const auditTypes: readonly FactType[] = [
  histories.tenant, histories.purges, histories.replayJob.toReversed(), histories.replays, histories.cancellations,
  histories.apiKey, histories.invite, histories.destination, histories.circuit, histories.sender,
  histories.serviceAccount,
].flat().filter((type) => facts.get(type)?.audit);

/** The version that a fact is written under. */
export function versionOf({ upcasters = [] }: Pick<Fact, "upcasters">): number {
  return upcasters.length + 1;
}

/** The JSON Schema of the data of a fact as it is written. */
export function schemaOf(type: string, fact: Fact): ReturnType<typeof object> & { readonly $id: string } {
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
