import type { OperationId, ParametersOf, Schemas } from "@webhook-relay/client";
import { eventFilterNames, payloadNames, type Search } from "../../app/search.ts";
import { statusesText } from "../../parts/status-words.ts";

/** All statuses that an event stays in, in the order in which the page shows them. */
export const statuses = ["Pending", "Processing", "WaitingRetry", "Succeeded", "CriticalFailure", "Cancelled"] as const;

/** An event of the list. */
export type Item = Schemas["EventSummary"];
/** The filters as the operation that lists events takes them. */
export type Filter = ParametersOf<"listEvents">;

/** The filters in an address, and nothing else of it. */
export function filtersOf(search: Search): Search {
  return chosen(search, eventFilterNames);
}

/** The texts of a parameter that lists several. */
export function listed(text: string | undefined): readonly string[] {
  return text === undefined || text === "" ? [] : text.split(",");
}

/** The parameters of the list of events. */
export function parametersOf(filters: Search): Filter {
  const { Status, Tag, Test, ...others } = filtersOf(filters);
  return {
    ...others,
    ...(Status !== undefined && { Status: listed(Status) }),
    ...(Tag !== undefined && { Tag: listed(Tag) }),
    ...(Test !== undefined && { Test: Test === "true" }),
  } as Filter;
}

/** The parameters of the search in payloads; undefined where the address asks for none. */
export function searchOf(search: Search): ParametersOf<"searchEvents"> | undefined {
  const asked = chosen(search, payloadNames);
  if (asked["Text"] === undefined && asked["Pointer"] === undefined) return undefined;
  const condition = asked["Text"] === undefined ? asked : { Text: asked["Text"] };
  return { ...condition, ...parametersOf(search) };
}

/** The operations that act on many events. */
export type BulkOperation = Extract<OperationId, "orderReplay" | "cancelEvents">;

const actionable: Record<BulkOperation, readonly string[]> = {
  orderReplay: ["Succeeded", "CriticalFailure"],
  cancelEvents: ["Pending", "WaitingRetry"],
};
/** The statuses that an act takes where the filters name none. */
const usual: Record<BulkOperation, readonly string[]> = {
  orderReplay: ["CriticalFailure"],
  cancelEvents: ["Pending", "WaitingRetry"],
};

/** The events that a bulk operation is to take, as its body has them. */
export interface BulkFilter {
  readonly status: readonly string[];
  readonly ids?: readonly string[];
  readonly destinationUrlId?: string;
  readonly senderId?: string;
  readonly eventType?: string;
  readonly tag?: string;
  readonly from?: string;
  readonly to?: string;
}

/** The body for events by their ids, in all statuses that the act takes. */
export function bulkOfIds(operation: BulkOperation, ids: readonly string[]): BulkFilter {
  return { status: actionable[operation], ids };
}

/**
 * The body for all events that the list's filters match, accepted up to `to`. A text in its place says why the
 * operation cannot do it.
 */
export function bulkOfFilters(operation: BulkOperation, filters: Search, to: string): BulkFilter | string {
  const foreign = ["OwnerId", "MessageId", "CorrelationId", "IdempotencyKey", "Test"]
    .filter((name) => filters[name] !== undefined);
  const { DestinationUrlId, SenderId, EventType, From, To = to } = filters;
  const [tag, ...moreTags] = listed(filters["Tag"]);
  if (foreign.length > 0 || moreTags.length > 0) {
    const titles = foreign.map((name) => filterTitles[name] ?? name);
    const names = moreTags.length > 0 ? [...titles, "second tag"] : titles;
    return `Acts on all that match know no filter by ${names.join(" and ")}. Select the events.`;
  }
  const asked = listed(filters["Status"]);
  const status = asked.length === 0 ? usual[operation] : asked.filter((each) => actionable[operation].includes(each));
  if (status.length === 0) return `Only events in ${statusesText(actionable[operation])} can be chosen for it.`;
  return {
    status,
    ...(DestinationUrlId !== undefined && { destinationUrlId: DestinationUrlId }),
    ...(SenderId !== undefined && { senderId: SenderId }),
    ...(EventType !== undefined && { eventType: EventType }),
    ...(tag !== undefined && { tag }),
    ...(From !== undefined && { from: From }),
    to: To,
  };
}

/** The names of the filters for people. */
const filterTitles: Readonly<Record<string, string>> = {
  OwnerId: "owner", MessageId: "message", CorrelationId: "request", IdempotencyKey: "idempotency key", Test: "test",
};

/** A bulk filter in words, such as "All events in Failed of type invoice.paid, accepted up to …". */
export function bulkWords(
  filter: BulkFilter, { moment, destination }: {
    /** The text of a moment for this reader. */
    readonly moment: (at: string) => string;
    /** The name of a destination, from its id. */
    readonly destination: (id: string) => string;
  },
): string {
  const { status, ids, destinationUrlId, senderId, eventType, tag, from, to } = filter;
  const selected = ids?.length === 1 ? "The selected event, if" : `The ${ids?.length ?? 0} selected events, if`;
  const accepted = [from && `from ${moment(from)}`, to && `up to ${moment(to)}`].filter(Boolean);
  return [
    `${ids ? selected : "All events"} in ${statusesText(status)}`,
    destinationUrlId && ` for ${destination(destinationUrlId)}`,
    senderId && ` through the sender ${senderId}`,
    eventType && ` of type ${eventType}`,
    tag && ` with the tag ${tag}`,
    accepted.length > 0 && `, accepted ${accepted.join(" ")}`,
    ". Test events stay as they are.",
  ].filter(Boolean).join("");
}

function chosen(search: Search, names: readonly string[]): Search {
  return Object.fromEntries(names.flatMap((name) => {
    const value = search[name];
    return value === undefined || value === "" ? [] : [[name, value]];
  }));
}
