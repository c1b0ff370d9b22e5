import { eventIdOf } from "../../kernel/domain/event-id.ts";
import { Refusal } from "../../kernel/domain/refusal.ts";
import { streams } from "../../kernel/domain/streams.ts";
import { timestamp } from "../../kernel/domain/time.ts";
import type { KernelParts } from "../../kernel/kernel-parts.ts";
import { entriesOf, type Origin } from "../../kernel/log/origin.ts";
import { UnreadableRecord } from "../../kernel/log/unreadable.ts";
import { timestampNow } from "../../kernel/ports/clock.ts";
import { noStream, RevisionConflict, type RecordedEvent } from "../../kernel/ports/event-store.ts";
import type { EventKeys } from "../../kernel/sealing/event-keys.ts";
import { decide } from "../events/decide.ts";
import type { Webhook, WebhookEvent } from "../events/facts.ts";
import { changeShown, loadShown, loadWebhook, slotOfResent, type ShownSources } from "../events/webhooks.ts";
import type { LoadedReplay } from "./queries.ts";

type Facts = readonly RecordedEvent<WebhookEvent>[];

/** Puts an event to work, as prepared. Resolves with whether the replay did so, now or earlier. */
export type Action = () => Promise<boolean>;

const notMeant: Action = () => Promise.resolve(false);

/** Puts the events of one replay to work, each once, however often that is tried. */
export class PutToWork {
  readonly #parts;
  readonly #replay: LoadedReplay;
  readonly #keys: EventKeys;
  readonly #origin: Origin;

  constructor(
    parts: ShownSources & Pick<KernelParts, "clock" | "ids" | "metrics">,
    replay: LoadedReplay,
    keys: EventKeys,
  ) {
    this.#parts = parts;
    this.#replay = replay;
    this.#keys = keys;
    const { actor, correlationId, orderId: causationId } = replay;
    this.#origin = { actor, correlationId, causationId };
  }

  /** Whether the replay put the event to work already. Throws LogUnavailable. */
  async isDone(eventId: string): Promise<boolean> {
    const { store } = this.#parts;
    if (this.#toDestinationId !== null) return this.#isSource(eventId);
    try {
      return (await loadWebhook(store, eventId)).facts.some((fact) => this.#isOwn(fact));
    } catch (error) {
      if (error instanceof UnreadableRecord) return false;
      throw error;
    }
  }

  /** Reads all that the action needs, which passes over events that changed. Throws LogUnavailable, a Refusal. */
  async prepare(eventId: string): Promise<Action> {
    const to = this.#toDestinationId;
    return to === null ? () => this.#sendAgain(eventId) : orPassedOver(() => this.#prepareNew(eventId, to), notMeant);
  }

  get #toDestinationId(): string | null {
    return this.#replay.job.order.toDestinationId;
  }

  #sendAgain(eventId: string): Promise<boolean> {
    const { aggregates, clock, metrics } = this.#parts;
    const { job } = this.#replay;
    return orPassedOver(async () => {
      const at = timestampNow(clock);
      const changed = await changeShown(this.#parts, job.tenantId, eventId, this.#origin, async (event, facts) => {
        if (!this.#isMeant(facts)) return [];
        const slot = await slotOfResent(aggregates, event);
        return decide(event, { type: event.status === "Succeeded" ? "Resend" : "Replay", slot, at, replayId: job.id });
      });
      if (!changed || changed.facts.length === 0) return this.isDone(eventId);
      metrics.replayed();
      return true;
    }, false);
  }

  async #prepareNew(sourceId: string, destinationId: string): Promise<Action> {
    const { aggregates, clock, ids, metrics, store } = this.#parts;
    const { id: replayId, tenantId } = this.#replay.job;
    const { state, facts } = await loadShown(this.#parts, tenantId, sourceId);
    const [accepted] = facts;
    if (!state || accepted?.type !== "EventAccepted" || !this.#isMeant(facts)) return () => this.#isSource(sourceId);
    if (await this.#isCopyFrom(destinationId, state)) return notMeant;
    const { slot: _ofSource, messageId: _delivered, ...source } = accepted.data;
    return async () => {
      const slot = await slotOfResent(aggregates, { ...state, destinationId });
      const now = clock.now();
      const eventId = eventIdOf(now, this.#keyOf(sourceId));
      const created = decide(undefined, {
        type: "Accept",
        event: {
          ...source, eventId, destinationId, idempotencyKey: null, sourceEventId: sourceId, replayId,
          ...(slot !== null && { slot }),
        },
        at: timestamp(now),
      });
      try {
        await store.append(streams.event(eventId), noStream, entriesOf(created, this.#origin, ids));
        metrics.accepted();
        return true;
      } catch (error) {
        if (!(error instanceof RevisionConflict)) throw error;
        return this.#isSource(sourceId);
      }
    };
  }

  /** Whether an event was made, by one replay or several in turn, of one that the destination still has. */
  async #isCopyFrom(destinationId: string, { tenantId, sourceEventId }: Webhook): Promise<boolean> {
    for (let id = sourceEventId; id !== null;) {
      const { state } = await loadShown(this.#parts, tenantId, id);
      if (state?.destinationId === destinationId) return true;
      id = state?.sourceEventId ?? null;
    }
    return false;
  }

  async #isSource(sourceId: string): Promise<boolean> {
    const stream = streams.event(eventIdOf(0, this.#keyOf(sourceId)));
    const [first] = await this.#parts.store.readStream(stream, { limit: 1 });
    return first !== undefined;
  }

  #keyOf(sourceId: string): string {
    return this.#keys.ofReplayed(this.#replay.job.id, sourceId);
  }

  #isOwn({ type, metadata }: RecordedEvent<WebhookEvent>): boolean {
    return type === "EventReplayed" && metadata.causationId === this.#replay.orderId;
  }

  /** Whether the event is as it was at the order: finished, in one of the statuses. */
  #isMeant(facts: Facts): boolean {
    const { statuses, upTo } = this.#replay.job.order;
    const last = facts.findLast(({ data }) => "to" in data && data.from !== data.to);
    return last !== undefined && last.position <= upTo
      && "to" in last.data && (statuses as readonly string[]).includes(last.data.to);
  }
}

/** `instead` where the event cannot be put to work, whoever tries. */
async function orPassedOver<Result>(task: () => Promise<Result>, instead: Result): Promise<Result> {
  try {
    return await task();
  } catch (error) {
    const isOver = error instanceof UnreadableRecord || (error instanceof Refusal && error.kind !== "unavailable");
    if (!isOver) throw error;
    return instead;
  }
}
