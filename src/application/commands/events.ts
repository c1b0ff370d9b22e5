import { decide, type WebhookCommand } from "../../domain/event/decide.ts";
import { evolve, type Webhook } from "../../domain/event/state.ts";
import { refuse } from "../../domain/refusal.ts";
import { streams } from "../../domain/streams.ts";
import { requireRole } from "../../domain/tenant/decide.ts";
import { timestamp } from "../../domain/time.ts";
import type { Clock } from "../../ports/clock.ts";
import { RevisionConflict, type EventStore } from "../../ports/event-store.ts";
import type { Ids } from "../../ports/ids.ts";
import type { Metrics } from "../../ports/telemetry.ts";
import { requireOwn } from "../access.ts";
import { destinations } from "../aggregate-types.ts";
import type { Aggregates } from "../aggregates.ts";
import { countFinished } from "../finishing.ts";
import { entriesOf, type Origin } from "../origin.ts";
import { eventView, type EventView } from "../views.ts";
import { loadShown } from "../webhooks.ts";
import type { Caller } from "./caller.ts";

interface EventCommandParts {
  readonly store: EventStore;
  readonly aggregates: Aggregates;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly metrics: Pick<Metrics, "finished" | "replayed">;
}

/** What people do to accepted events. */
export class EventCommands {
  readonly #parts: EventCommandParts;

  constructor(parts: EventCommandParts) {
    this.#parts = parts;
  }

  /** Puts an event that was given up back to work. Throws a Refusal (not-found, forbidden, invalid, rejected). */
  async replay(caller: Caller, id: string, origin: Origin): Promise<EventView> {
    return this.#change(caller, id, origin, "replay events", { type: "Replay", at: this.#now() });
  }

  /** Takes an event that waits for an attempt out for good. Throws a Refusal (not-found, forbidden, invalid). */
  async cancel(caller: Caller, id: string, origin: Origin): Promise<EventView> {
    return this.#change(caller, id, origin, "cancel events", { type: "Cancel", reason: "requested", at: this.#now() });
  }

  async #change(caller: Caller, id: string, origin: Origin, to: string, command: WebhookCommand): Promise<EventView> {
    const { store, metrics } = this.#parts;
    for (;;) {
      const { state, revision } = await loadShown(this.#parts, id);
      if (!state) return refuse("not-found", "event not found");
      requireOwn(state, caller, "event");
      requireRole(caller, "Developer", to);
      const facts = decide(state, command);
      if (command.type === "Replay") await this.#requireDestination(state);
      try {
        await store.append(streams.event(id), revision, entriesOf(facts, origin, this.#parts));
        // A purge that came in between took the event as it was before.
        const after = command.type === "Replay" ? await loadShown(this.#parts, id) : { state };
        if (!after.state) refuse("not-found", "event not found");
        if (command.type === "Replay") metrics.replayed();
        countFinished(metrics, facts);
        return eventView(facts.reduce<Webhook>((before, fact) => evolve(before, fact) ?? before, state));
      } catch (error) {
        // A worker was first: what may be done now depends on what it did.
        if (!(error instanceof RevisionConflict)) throw error;
      }
    }
  }

  async #requireDestination({ destinationId }: Webhook): Promise<void> {
    const { state } = await this.#parts.aggregates.current(destinations, destinationId);
    if (!state || state.deleted) refuse("rejected", "the event's destination was deleted");
  }

  #now(): string {
    return timestamp(this.#parts.clock.now());
  }
}
