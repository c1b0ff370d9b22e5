import { ownOf } from "../../kernel/callers/access.ts";
import type { Caller } from "../../kernel/callers/caller.ts";
import { eventIdOf, keyOfEvent } from "../../kernel/domain/event-id.ts";
import { refuse } from "../../kernel/domain/refusal.ts";
import { requireRole } from "../../kernel/domain/roles.ts";
import { streams } from "../../kernel/domain/streams.ts";
import { timestamp, type Timestamp } from "../../kernel/domain/time.ts";
import type { Aggregates } from "../../kernel/log/aggregates.ts";
import { entriesOf, type Origin } from "../../kernel/log/origin.ts";
import type { Clock } from "../../kernel/ports/clock.ts";
import { noStream, type EventStore } from "../../kernel/ports/event-store.ts";
import type { ExpiringState } from "../../kernel/ports/expiring-state.ts";
import type { Ids } from "../../kernel/ports/ids.ts";
import type { Metrics } from "../../kernel/ports/telemetry.ts";
import { destinations } from "../destinations/facts.ts";
import { decide } from "./decide.ts";
import { evolve, noApiKey, type WebhookEvent, type WebhookState } from "./facts.ts";
import { eventView, type EventView } from "./webhooks.ts";

/** What to send. */
export interface TestInput {
  readonly eventType?: string;
  /** The JSON text of an object. */
  readonly payload?: string;
}

/** Test events of one destination. */
const limit = { max: 10, windowMs: 60_000 };

interface TestEventParts {
  readonly store: EventStore;
  readonly state: Pick<ExpiringState, "admit">;
  readonly aggregates: Aggregates;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly metrics: Pick<Metrics, "accepted">;
}

/** Sends test events to destinations. */
export class TestEventCommands {
  readonly #parts: TestEventParts;

  constructor(parts: TestEventParts) {
    this.#parts = parts;
  }

  /**
   * Accepts a test event for a destination, whatever the destination's status; without a payload, one that says that it
   * is a test. `makeRoom` is asked right before. Throws a Refusal (not-found, forbidden, too-many, unavailable).
   */
  async send(
    caller: Caller, destinationId: string, input: TestInput, origin: Origin,
    makeRoom?: (view: EventView) => Promise<void>,
  ): Promise<EventView> {
    const { store, state, aggregates, clock, ids, metrics } = this.#parts;
    const { id, tenantId } = await ownOf(aggregates, destinations, destinationId, caller, "destination");
    requireRole(caller, "Developer", "send test events");
    if (!(await state.admit([`test-event:${id}`], limit))) {
      refuse("too-many", "this destination was sent 10 test events within a minute; try again later");
    }
    const now = clock.now();
    const [at, eventId] = [timestamp(now), eventIdOf(now, keyOfEvent(ids.uuid()))];
    const { eventType, payload = usualPayload(eventType, at) } = input;
    const facts = decide(undefined, {
      type: "Accept",
      event: {
        eventId, tenantId, destinationId: id, apiKeyId: noApiKey, senderId: null, senderRevision: null,
        idempotencyKey: null, payload, original: null, ...(eventType !== undefined && { eventType }), test: true,
      },
      at,
    });
    const event = facts.reduce<WebhookState>((before, fact: WebhookEvent) => evolve(before, fact), undefined);
    const view = event ? eventView(event) : refuse("unavailable", "the event was not made");
    await makeRoom?.(view);
    await store.append(streams.event(eventId), noStream, entriesOf(facts, origin, ids));
    metrics.accepted();
    return view;
  }
}

/** As Standard Webhooks shape their bodies. */
function usualPayload(eventType: string | undefined, timestamp: Timestamp): string {
  return JSON.stringify({ type: eventType ?? "test", timestamp, data: { message: "This is a test event." } });
}
