import type { BodyOf } from "@webhook-relay/client";
import type { OrderField, Search } from "../../app/search.ts";
import { timeInField, type Zone } from "../../parts/times.ts";
import type { Filter } from "./filter-text.ts";
import type { Kind } from "./kinds.ts";

/** An operation as it is sent to the relay, and its filter. */
export type Order = { readonly filter: Filter } & (
  | { readonly kind: "replay"; readonly body: BodyOf<"orderReplay"> }
  | { readonly kind: "cancel"; readonly body: BodyOf<"cancelEvents"> }
  | { readonly kind: "purge"; readonly body: BodyOf<"purgeEvents"> }
);

/** The fields that each kind of order has: no other is ever sent. */
const fieldsOf: Readonly<Record<Kind, readonly OrderField[]>> = {
  replay: [
    "destinationUrlId", "senderId", "eventType", "tag", "status", "from", "to", "toDestinationUrlId", "perSecond",
  ],
  cancel: ["destinationUrlId", "senderId", "eventType", "tag", "status", "from", "to"],
  purge: ["destinationUrlId", "status", "before"],
};

const moments = ["from", "to", "before"];

/** The statuses that an order means where it names none. */
const usualStatuses: Readonly<Record<Kind, readonly string[]>> = {
  replay: ["CriticalFailure"],
  cancel: ["Pending", "WaitingRetry"],
  purge: ["Succeeded", "CriticalFailure", "Cancelled"],
};

/**
 * The order of a form's fields; those that are empty filter nothing. Times of the form are in the zone; `shown` has the
 * moments with which the form was filled.
 */
export function orderOf(
  kind: Kind, fields: Readonly<Record<string, string>>, zone: Zone, shown: Search = {},
): Order {
  const given = fieldsOf[kind].flatMap((name) => {
    const text = fields[name]?.trim() ?? "";
    return text === "" ? [] : [[name, valueOf(name, text, zone, shown[name])] as const];
  });
  const body: Readonly<Record<string, unknown>> = Object.fromEntries(given);
  const status = body["status"];
  const statuses = typeof status === "string" ? [status] : usualStatuses[kind];
  return { kind, body, filter: { ...body, statuses } };
}

function valueOf(name: string, text: string, zone: Zone, shown: string | undefined): unknown {
  if (moments.includes(name)) return timeInField(text, zone, shown);
  return name === "perSecond" && /^\d+(\.\d+)?$/.test(text) ? Number(text) : text;
}
