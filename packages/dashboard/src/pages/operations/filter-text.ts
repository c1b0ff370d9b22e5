import { statusesText } from "../../parts/status-words.ts";

/** The filter of an operation; null or an empty list filters nothing. */
export interface Filter {
  readonly statuses: readonly string[];
  readonly destinationUrlId?: string | null;
  readonly senderId?: string | null;
  readonly eventType?: string | null;
  readonly tag?: string | null;
  /** How many events were named by their ids. */
  readonly ids?: number | null;
  readonly from?: string | null;
  readonly to?: string | null;
  readonly before?: string | null;
  readonly ownerId?: string | null;
  readonly messageId?: string | null;
  readonly correlationId?: string | null;
  readonly tags?: Readonly<Record<string, string>> | null;
  readonly finishedFrom?: string | null;
  readonly finishedTo?: string | null;
}

/** A filter in words. `nameOf` gives the names of destinations and senders, `moment` the texts of times. */
export function filterText(
  filter: Filter, nameOf: (id: string) => string, moment: (at: string) => string,
): string {
  const statuses = filter.statuses.length === 0 ? "" : `in ${statusesText(filter.statuses)}`;
  const parts = [
    filter.destinationUrlId && `for ${nameOf(filter.destinationUrlId)}`,
    filter.senderId && `through ${nameOf(filter.senderId)}`,
    filter.eventType && `of the type ${filter.eventType}`,
    filter.tag && `with the tag ${filter.tag}`,
    filter.ownerId && `of the owner ${filter.ownerId}`,
    filter.messageId && `of the message ${filter.messageId}`,
    filter.correlationId && `of the request ${filter.correlationId}`,
    filter.tags && `with ${tagsText(filter.tags)}`,
    filter.ids && (filter.ids === 1 ? "with the one id given" : `with one of ${filter.ids} ids given`),
    filter.from && `accepted from ${moment(filter.from)}`,
    filter.to && `accepted up to ${moment(filter.to)}`,
    filter.before && `accepted before ${moment(filter.before)}`,
    filter.finishedFrom && `finished from ${moment(filter.finishedFrom)}`,
    filter.finishedTo && `finished up to ${moment(filter.finishedTo)}`,
  ].filter((part) => typeof part === "string");
  return ["Events", statuses, ...parts].filter((part) => part !== "").join(" ")
    + (parts.length === 0 ? ", all of them" : "");
}

/** Tags as the text of a field. */
export function tagsText(tags: Readonly<Record<string, string>>): string {
  return Object.entries(tags).map(([name, value]) => `${name}:${value}`).join(", ");
}
