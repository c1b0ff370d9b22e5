import type { BodyOf } from "../../../../client/src/index.ts";
import type { Preferences } from "../../app/preferences.tsx";
import type { Filter } from "./filter-text.ts";
import type { Kind } from "./kinds.ts";

/** An operation as it is sent to the relay, and its filter. */
export type Order = { readonly filter: Filter } & (
  | { readonly kind: "replay"; readonly body: BodyOf<"orderReplay"> }
  | { readonly kind: "cancel"; readonly body: BodyOf<"cancelEvents"> }
  | { readonly kind: "purge"; readonly body: BodyOf<"purgeEvents"> }
);

/** The fields that each kind of order has: no other is ever sent. */
const fieldsOf: Readonly<Record<Kind, readonly string[]>> = {
  replay: [
    "destinationUrlId", "senderId", "eventType", "tag", "status", "from", "to", "toDestinationUrlId", "perSecond",
  ],
  cancel: ["destinationUrlId", "senderId", "eventType", "tag", "status", "from", "to"],
  purge: ["destinationUrlId", "status", "before"],
};

/** All fields of an order, whatever its kind. */
export const filterFields = [...new Set(Object.values(fieldsOf).flat())];

const moments = ["from", "to", "before"];

/** The statuses that an order means where it names none. */
const usualStatuses: Readonly<Record<Kind, readonly string[]>> = {
  replay: ["CriticalFailure"],
  cancel: ["Pending", "WaitingRetry"],
  purge: ["Succeeded", "CriticalFailure", "Cancelled"],
};

/** The order of a form's fields; those that are empty filter nothing. Times of the form are in the zone. */
export function orderOf(kind: Kind, fields: Readonly<Record<string, string>>, zone: Preferences["zone"]): Order {
  const given = fieldsOf[kind].flatMap((name) => {
    const text = fields[name]?.trim() ?? "";
    return text === "" ? [] : [[name, valueOf(name, text, zone)] as const];
  });
  const body: Readonly<Record<string, unknown>> = Object.fromEntries(given);
  const status = body["status"];
  const statuses = typeof status === "string" ? [status] : usualStatuses[kind];
  return { kind, body, filter: { ...body, statuses } };
}

function valueOf(name: string, text: string, zone: Preferences["zone"]): unknown {
  if (moments.includes(name)) return momentOf(text, zone);
  return name === "perSecond" && /^\d+(\.\d+)?$/.test(text) ? Number(text) : text;
}

/** The ISO text of a time as a browser's field has it, which names no zone. */
function momentOf(text: string, zone: Preferences["zone"]): string {
  const date = new Date(zone === "UTC" ? `${text}Z` : text);
  return Number.isNaN(date.getTime()) ? text : date.toISOString();
}

/** The text of a moment for a browser's field of a time, in the zone; empty where it is none. */
export function fieldText(at: string | undefined, zone: Preferences["zone"]): string {
  const date = new Date(at ?? "");
  if (Number.isNaN(date.getTime())) return "";
  const shown = zone === "UTC" ? date : new Date(date.getTime() - date.getTimezoneOffset() * 60_000);
  return shown.toISOString().slice(0, 19);
}
