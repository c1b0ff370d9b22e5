import { leases, waiting, type WaitingDocument } from "../../../projections/due/due.ts";
import type { EventFilter } from "../../../projections/events/events.ts";
import type { DomainEvent } from "../../kernel/domain/domain-event.ts";
import { streams } from "../../kernel/domain/streams.ts";
import { millis, timestamp } from "../../kernel/domain/time.ts";
import { LongReads, type Turn } from "../../kernel/log/long-reads.ts";
import type { Moment } from "../../kernel/log/moments.ts";
import { newestAt } from "../../kernel/log/past-states.ts";
import type { EventStore, LogEntry, Position, RecordedEvent } from "../../kernel/ports/event-store.ts";
import type { ReadModels } from "../../kernel/ports/read-models.ts";
import type { Freshness } from "../../kernel/read-models/freshness.ts";
import type { CircuitEvent } from "../circuits/facts.ts";
import type { DestinationEvent } from "../destinations/facts.ts";
import { loadMessage } from "../messages/messages.ts";
import type { SenderEvent } from "../senders/facts.ts";
import type { Story, StoryFacts } from "../story/story.ts";
import { tellStory } from "../story/tell.ts";
import type { StoryMoment } from "../story/waits.ts";
import type { TenantEvent } from "../tenants/facts.ts";
import { isWaiting } from "./decide.ts";
import { totalOf } from "./event-totals.ts";
import { type Webhook, isFinished } from "./facts.ts";
import type { LoadedWebhook } from "./webhooks.ts";

const pageEntries = 64;

/** Of each neighbour, the most facts between the event's acceptance and its end: the last ones. */
const mostFacts = 1_000;

/** Facts of the destination and of its circuit from before the acceptance: they tell how things stood then. */
const factsBefore = 64;

const mostRetries = 1_000;

interface StoryParts {
  readonly store: EventStore;
  readonly readModels: ReadModels;
  readonly freshness: Freshness;
}

/** An event at a moment, and its facts up to there. */
export interface Chronicle {
  readonly event: Webhook;
  readonly facts: LoadedWebhook["facts"];
  readonly moment: Moment;
  readonly isPresent: boolean;
}

/** Tells an event's story, with the last facts of its neighbours. Throws LogUnavailable and a Refusal (unavailable). */
export async function storyOf(parts: StoryParts, { event, facts, moment, isPresent }: Chronicle): Promise<Story> {
  const [accepted] = facts;
  const from = accepted?.position ?? moment.position;
  const to = isFinished(event.status) ? facts.at(-1)?.position ?? moment.position : moment.position;
  const { tenantId, destinationId } = event;
  const senderId = accepted?.type === "EventAccepted" ? accepted.data.senderId : null;
  const { store } = parts;
  const [neighbours, routed, present] = await Promise.all([
    LongReads.of(store).run(tenantId, async (turn) => {
      const read = <Event extends DomainEvent>(stream: string, before = 0) =>
        between<Event>(store, turn, stream, { from, to, before });
      return {
        destination: await read<DestinationEvent>(streams.destination(destinationId), factsBefore),
        circuit: await read<CircuitEvent>(streams.circuit(destinationId), factsBefore),
        tenant: await read<TenantEvent>(streams.tenant(tenantId)),
        sender: senderId === null ? [] : await read<SenderEvent>(streams.sender(senderId)),
      };
    }),
    routingOf(store, event),
    isPresent && isWaiting(event) ? presentOf(parts, event) : { inFlight: null, ahead: null },
  ]);
  return tellStory({ event: facts, ...neighbours, ...routed }, { time: moment.time, ...present });
}

/** How a delivery was routed; nothing of any other event. */
async function routingOf(
  store: Pick<EventStore, "readStream">, { id, messageId }: Webhook,
): Promise<Pick<StoryFacts, "routed">> {
  const message = messageId === null ? undefined : await loadMessage(store, messageId);
  const delivery = message?.data.deliveries.find(({ eventId }) => eventId === id);
  if (!message || !delivery) return {};
  return { routed: { messageId: message.data.messageId, subscriptionId: delivery.subscriptionId } };
}

/** A part of a stream: after `from` up to `to`, and as many facts before. */
interface Between {
  readonly from: Position;
  readonly to: Position;
  readonly before: number;
}

/** The readable facts of a part of a stream, in order; the last ones where there are more than {@link mostFacts}. */
async function between<Event extends DomainEvent>(
  store: EventStore, turn: Turn, stream: string, { from, to, before }: Between,
): Promise<RecordedEvent<Event>[]> {
  const newest = await turn(() => newestAt(store, stream, to));
  const found: LogEntry[] = [];
  let earlier = 0;
  for (let next = newest?.revision ?? -1; next >= 0 && earlier < before + 1 && found.length < mostFacts;) {
    const revision = next;
    const page = await turn(() =>
      store.readStream(stream, { from: revision, limit: Math.min(pageEntries, revision + 1), backwards: true }));
    for (const entry of page) {
      if (entry.position <= from) earlier += 1;
      if (earlier <= before && found.length < mostFacts) found.push(entry);
    }
    next = page.length === 0 ? -1 : page.at(-1)!.revision - 1;
  }
  return found.reverse().filter((entry) => entry.unreadable === undefined) as unknown as RecordedEvent<Event>[];
}

function presentOf(
  { readModels, freshness }: StoryParts, event: Webhook,
): Promise<Pick<StoryMoment, "inFlight" | "ahead">> {
  const { tenantId, destinationId, status, acceptedAt, nextAttemptAt } = event;
  const due = status === "Pending" ? acceptedAt : nextAttemptAt ?? acceptedAt;
  const to = timestamp(millis(due) - 1);
  const pending: EventFilter = { tenantId, destinationUrlId: destinationId, statuses: ["Pending"], to };
  return freshness.ask(async () => {
    const [inFlight, fresh, retries] = await Promise.all([
      readModels.count({ collection: leases.name, where: { destinationId } }),
      totalOf(readModels, pending),
      readModels.find({
        collection: waiting.name, where: { destinationId }, range: { field: "dueAt", to },
        order: { field: "dueAt", descending: false }, limit: mostRetries + 1,
      }) as Promise<readonly WaitingDocument[]>,
    ]);
    const before = retries.filter(({ eventId }) => eventId !== event.id).length;
    return { inFlight, ahead: before > mostRetries ? null : fresh + before };
  });
}
