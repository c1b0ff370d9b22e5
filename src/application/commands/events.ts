import { decide } from "../../domain/event/decide.ts";
import type { Webhook } from "../../domain/event/state.ts";
import { refuse } from "../../domain/refusal.ts";
import { requireRole } from "../../domain/roles.ts";
import type { Clock } from "../../ports/clock/clock.ts";
import { timestampNow } from "../../ports/clock/timestamp-now.ts";
import type { EventStore } from "../../ports/event-store.ts";
import type { Ids } from "../../ports/ids.ts";
import type { Metrics } from "../../ports/telemetry.ts";
import { requireOwn } from "../access.ts";
import { destinations } from "../aggregate-types.ts";
import type { Aggregates } from "../aggregates.ts";
import type { Caller } from "../caller.ts";
import { countFinished } from "../events/finishing.ts";
import { changeShown, type Decision } from "../events/webhooks.ts";
import type { Origin } from "../origin.ts";
import { eventView, type EventView } from "../views.ts";

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
  async replay(caller: Caller, id: string, origin: Origin, makeRoom?: MakeRoom): Promise<EventView> {
    const command = { type: "Replay", at: timestampNow(this.#parts.clock) } as const;
    const view = await this.#change(caller, id, origin, "replay events", async (event) => {
      const facts = decide(event, command);
      await this.#requireDestination(event);
      await makeRoom?.(eventView(event));
      return facts;
    });
    this.#parts.metrics.replayed();
    return view;
  }

  /** Cancels an event that waits for an attempt, for good. Throws a Refusal (not-found, forbidden, invalid). */
  async cancel(caller: Caller, id: string, origin: Origin, makeRoom?: MakeRoom): Promise<EventView> {
    const command = { type: "Cancel", reason: "requested", at: timestampNow(this.#parts.clock) } as const;
    return this.#change(caller, id, origin, "cancel events", async (event) => {
      const facts = decide(event, command);
      await makeRoom?.(eventView(event));
      return facts;
    });
  }

  async #change(caller: Caller, id: string, origin: Origin, to: string, decision: Decision): Promise<EventView> {
    const changed = await changeShown(this.#parts, caller.tenantId, id, origin, (event) => {
      requireOwn(event, caller, "event");
      requireRole(caller, "Developer", to);
      return decision(event);
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
