import { requireOwn, ownOf } from "../../kernel/callers/access.ts";
import type { Caller } from "../../kernel/callers/caller.ts";
import { eventIdOf, keyOfEvent } from "../../kernel/domain/event-id.ts";
import { slotOf } from "../../kernel/domain/ordering.ts";
import { refuse } from "../../kernel/domain/refusal.ts";
import { requireRole } from "../../kernel/domain/roles.ts";
import { streams } from "../../kernel/domain/streams.ts";
import { timestamp, type Timestamp } from "../../kernel/domain/time.ts";
import type { KernelParts } from "../../kernel/kernel-parts.ts";
import { type Origin, entriesOf } from "../../kernel/log/origin.ts";
import { timestampNow } from "../../kernel/ports/clock.ts";
import { noStream } from "../../kernel/ports/event-store.ts";
import { destinations, type Destination } from "../destinations/facts.ts";
import { decide, type WebhookCommand } from "./decide.ts";
import { type Webhook, evolve, noApiKey, type WebhookEvent, type WebhookState } from "./facts.ts";
import { countFinished, eventView, type EventView, changeShown, type Decision, type ShownSources } from "./webhooks.ts";

const limit = { max: 10, windowMs: 60_000 };

/** Makes room for the answer, before anything is changed. Rejects with a Refusal (unavailable). */
export type MakeRoom = (view: EventView) => Promise<void>;

/** What to send. */
export interface TestInput {
  readonly eventType?: string;
  readonly payload?: string;
}

/** Commands on accepted events; `makeRoom` is asked right before an event is changed. */
export class EventCommands {
  readonly #parts;

  constructor(parts: ShownSources & Pick<KernelParts, "clock" | "ids" | "metrics">) {
    this.#parts = parts;
  }

  /** Puts an event that was given up back to work. Throws a Refusal (not-found, forbidden, invalid, rejected). */
  replay(caller: Caller, id: string, origin: Origin, makeRoom?: MakeRoom): Promise<EventView> {
    return this.#putBack(caller, id, origin, { type: "Replay", to: "replay events" }, makeRoom);
  }

  /** Sends an event that is delivered or given up once more. Throws as {@link replay} does. */
  resend(caller: Caller, id: string, origin: Origin, makeRoom?: MakeRoom): Promise<EventView> {
    return this.#putBack(caller, id, origin, { type: "Resend", to: "resend events" }, makeRoom);
  }

  /** Makes an event's planned retry due at once. Throws a Refusal (not-found, forbidden, invalid). */
  async retry(caller: Caller, id: string, origin: Origin, makeRoom?: MakeRoom): Promise<EventView> {
    const command = { type: "BringForward", at: timestampNow(this.#parts.clock) } as const;
    return this.#decide(caller, id, origin, command, "retry events", makeRoom);
  }

  /** Cancels an event that waits for an attempt, for good. Throws a Refusal (not-found, forbidden, invalid). */
  async cancel(caller: Caller, id: string, origin: Origin, makeRoom?: MakeRoom): Promise<EventView> {
    const command = { type: "Cancel", reason: "requested", at: timestampNow(this.#parts.clock) } as const;
    return this.#decide(caller, id, origin, command, "cancel events", makeRoom);
  }

  async #putBack(
    caller: Caller, id: string, origin: Origin,
    { type, to }: { readonly type: "Replay" | "Resend"; readonly to: string },
    makeRoom?: MakeRoom,
  ): Promise<EventView> {
    const at = timestampNow(this.#parts.clock);
    const view = await this.#change(caller, id, origin, to, async (event) => {
      // An event that cannot be sent again is refused before its destination is.
      decide(event, { type, at });
      const { ordering } = await this.#destinationOf(event);
      await makeRoom?.(eventView(event));
      return decide(event, { type, slot: slotOf(ordering, event.payload), at });
    });
    this.#parts.metrics.replayed();
    return view;
  }

  #decide(
    caller: Caller, id: string, origin: Origin, command: WebhookCommand, to: string, makeRoom?: MakeRoom,
  ): Promise<EventView> {
    return this.#change(caller, id, origin, to, async (event) => {
      const facts = decide(event, command);
      await makeRoom?.(eventView(event));
      return facts;
    });
  }

  async #change(caller: Caller, id: string, origin: Origin, to: string, decision: Decision): Promise<EventView> {
    const changed = await changeShown(this.#parts, caller.tenantId, id, origin, (event, before) => {
      requireOwn(event, caller, "event");
      requireRole(caller, "Developer", to);
      return decision(event, before);
    });
    const { event, facts } = changed ?? refuse("not-found", "event not found");
    countFinished(this.#parts.metrics, facts);
    return eventView(event);
  }

  async #destinationOf({ destinationId }: Webhook): Promise<Destination> {
    const { state } = await this.#parts.aggregates.current(destinations, destinationId);
    return !state || state.deleted ? refuse("rejected", "the event's destination was deleted") : state;
  }
}

/** Sends test events to destinations. */
export class TestEventCommands {
  readonly #parts;

  constructor(parts: Pick<KernelParts, "store" | "state" | "aggregates" | "clock" | "ids" | "metrics">) {
    this.#parts = parts;
  }

  /** Accepts a test event for a destination of any status. Throws a Refusal. */
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
