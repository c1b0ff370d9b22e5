import { requireOwn } from "../../kernel/callers/access.ts";
import type { Caller } from "../../kernel/callers/caller.ts";
import { refuse } from "../../kernel/domain/refusal.ts";
import { requireRole } from "../../kernel/domain/roles.ts";
import type { Aggregates } from "../../kernel/log/aggregates.ts";
import type { Origin } from "../../kernel/log/origin.ts";
import { type Clock, timestampNow } from "../../kernel/ports/clock.ts";
import type { EventStore } from "../../kernel/ports/event-store.ts";
import type { Ids } from "../../kernel/ports/ids.ts";
import type { Metrics } from "../../kernel/ports/telemetry.ts";
import { destinations } from "../destinations/facts.ts";
import { decide, type WebhookCommand } from "./decide.ts";
import type { Webhook } from "./facts.ts";
import { countFinished, eventView, type EventView, changeShown, type Decision } from "./webhooks.ts";

interface EventCommandParts {
  readonly store: EventStore;
  readonly aggregates: Aggregates;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly metrics: Pick<Metrics, "finished" | "replayed">;
}

/** Makes room for the answer, before anything is changed. Rejects with a Refusal (unavailable). */
type MakeRoom = (view: EventView) => Promise<void>;

/** Commands on accepted events; `makeRoom` is asked right before an event is changed. */
export class EventCommands {
  readonly #parts: EventCommandParts;

  constructor(parts: EventCommandParts) {
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
    const command = { type, at: timestampNow(this.#parts.clock) };
    const view = await this.#change(caller, id, origin, to, async (event) => {
      const facts = decide(event, command);
      await this.#requireDestination(event);
      await makeRoom?.(eventView(event));
      return facts;
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

  async #requireDestination({ destinationId }: Webhook): Promise<void> {
    const { state } = await this.#parts.aggregates.current(destinations, destinationId);
    if (!state || state.deleted) refuse("rejected", "the event's destination was deleted");
  }
}
