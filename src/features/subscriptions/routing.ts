import { pathOf, valueAt } from "../../kernel/domain/json-pointer.ts";
import type { Tags } from "../../kernel/domain/tags.ts";
import { tagsOf, type Sender } from "../senders/facts.ts";
import type { Subscription } from "./facts.ts";
import { passes, type FilteredMessage } from "./filter.ts";

/** A message that a sender fans out. */
export interface RoutedMessage {
  readonly type: string | null;
  readonly ownerId: string | null;
  readonly tags: Tags | null;
  /** The JSON text that the sender's mapping made. */
  readonly data: string;
}

/** Why a subscription does not get a message. */
export const skipReasons = ["inactive", "event type", "filter", "already reached"] as const;
/** One of {@link skipReasons}. */
export type SkipReason = (typeof skipReasons)[number];

/** The subscriptions that get a message, and the others with their reasons. */
export interface Routing {
  readonly matched: readonly Subscription[];
  readonly skipped: readonly { readonly subscriptionId: string; readonly reason: SkipReason }[];
}

/** Routes a message: each destination is reached once, by the owner's subscription before one without an owner. */
export function route(
  message: RoutedMessage, owners: readonly Subscription[], ownerless: readonly Subscription[],
): Routing {
  const matched = new Map<string, Subscription>();
  const skipped: { readonly subscriptionId: string; readonly reason: SkipReason }[] = [];
  const filtered = filteredMessage(message);
  for (const subscription of [...owners, ...ownerless]) {
    const { id: subscriptionId, destinationId } = subscription;
    const reason = obstacleOf(subscription, message.type, filtered)
      ?? (matched.has(destinationId) ? "already reached" : null);
    if (reason === null) matched.set(destinationId, subscription);
    else skipped.push({ subscriptionId, reason });
  }
  return { matched: [...matched.values()], skipped };
}

function obstacleOf(
  { active, eventTypes, filter }: Subscription, type: string | null, message: FilteredMessage,
): SkipReason | null {
  if (!active) return "inactive";
  if (eventTypes !== null && !eventTypes.some((pattern) => isOfType(type, pattern))) return "event type";
  return filter === null || passes(filter, message) ? null : "filter";
}

function isOfType(type: string | null, pattern: string): boolean {
  if (type === null) return false;
  if (!pattern.endsWith(".*")) return type === pattern;
  const family = pattern.slice(0, -1);
  return type.length > family.length && type.startsWith(family);
}

/** A message as filters look at it; its data is parsed when a filter first reads it. */
function filteredMessage({ type, ownerId, tags, data }: RoutedMessage): FilteredMessage {
  let parsed: { readonly value: unknown } | undefined;
  return {
    ...(type !== null && { type }), ...(ownerId !== null && { ownerId }), ...(tags !== null && { tags }),
    get data() {
      parsed ??= { value: JSON.parse(data) };
      return parsed.value;
    },
  };
}

/** A message as its sender's settings read it from a received body and its headers. */
export function messageOf(
  { eventTypePath, searchFields }: Pick<Sender, "eventTypePath" | "searchFields">,
  received: string,
  { eventType, ownerId, tags, data }: {
    readonly eventType: string | null; readonly ownerId: string | null; readonly tags: Tags | null;
    readonly data: string;
  },
): RoutedMessage {
  const type = eventType ?? (eventTypePath === null ? null : eventTypeIn(received, eventTypePath));
  return { type, ownerId, tags: tagsOf(searchFields, received, tags) ?? null, data };
}

/** The event type at a JSON Pointer into a received body; null unless it is a text that a header could have. */
function eventTypeIn(body: string, path: string): string | null {
  const found = valueAt(JSON.parse(body), pathOf(path));
  return typeof found === "string" && isEventType(found) ? found : null;
}

const mostTypeCharacters = 255;

function isEventType(text: string): boolean {
  if (text === "" || text.length > 2 * mostTypeCharacters || !text.isWellFormed()) return false;
  return [...text].length <= mostTypeCharacters && !/\p{Cc}/u.test(text);
}

/** The first problem of event types, after its place in the list; null for valid ones. */
export function problemOfEventTypes(eventTypes: readonly string[]): string | null {
  const at = eventTypes.findIndex((pattern) => !isEventType(pattern) || !/^(?:[^*]+|[^*]+\.\*)$/u.test(pattern));
  return at < 0 ? null : `eventTypes.${at}: must be an event type, as invoice.paid, or a family of types, as invoice.*`;
}
