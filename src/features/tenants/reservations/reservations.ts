import { isDeepStrictEqual } from "node:util";
import { refuse } from "../../../kernel/domain/refusal.ts";
import { categoryOf, streams, subjectOf } from "../../../kernel/domain/streams.ts";
import type { KernelParts } from "../../../kernel/kernel-parts.ts";
import type { Folded } from "../../../kernel/log/aggregates.ts";
import { entriesOf, serviceOrigin, type Origin } from "../../../kernel/log/origin.ts";
import { refuseUnreadable } from "../../../kernel/log/unreadable.ts";
import { timestampNow } from "../../../kernel/ports/clock.ts";
import { LogUnavailable, noStream, RevisionConflict, type RecordedEvent } from "../../../kernel/ports/event-store.ts";
import { tenants, type Tenant, type TenantEvent } from "../facts.ts";
import { availability, evolve, type Holder, type ReservationEvent, type ReservationState } from "./facts.ts";

/** A name wanted for a holder. */
export interface Claim {
  /** `email-<hash>` or `tenantName-<hash>`. */
  readonly stream: string;
  readonly holder: Holder;
  /** The message to the caller when another holder has the name. */
  readonly taken: string;
  /** The message to the caller when the same holder has the name, by another request at the same moment. */
  readonly overtaken?: string;
}

/** A name held, by the fact that made it so. */
export interface Reservation {
  readonly stream: string;
  readonly revision: number;
  readonly holder: Holder;
}

interface StoredReservation {
  readonly state: ReservationState;
  readonly revision: number;
}

/** How often a reservation is tried while rivals are first. */
const attempts = 20;

/** Names that are unique on the platform, reserved before their use; unused reservations are taken over after 30 s. */
export class Reservations {
  readonly #parts;

  constructor(parts: Pick<KernelParts, "store" | "aggregates" | "clock" | "ids">) {
    this.#parts = parts;
  }

  /** Reserves all names and runs `use`; gives them back where that fails. Throws a Refusal (conflict). */
  async during<Result>(
    claims: readonly Claim[],
    origin: Origin,
    use: (reservations: readonly string[]) => Promise<Result>,
  ): Promise<Result> {
    const held: Reservation[] = [];
    try {
      // A request that cannot have all its names must not keep others from any of them.
      for (const claim of claims.slice(1)) await this.#requireUnused(claim);
      for (const claim of claims) held.push(await this.#reserve(claim, origin));
      return await use(held.map(nameOf));
    } catch (error) {
      if (!(error instanceof LogUnavailable)) await Promise.all(held.map((one) => this.release(one, origin)));
      throw error;
    }
  }

  /** Reserves a name as {@link during} does; once `use` has put it in the former's place, that is given back. */
  async exchange(
    former: string, claim: Claim, origin: Origin, use: (reservation?: string) => Promise<unknown>,
  ): Promise<void> {
    const previous = await this.find(former);
    await this.during([claim], origin, ([reservation]) => use(reservation));
    if (previous && isDeepStrictEqual(previous.holder, claim.holder)) await this.release(previous, origin);
  }

  /** The current reservation of a name, or undefined. */
  async find(stream: string): Promise<Reservation | undefined> {
    const { state, revision } = await this.#read(stream);
    return state?.holder ? { stream, revision, holder: state.holder } : undefined;
  }

  /** Gives a name back, unless the reservation is no longer the current one. */
  async release({ stream, revision, holder }: Reservation, origin: Origin): Promise<void> {
    const event: ReservationEvent = { type: "NameReleased", data: { holder, at: timestampNow(this.#parts.clock) } };
    try {
      await this.#parts.store.append(stream, revision, entriesOf([event], origin, this.#parts.ids));
    } catch (error) {
      if (!(error instanceof RevisionConflict) && !(error instanceof LogUnavailable)) throw error;
    }
  }

  /** Takes back a name that its holder does not use. Throws a Refusal (conflict), and RevisionConflict. */
  async withdraw({ stream, holder, taken }: Claim, origin: Origin): Promise<void> {
    const held = await this.find(stream);
    if (!held || !isDeepStrictEqual(held.holder, holder)) return;
    await this.#refuseHolder(held, taken);
    await this.release(held, origin);
  }

  async #reserve(claim: Claim, origin: Origin): Promise<Reservation> {
    const { stream, holder, taken } = claim;
    for (let attempt = 1; attempt <= attempts; attempt += 1) {
      const { state, revision } = await this.#requireNotHeld(claim);
      try {
        if (state?.holder) await this.#refuseHolder({ stream, revision, holder: state.holder }, taken);
        const event: ReservationEvent = { type: "NameReserved", data: { holder, at: timestampNow(this.#parts.clock) } };
        const appended = await this.#parts.store.append(stream, revision, entriesOf([event], origin, this.#parts.ids));
        return { stream, revision: appended.revision, holder };
      } catch (error) {
        if (!(error instanceof RevisionConflict)) throw error;
      }
    }
    refuse("conflict", taken);
  }

  /** Throws a Refusal (conflict) where a name is held or used; it may be reserved right after. */
  async #requireUnused(claim: Claim): Promise<void> {
    const { stream, taken } = claim;
    const { state } = await this.#requireNotHeld(claim);
    if (state?.holder && (await this.#holderOf(stream, state.holder)).uses) refuse("conflict", taken);
  }

  /** The state of a name that no command under way may hold. Throws a Refusal (conflict) where one may. */
  async #requireNotHeld({ stream, holder, taken, overtaken = taken }: Claim): Promise<StoredReservation> {
    const stored = await this.#read(stream);
    const found = availability(stored.state, timestampNow(this.#parts.clock));
    if (found === "held") refuse("conflict", isDeepStrictEqual(stored.state?.holder, holder) ? overtaken : taken);
    return stored;
  }

  /** The tenant of a name's holder, and whether the holder uses the name. */
  async #holderOf(stream: string, { tenantId, userId }: Holder): Promise<Folded<Tenant> & { readonly uses: boolean }> {
    const { state, revision } = await this.#parts.aggregates.current(tenants, tenantId);
    const hash = subjectOf(stream);
    const uses = categoryOf(stream) === "tenantName"
      ? state?.nameHash === hash
      : userId !== null && state?.users.get(userId)?.emailHash === hash;
    return { state, revision, uses };
  }

  /** Makes sure that the holder can no longer use its reservation. Throws RevisionConflict when the holder moved. */
  async #refuseHolder(reservation: Reservation, taken: string): Promise<void> {
    const { stream, holder } = reservation;
    const { state, revision, uses } = await this.#holderOf(stream, holder);
    if (uses) refuse("conflict", taken);
    if (state?.refused.has(nameOf(reservation))) return;
    const data = { reservation: nameOf(reservation), at: timestampNow(this.#parts.clock) };
    const event: TenantEvent = { type: "ReservationRefused", data };
    // The holder may be another tenant: its history tells neither who asked for the name nor by which request.
    const own = serviceOrigin("reservations", this.#parts.ids);
    await this.#parts.store.append(streams.tenant(holder.tenantId), revision, entriesOf([event], own, this.#parts.ids));
  }

  async #read(stream: string): Promise<StoredReservation> {
    const [entry] = await this.#parts.store.readStream(stream, { backwards: true, limit: 1 });
    if (!entry) return { state: undefined, revision: noStream };
    if (entry.unreadable !== undefined) refuseUnreadable("the record of this name", entry);
    return { state: evolve(undefined, entry as RecordedEvent<ReservationEvent>), revision: entry.revision };
  }
}

function nameOf({ stream, revision }: Reservation): string {
  return `${stream}@${revision}`;
}
