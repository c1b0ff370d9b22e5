import { accepted, events, type EventDocument } from "../../../projections/events/events.ts";
import { messages, type MessageDocument } from "../../../projections/messages/messages.ts";
import type { components } from "../../../schemas/api.ts";
import { requireOwn } from "../../kernel/callers/access.ts";
import type { Caller } from "../../kernel/callers/caller.ts";
import { refuse } from "../../kernel/domain/refusal.ts";
import { streams } from "../../kernel/domain/streams.ts";
import type { KernelParts } from "../../kernel/kernel-parts.ts";
import { LongReads } from "../../kernel/log/long-reads.ts";
import { listed, type PageInParts, type PageRequest } from "../../kernel/read-models/paging.ts";
import { documentOf } from "../../kernel/read-models/scans.ts";
import type { EventStatus } from "../events/facts.ts";
import { messageIn, type AcceptedMessage } from "./facts.ts";
import { loadMessage, sumOf, type MessageView } from "./messages.ts";

/** Messages that are read from the log at once: each may have 1 MiB. */
const partSize = 4;

/** A message as lists show it. */
export type MessageSummaryView = Readonly<components["schemas"]["MessageSummary"]>;

/** Filters of the list of messages. */
export interface MessageFilter {
  readonly senderId?: string | undefined;
  readonly eventType?: string | undefined;
  readonly ownerId?: string | undefined;
  readonly from?: string | undefined;
  readonly to?: string | undefined;
}

/** Queries about messages and their deliveries. */
export class MessageQueries {
  readonly #parts;

  constructor(parts: Pick<KernelParts, "store" | "readModels" | "freshness">) {
    this.#parts = parts;
  }

  /** Throws a Refusal (not-found, forbidden, unavailable). */
  async get(caller: Caller, id: string): Promise<MessageView> {
    return (await this.find(caller, id)) ?? refuse("not-found", "message not found");
  }

  /** The message of an id; undefined if there is none. Throws a Refusal (forbidden, unavailable). */
  async find(caller: Caller, id: string): Promise<MessageView | undefined> {
    const message = await loadMessage(this.#parts.store, id);
    if (!message) return undefined;
    requireOwn(message.data, caller, "message");
    return this.viewOf(message);
  }

  /** Undefined once all of its deliveries are purged. Throws a Refusal (unavailable). */
  async viewOf(message: AcceptedMessage): Promise<MessageView | undefined> {
    const { messageId, payload, skipped } = message.data;
    const { readModels, freshness } = this.#parts;
    const statuses = await freshness.ask(async () =>
      (await documentOf(readModels, messages, messageId)) && this.#statusesOf([message]));
    if (!statuses || isPurged(message, statuses)) return undefined;
    return { ...summaryOf(message, statuses), payload, skipped: [...skipped] };
  }

  /** The messages of the caller's tenant, in parts of a bounded size. Throws a Refusal (unavailable). */
  async list(
    { tenantId }: Caller, { from, to, senderId, eventType, ownerId }: MessageFilter, page: PageRequest,
  ): Promise<PageInParts<MessageSummaryView>> {
    const where = {
      tenantId, ...(senderId !== undefined && { senderId }), ...(eventType !== undefined && { eventType }),
      ...(ownerId !== undefined && { ownerId }),
    };
    const asked = { where, ...((from ?? to) !== undefined && { range: accepted({ from, to }) }), counter: null, page };
    const { items, ...ends } = await listed(this.#parts, messages, asked, (document) => document);
    const partOf = (documents: readonly MessageDocument[]) => this.#summaries(tenantId, documents);
    const parts = async function* () {
      for (let at = 0; at < items.length; at += partSize) yield partOf(items.slice(at, at + partSize));
    };
    return { ...ends, parts: { [Symbol.asyncIterator]: parts } };
  }

  async #summaries(tenantId: string, documents: readonly MessageDocument[]): Promise<readonly MessageSummaryView[]> {
    const { store } = this.#parts;
    const read = await LongReads.of(store).run(tenantId, (turn) => turn(() => Promise.all(documents.map((document) =>
      store.readStream(streams.event(document.id), { limit: 1, beginsAt: document.acceptedIn })))));
    const found = read.flatMap(([first]) => messageIn(first) ?? []);
    const statuses = await this.#statusesOf(found);
    return found.flatMap((message) => (isPurged(message, statuses) ? [] : summaryOf(message, statuses)));
  }

  /** The statuses of all deliveries that are not purged, by their ids. */
  async #statusesOf(of: readonly AcceptedMessage[]): Promise<ReadonlyMap<string, EventStatus>> {
    const values = of.flatMap(({ data }) => data.deliveries.map(({ eventId }) => eventId));
    if (values.length === 0) return new Map();
    const found = await this.#parts.readModels.find({
      collection: events.name, anyOf: { field: events.key, values },
      order: { field: events.key, descending: false }, limit: values.length,
    });
    return new Map((found as readonly EventDocument[]).map(({ id, status }) => [id, status]));
  }
}

/** A purge hides the last delivery of a message a moment before the message. */
function isPurged({ data: { deliveries } }: AcceptedMessage, statuses: ReadonlyMap<string, EventStatus>): boolean {
  return deliveries.length > 0 && deliveries.every(({ eventId }) => !statuses.has(eventId));
}

function summaryOf({ data }: AcceptedMessage, statuses: ReadonlyMap<string, EventStatus>): MessageSummaryView {
  const { messageId: id, tenantId, senderId, idempotencyKey, eventType, ownerId, tags, at: acceptedAt } = data;
  const known = data.deliveries.flatMap(({ eventId }) => statuses.get(eventId) ?? []);
  return {
    id, tenantId, senderId, status: sumOf(known), idempotencyKey, eventType: eventType ?? null,
    ownerId: ownerId ?? null, tags: tags ?? null, acceptedAt,
    deliveries: data.deliveries.map(({ eventId, subscriptionId, destinationId: destinationUrlId }) =>
      ({ eventId, subscriptionId, destinationUrlId, status: statuses.get(eventId) ?? null })),
  };
}
