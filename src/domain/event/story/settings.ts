import type { DestinationEvent } from "../../destination/events.ts";
import type { SenderEvent } from "../../sender/events.ts";
import type { TenantEvent } from "../../tenant/events.ts";
import type { Chapter, StoryEntry } from "./story.ts";
import { cause, destinationEntry, entryOf, type StoryFacts } from "./told.ts";

/** Facts of a destination and a sender that change no setting by which an event is delivered. */
const others: readonly (DestinationEvent["type"] | SenderEvent["type"])[] =
  ["DestinationRegistered", "IngestTokenRegenerated", "SenderCreated", "SenderIngestTokenRegenerated"];
/** Settings of a tenant by which events are delivered. */
const ofTenant: readonly TenantEvent["type"][] = ["TenantDeliveryPolicyChanged", "WebhookSecretRegenerated"];

/** The chapters about settings that changed after a position, in no order. */
export function settingsOf({ destination, tenant, sender }: StoryFacts, after: string): Chapter[] {
  const changes = [
    ...destination.filter(({ type }) => !others.includes(type)).map(destinationEntry),
    ...tenant.filter(({ type }) => ofTenant.includes(type)).map((fact) =>
      entryOf(fact, "tenant", fact.type === "ReservationRefused" ? "" : fact.data.tenantId)),
    ...sender.filter(({ type }) => !others.includes(type)).map((fact) =>
      entryOf(fact, "sender", fact.data.senderId)),
  ];
  return changes.filter(({ position }) => position > after).map(settingOf);
}

function settingOf(entry: StoryEntry): Chapter {
  const { time, actor } = entry;
  const because = actor.type === "service" && actor.part !== "operator" ? [] : [cause("requested", entry)];
  return { kind: "setting", from: time, to: time, entries: [entry], because };
}
