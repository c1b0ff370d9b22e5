import type { BodyOf } from "@webhook-relay/client";
import type { OrderField, Search } from "../../app/search.ts";
import type { Zone } from "../../parts/times.ts";
import { timeInField } from "../../parts/typed-time.ts";
import type { Filter } from "./filter-text.ts";
import type { Kind } from "./kinds.ts";

/** An operation as it is sent to the relay, and its filter. */
export type Order = { readonly filter: Filter } & (
  | { readonly kind: "replay"; readonly body: BodyOf<"orderReplay"> }
  | { readonly kind: "cancel"; readonly body: BodyOf<"cancelEvents"> }
  | { readonly kind: "purge"; readonly body: BodyOf<"purgeEvents"> }
);

/** The fields that all kinds of orders have. */
const common = [
  "destinationUrlId", "senderId", "eventType", "ownerId", "messageId", "correlationId", "tags", "status",
  "finishedFrom", "finishedTo",
] as const;
/** The fields that each kind of order has: no other is ever sent. */
const fieldsOf: Readonly<Record<Kind, readonly OrderField[]>> = {
  replay: [...common, "from", "to", "toDestinationUrlId", "perSecond"],
  cancel: [...common, "from", "to"],
  purge: [...common, "before"],
};

const moments = ["from", "to", "before", "finishedFrom", "finishedTo"];

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
  if (name === "tags") return tagsIn(text);
  return name === "perSecond" && /^\d+(\.\d+)?$/.test(text) ? Number(text) : text;
}

/** The tags of a text such as `order:4711, shop:7`. The relay refuses one without a value. */
function tagsIn(text: string): Readonly<Record<string, string>> {
  return Object.fromEntries(text.split(",").map((tag) => {
    const [name = "", ...value] = tag.trim().split(":");
    return [name, value.join(":")] as const;
  }));
}
