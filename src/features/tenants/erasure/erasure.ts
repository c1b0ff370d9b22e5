import pLimit from "p-limit";
import { tenantOf } from "../../../kernel/domain/domain-event.ts";
import { refuse } from "../../../kernel/domain/refusal.ts";
import { streams, refusalsOf } from "../../../kernel/domain/streams.ts";
import type { Aggregates } from "../../../kernel/log/aggregates.ts";
import { entriesOf, serviceOrigin, type Origin } from "../../../kernel/log/origin.ts";
import { type Clock, timestampNow } from "../../../kernel/ports/clock.ts";
import {
  LogUnavailable, logStart, noStream, type EventStore, type LogEntry, type RecordedEvent, type UnreadableEntry,
} from "../../../kernel/ports/event-store.ts";
import type { ExpiringState } from "../../../kernel/ports/expiring-state.ts";
import type { Ids } from "../../../kernel/ports/ids.ts";
import { decide } from "../decide.ts";
import { tenants, type TenantEvent } from "../facts.ts";
import type { ReservationEvent } from "../reservations/facts.ts";
import type { Reservations } from "../reservations/reservations.ts";

interface ErasureParts {
  readonly store: EventStore;
  readonly aggregates: Aggregates;
  readonly reservations: Reservations;
  readonly state: ExpiringState;
  readonly clock: Clock;
  readonly ids: Ids;
}

/** The steps that differ between stopped and running relays. */
export interface ErasureSteps {
  /** Ends the work of relays for the tenant, if there is such a tenant. */
  readonly endWork: (tenantId: string) => Promise<void>;
  /** Takes the tenant, whose streams are deleted, out of the read models. */
  readonly forget: (tenantId: string) => Promise<void>;
}

const marker = "erasure/tenant";
const batch = 1_000;

/**
 * Removes a tenant and all that belongs to it from the log, once nothing works for that tenant. Every step can be
 * repeated, and the expiring state names the tenant from the first deletion until `forget` is done: so the next run of
 * the command, or start of the relay, finishes an interrupted erasure.
 */
export class Erasure {
  readonly #parts: ErasureParts;
  readonly #steps: ErasureSteps;
  /** One tenant is erased at a time. */
  readonly #exclusively = pLimit(1);

  constructor(parts: ErasureParts, steps: ErasureSteps) {
    this.#parts = parts;
    this.#steps = steps;
  }

  /**
   * Erases a tenant, or finishes its erasure; resolves with how many streams were deleted here. Throws a Refusal:
   * not-found, or unavailable where a newer release has to do it, since this one cannot tell to which tenant a part of
   * the log belongs.
   */
  erase(tenantId: string): Promise<number> {
    return this.#exclusively(() => this.#erase(tenantId));
  }

  /**
   * Finishes an erasure that a kill interrupted; resolves with the tenant's id, or null where there was none. Throws a
   * Refusal (unavailable) as {@link erase} does.
   */
  async resume(): Promise<string | null> {
    const tenantId = await this.#unfinished();
    if (tenantId !== null) await this.#resume(tenantId);
    return tenantId;
  }

  async #erase(tenantId: string): Promise<number> {
    const { aggregates, state, clock } = this.#parts;
    await this.#steps.endWork(tenantId);
    const unfinished = await this.#unfinished();
    const finished = unfinished === null ? 0 : await this.#resume(unfinished);
    if (unfinished === tenantId) return finished;
    await this.#requireReadable(tenantId);
    const { state: tenant } = await aggregates.current(tenants, tenantId);
    if (!tenant) refuse("not-found", `there is no tenant ${tenantId}`);
    await state.put(marker, tenantId, null);
    const command = { type: "EraseTenant", at: timestampNow(clock) } as const;
    await aggregates.change(tenants, tenantId, this.#origin(), (current) => (current ? decide(current, command) : []));
    return this.#finish(tenantId);
  }

  async #resume(tenantId: string): Promise<number> {
    await this.#requireReadable(tenantId);
    return this.#finish(tenantId);
  }

  /**
   * Refuses unless all of it can be erased: only a newer release may be able to tell that entries it wrote are the
   * tenant's.
   */
  async #requireReadable(tenantId: string): Promise<void> {
    const { store } = this.#parts;
    const others = new Set<string>();
    for await (const entries of pagesOfLog(store)) {
      for (const entry of entries) {
        if (entry.unreadable === undefined || !entry.newer || others.has(entry.stream)) continue;
        const owner = await this.#ownerOf(entry.stream);
        if (owner !== undefined && owner !== tenantId) others.add(entry.stream);
        else if (await this.#isThere(entry)) refuse("unavailable", leftToNewer(entry));
      }
    }
  }

  /** The tenant that the first fact of a stream names, if it does and can be read. */
  async #ownerOf(stream: string): Promise<string | undefined> {
    const [first] = await this.#parts.store.readStream(stream, { limit: 1 });
    if (first?.unreadable !== undefined) return undefined;
    return first && tenantOf(first);
  }

  /**
   * Whether an entry is still in its stream: an engine may go on giving deleted entries to readers of the whole log.
   */
  async #isThere({ stream, revision }: UnreadableEntry): Promise<boolean> {
    const [entry] = await this.#parts.store.readStream(stream, { from: revision, limit: 1 });
    return entry?.revision === revision;
  }

  async #unfinished(): Promise<string | null> {
    const [tenantId] = await this.#parts.state.get([marker]);
    return tenantId || null;
  }

  async #finish(tenantId: string): Promise<number> {
    const { store, state, clock } = this.#parts;
    const own = streams.tenant(tenantId);
    let deleted = 0;
    for await (const entries of pagesOfLog(store)) {
      const found = new Set<string>();
      for (const entry of entries) {
        if (entry.unreadable !== undefined || entry.stream === own) continue;
        if (isReservation(entry)) await this.#release(entry, tenantId);
        else if (tenantOf(entry) === tenantId) found.add(entry.stream);
      }
      await Promise.all([...found].map((stream) => store.deleteStream(stream)));
      deleted += found.size;
    }
    // Last: after it, only the marker knows that there is a tenant to erase.
    await store.deleteStream(own);
    const event: TenantEvent = { type: "TenantErased", data: { tenantId, at: timestampNow(clock) } };
    await store.append(own, noStream, entriesOf([event], this.#origin(), this.#parts.ids));
    await this.#steps.forget(tenantId);
    await state.dropTallies(refusalsOf(tenantId));
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

async function* pagesOfLog(store: Pick<EventStore, "readLog">): AsyncGenerator<readonly LogEntry[], void> {
  for (let after = logStart; ;) {
    const { entries, upTo } = await store.readLog(after, batch);
    yield entries;
    if (entries.length === 0 && upTo <= after) return;
    after = upTo;
  }
}

function leftToNewer({ type, stream }: UnreadableEntry): string {
  return `a newer release of the relay wrote an entry of type ${type} into the stream ${stream}: erase the tenant with `
    + "that release, which can tell all that belongs to it";
}

function isReservation(entry: RecordedEvent): entry is RecordedEvent<ReservationEvent> {
  return entry.type === "NameReserved" || entry.type === "NameReleased";
}
