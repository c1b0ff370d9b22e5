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
  readonly from?: string;
  readonly to?: string;
  readonly ownerId?: string;
  readonly messageId?: string;
  readonly correlationId?: string;
  readonly tags?: Readonly<Record<string, string>>;
  readonly finishedFrom?: string;
  readonly finishedTo?: string;
}

/** The fields of a bulk filter that have the value of a parameter of the list. */
const sameFields = {
  destinationUrlId: "DestinationUrlId", senderId: "SenderId", eventType: "EventType", from: "From", ownerId: "OwnerId",
  messageId: "MessageId", correlationId: "CorrelationId", finishedFrom: "FinishedFrom", finishedTo: "FinishedTo",
} as const;

/** The body for events by their ids, in all statuses that the act takes. */
export function bulkOfIds(operation: BulkOperation, ids: readonly string[]): BulkFilter {
  return { status: actionable[operation], ids };
}

/**
 * The body for all events that the list's filters match, accepted up to `to`. A text in its place says why the
 * operation cannot do it.
 */
export function bulkOfFilters(operation: BulkOperation, filters: Search, to: string): BulkFilter | string {
  const foreign = Object.keys(foreignTitles).filter((name) => filters[name] !== undefined);
  if (foreign.length > 0) {
    const titles = foreign.map((name) => foreignTitles[name]);
    return `Acts on all that match know no filter by ${titles.join(" and ")}. Select the events.`;
  }
  const given = Object.entries(sameFields).flatMap(([field, name]) =>
    filters[name] === undefined ? [] : [[field, filters[name]] as const]);
  const same: Readonly<Record<string, string>> = Object.fromEntries(given);
  const tags: Readonly<Record<string, string>> = Object.fromEntries(listed(filters["Tag"]).map((tag) =>
    [tag.slice(0, tag.indexOf(":")), tag.slice(tag.indexOf(":") + 1)] as const));
  const asked = listed(filters["Status"]);
  const status = asked.length === 0 ? usual[operation] : asked.filter((each) => actionable[operation].includes(each));
  if (status.length === 0) return `Only events in ${statusesText(actionable[operation])} can be chosen for it.`;
  return {
    status, ...same, ...(Object.keys(tags).length > 0 && { tags }), to: filters["To"] ?? to,
  };
}

/** The filters that acts do not have, by their names for people. */
const foreignTitles: Readonly<Record<string, string>> = {
  IdempotencyKey: "idempotency key", Test: "test", ReplayId: "replay",
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
  const { status, ids, destinationUrlId, senderId, eventType, tags = {}, from, to } = filter;
  const { ownerId, messageId, correlationId, finishedFrom, finishedTo } = filter;
  const selected = ids?.length === 1 ? "The selected event, if" : `The ${ids?.length ?? 0} selected events, if`;
  const period = (begin?: string, end?: string) =>
    [begin && `from ${moment(begin)}`, end && `up to ${moment(end)}`].filter(Boolean).join(" ");
  const [accepted, finished] = [period(from, to), period(finishedFrom, finishedTo)];
  const tagTexts = Object.entries(tags).map(([name, value]) => `${name}:${value}`);
  return [
    `${ids ? selected : "All events"} in ${statusesText(status)}`,
    destinationUrlId && ` for ${destination(destinationUrlId)}`,
    senderId && ` through the sender ${senderId}`,
    eventType && ` of type ${eventType}`,
    ownerId && ` of the owner ${ownerId}`,
    messageId && ` of the message ${messageId}`,
    correlationId && ` of the request ${correlationId}`,
    tagTexts.length > 0 && ` with the ${tagTexts.length === 1 ? "tag" : "tags"} ${tagTexts.join(", ")}`,
    accepted && `, accepted ${accepted}`,
    finished && `, finished ${finished}`,
    ". Test events stay as they are.",
  ].filter(Boolean).join("");
}

function chosen(search: Search, names: readonly string[]): Search {
  return Object.fromEntries(names.flatMap((name) => {
    const value = search[name];
    return value === undefined || value === "" ? [] : [[name, value]];
  }));
}
