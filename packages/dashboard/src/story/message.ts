import type { Schemas } from "@webhook-relay/client";
import { between, durationText } from "../parts/times.ts";
import type { Words } from "./words.ts";

/** A message with its deliveries. */
export type Message = Schemas["Message"];
/** The status of a delivery; null once it is purged. */
export type DeliveryStatus = Message["deliveries"][number]["status"];

/** The words for deliveries by their status, in the order in which a sentence names them. */
const outcomes: Readonly<Record<Schemas["EventStatus"] | "purged", string>> = {
  Succeeded: "delivered", CriticalFailure: "failed", Cancelled: "cancelled", WaitingRetry: "waiting for a retry",
  Failed: "waiting for a retry", Processing: "being sent", Pending: "queued", purged: "purged",
};

interface Summed {
  readonly deliveries: Message["deliveries"];
  /** When the earliest retry is due, where that is known of all that wait for one. */
  readonly retryAt?: string | undefined;
}

/** How far deliveries came, as numbers: `2 delivered, 1 waiting for a retry at 10:05`. */
export function outcomeWords({ deliveries, retryAt }: Summed): Words {
  const counts = new Map<string, number>();
  for (const [status, word] of Object.entries(outcomes)) {
    const count = deliveries.filter((one) => (one.status ?? "purged") === status).length;
    if (count > 0) counts.set(word, (counts.get(word) ?? 0) + count);
  }
  return [...counts].flatMap(([word, count], index): Words => [
    index === 0 ? "" : ", ", ...deliveries.length === 1 ? [] : [counts.size === 1 ? "all " : `${count} `], word,
    ...word === outcomes.WaitingRetry && retryAt !== undefined
      ? [count === 1 ? " at " : ", the next at ", { time: retryAt }] : [],
  ]);
}

/** A message and its deliveries in one sentence. */
export function messageSentence(
  { eventType, ownerId, deliveries, skipped }: Pick<Message, "eventType" | "ownerId" | "deliveries" | "skipped">,
  retryAt?: string,
): Words {
  const subject: Words = [
    ...eventType === null ? ["The message"] : [{ quote: eventType }],
    ...ownerId === null ? [] : [" for owner ", { quote: ownerId }],
  ];
  if (deliveries.length === 0) {
    const why = skipped.length === 0 ? "no subscription was there for it"
      : skipped.length === 1 ? "the one subscription did not match" : `none of ${skipped.length} subscriptions matched`;
    return [...subject, ` went to no receiver: ${why}.`];
  }
  const receivers = deliveries.length === 1 ? "1 receiver" : `${deliveries.length} receivers`;
  return [...subject, ` went to ${receivers}: `, ...outcomeWords({ deliveries, retryAt }), "."];
}

/** The earliest planned retry; undefined where the event of one that waits for a retry is not known. */
export function nextRetry(
  deliveries: Message["deliveries"], events: readonly Pick<Schemas["Event"], "id" | "status" | "nextAttemptAt">[],
): string | undefined {
  const due = deliveries.filter(({ status }) => status === "WaitingRetry").map(({ eventId }) => {
    const event = events.find(({ id }) => id === eventId);
    return event?.status === "WaitingRetry" ? event.nextAttemptAt : null;
  });
  return due.includes(null) ? undefined : due.flatMap((at) => at ?? []).sort()[0];
}

/** Each recorded reason for which a subscription did not get a message. */
const reasons: Readonly<Record<string, string>> = {
  inactive: "it was switched off", "event type": "it does not name the event type",
  filter: "its filter did not match", "already reached": "the receiver got it by another subscription",
};

/** The recorded reason for which a subscription did not get a message, in words. */
export function skippedWords(reason: string): string {
  return reasons[reason] ?? reason;
}

/** The attempts of a delivery and the time until it was delivered: `2 attempts, 1.2 s`. */
export function effortText(attempts: number, { acceptedAt, deliveredAt }: Schemas["Event"]): string {
  const made = attempts === 1 ? "1 attempt" : `${attempts || "no"} attempts`;
  return deliveredAt === null ? made : `${made}, ${durationText(Math.max(0, between(acceptedAt, deliveredAt)))}`;
}
