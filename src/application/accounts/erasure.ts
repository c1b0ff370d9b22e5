import { refuse } from "../../domain/refusal.ts";
import type { ReservationEvent } from "../../domain/reservation/reservation.ts";
import { streams } from "../../domain/streams.ts";
import { decide } from "../../domain/tenant/decide.ts";
import type { TenantEvent } from "../../domain/tenant/events.ts";
import type { Clock } from "../../ports/clock/clock.ts";
import { timestampNow } from "../../ports/clock/timestamp-now.ts";
import { LogUnavailable, logStart, noStream, type EventStore, type RecordedEvent } from "../../ports/event-store.ts";
import type { ExpiringState } from "../../ports/expiring-state.ts";
import type { Ids } from "../../ports/ids.ts";
import { tenants } from "../aggregate-types.ts";
import type { Aggregates } from "../aggregates.ts";
import { entriesOf, serviceOrigin, type Origin } from "../origin.ts";
import type { Reservations } from "./reservations.ts";

interface ErasureParts {
  readonly store: EventStore;
  readonly aggregates: Aggregates;
  readonly reservations: Reservations;
  readonly state: ExpiringState;
  readonly clock: Clock;
  readonly ids: Ids;
}

const marker = "erasure/tenant";
const batch = 1_000;

/**
 * Removes a tenant and all that belongs to it from the log, while nothing else works on that log. Every step can be
 * repeated, and the expiring state names the tenant until `rebuild` is done: so the next run of the command, or start
 * of the relay, finishes what a kill interrupted.
 */
export class Erasure {
  readonly #parts: ErasureParts;
  readonly #rebuild: () => Promise<void>;

  /** `rebuild` builds the read models anew from the log. */
  constructor(parts: ErasureParts, rebuild: () => Promise<void>) {
    this.#parts = parts;
    this.#rebuild = rebuild;
  }

  /** Erases a tenant, or finishes that; answers how many streams were deleted. Throws a Refusal (not-found). */
  async erase(tenantId: string): Promise<number> {
    const { aggregates, state, clock } = this.#parts;
    const unfinished = await this.#unfinished();
    const finished = unfinished === null ? 0 : await this.#finish(unfinished);
    if (unfinished === tenantId) return finished;
    const { state: tenant } = await aggregates.current(tenants, tenantId);
    if (!tenant) refuse("not-found", `there is no tenant ${tenantId}`);
    await state.put(marker, tenantId, null);
    const command = { type: "EraseTenant", at: timestampNow(clock) } as const;
    await aggregates.change(tenants, tenantId, this.#origin(), (current) => (current ? decide(current, command) : []));
    return this.#finish(tenantId);
  }

  /** Finishes an erasure that a kill interrupted; answers whose it was, or null where there was none. */
  async resume(): Promise<string | null> {
    const tenantId = await this.#unfinished();
    if (tenantId !== null) await this.#finish(tenantId);
    return tenantId;
  }

  async #unfinished(): Promise<string | null> {
    const [tenantId] = await this.#parts.state.get([marker]);
    return tenantId || null;
  }

  async #finish(tenantId: string): Promise<number> {
    const { store, state, clock } = this.#parts;
    const own = streams.tenant(tenantId);
    let deleted = 0;
    let after = logStart;
    for (;;) {
      const { entries, upTo } = await store.readLog(after, batch);
      const found = new Set<string>();
      for (const entry of entries) {
        if (entry.unreadable !== undefined || entry.stream === own) continue;
        if (isReservation(entry)) await this.#release(entry, tenantId);
        else if ((entry.data as { readonly tenantId?: string }).tenantId === tenantId) found.add(entry.stream);
      }
      await Promise.all([...found].map((stream) => store.deleteStream(stream)));
      deleted += found.size;
      if (entries.length === 0 && upTo <= after) break;
      after = upTo;
    }
    // Last: after it, only the marker knows that there is a tenant to erase.
    await store.deleteStream(own);
    const event: TenantEvent = { type: "TenantErased", data: { tenantId, at: timestampNow(clock) } };
    await store.append(own, noStream, entriesOf([event], this.#origin(), this.#parts.ids));
    await this.#rebuild();
    await state.put(marker, "", 1);
    return deleted;
  }

  async #release({ stream, data }: RecordedEvent<ReservationEvent>, tenantId: string): Promise<void> {
    if (data.holder.tenantId !== tenantId) return;
    const { reservations } = this.#parts;
    const mine = async () => {
      const held = await reservations.find(stream);
      return held?.holder.tenantId === tenantId ? held : undefined;
    };
    const held = await mine();
    if (held) await reservations.release(held, this.#origin());
    if (held && (await mine())) throw new LogUnavailable(`${stream} could not be released`);
  }

  #origin(): Origin {
    return serviceOrigin("operator", this.#parts.ids);
  }
}

function isReservation(entry: RecordedEvent): entry is RecordedEvent<ReservationEvent> {
  return entry.type === "NameReserved" || entry.type === "NameReleased";
}
