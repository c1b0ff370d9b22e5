import type { EventDocument } from "../../../projections/events/events.ts";
import { streams } from "../../kernel/domain/streams.ts";
import type { LongReads } from "../../kernel/log/long-reads.ts";
import type { EventStore, RecordedEvent } from "../../kernel/ports/event-store.ts";
import { evolve, type WebhookEvent } from "./facts.ts";
import { eventView, type EventView } from "./webhooks.ts";

/** Events whose payloads are read first, before it is known how large they are. */
const firstEvents = 1;
/** Most events whose payloads are read at once after the first read, as they may be larger. Usual pages take two. */
const mostEvents = 19;
/** Characters of payloads in one part, unless one event alone has more. */
const charactersAtOnce = 256 * 1024;

/** An event of the read models with its payload; null where it was purged meanwhile, or this process cannot read it. */
export interface HydratedEvent {
  readonly document: EventDocument;
  readonly view: EventView | null;
}

/**
 * Events with their payloads, which are only in the log, in parts of a bounded size: reads for a tenant take turns,
 * part by part. Throws LogUnavailable.
 */
export async function* hydrated(
  { store, reads }: { readonly store: Pick<EventStore, "readStream">; readonly reads: LongReads },
  tenantId: string,
  documents: readonly EventDocument[],
): AsyncGenerator<readonly HydratedEvent[], void> {
  let characters = 0;
  for (let from = 0, count = firstEvents; from < documents.length;) {
    const wanted = documents.slice(from, from + count);
    const read = await reads.run(tenantId, (turn) =>
      turn(() => Promise.all(wanted.map((document) => hydrate(store, document)))));
    const part = fitting(read);
    yield part;
    from += part.length;
    characters += part.reduce((sum, { view }) => sum + (view?.payload.length ?? 0), 0);
    count = Math.max(1, Math.min(mostEvents, Math.floor((charactersAtOnce * from) / Math.max(1, characters))));
  }
}

async function hydrate(store: Pick<EventStore, "readStream">, document: EventDocument): Promise<HydratedEvent> {
  const { id, acceptedIn, status, currentRetryCount, nextAttemptAt, deliveredAt } = document;
  const [first] = await store.readStream(streams.event(id), { limit: 1, beginsAt: acceptedIn });
  if (!first || first.unreadable !== undefined) return { document, view: null };
  const accepted = evolve(undefined, first as RecordedEvent<WebhookEvent>);
  if (accepted?.id !== id) return { document, view: null };
  return { document, view: { ...eventView(accepted), status, currentRetryCount, nextAttemptAt, deliveredAt } };
}

/** The events that fit into one part, at least the first; the others are to be read again. */
function fitting(read: readonly HydratedEvent[]): readonly HydratedEvent[] {
  let characters = 0;
  const end = read.findIndex(({ view }, at) => {
    characters += view?.payload.length ?? 0;
    return at > 0 && characters > charactersAtOnce;
  });
  return end < 0 ? read : read.slice(0, end);
}
