import type { Moved } from "@webhook-relay/client";
import type { Item } from "./filters.ts";

/** An event of the list after a fact of it that the stream told. Facts of earlier attempts change nothing. */
export function moved(item: Item, fact: Moved): Item {
  if (fact.from === null || (fact.attempt !== null && fact.attempt < item.attempts)) return item;
  const changed = { ...item, status: fact.to };
  if (fact.attempt === null) return changed;
  const number = fact.attempt;
  if (fact.type === "DeliveryAttemptStarted") {
    const lastAttempt = {
      number, finishedAt: null, outcome: "in progress", statusCode: null, reason: null, durationMs: null,
    } as const;
    return { ...changed, attempts: number, lastAttempt };
  }
  if (fact.type === "DeliveryAttemptWithdrawn") return { ...changed, attempts: number - 1, lastAttempt: null };
  if (fact.type !== "DeliverySucceeded" && fact.type !== "DeliveryFailed") return changed;
  const succeeded = fact.type === "DeliverySucceeded";
  const failed = fact.reason === "outcome unknown" ? "unknown" : "failed";
  return {
    ...changed,
    attempts: number,
    deliveredAt: succeeded ? fact.at : item.deliveredAt,
    lastAttempt: {
      number,
      finishedAt: fact.at,
      outcome: succeeded ? "succeeded" : failed,
      statusCode: fact.statusCode,
      reason: fact.reason as NonNullable<Item["lastAttempt"]>["reason"],
      durationMs: fact.durationMs,
    },
  };
}
