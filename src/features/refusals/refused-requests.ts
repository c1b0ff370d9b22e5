import type { Caller } from "../../kernel/callers/caller.ts";
import { refusalsOf } from "../../kernel/domain/streams.ts";
import { timestamp, millis } from "../../kernel/domain/time.ts";
import type { KernelParts } from "../../kernel/kernel-parts.ts";
import type { Tally } from "../../kernel/ports/expiring-state.ts";
import { pageOf, type Page, type PageRequest } from "../../kernel/read-models/paging.ts";
import { sha256 } from "../../kernel/tools/hashing.ts";
import { LogThrottle } from "../../kernel/tools/log-throttle.ts";
import { tenants } from "../tenants/facts.ts";

/** An ingest request that was refused; ids are null where they are not known, or are another tenant's. */
export interface Refused {
  readonly status: number;
  readonly reason: string;
  readonly destinationUrlId: string | null;
  readonly senderId: string | null;
  readonly apiKeyId: string | null;
  readonly requestId: string;
}

/** Refused requests of one minute that differ in their id only; `requestId` is that of the last one. */
export interface RefusalGroup extends Refused {
  readonly firstAt: string;
  readonly lastAt: string;
  readonly count: number;
}

/** Filters of refused requests; `from` and `to` are inclusive, and a group matches with any moment of its time. */
export interface RefusalFilter {
  readonly from?: string | undefined;
  readonly to?: string | undefined;
  readonly destinationUrlId?: string | undefined;
  readonly senderId?: string | undefined;
  readonly status?: number | undefined;
}

/** Groups of a tenant that are kept, and for how long. */
export const refusalLimits = { most: 1_000, ttlMs: 30 * 86_400_000 } as const;

const minuteMs = 60_000;
const flushMs = 1_000;
const mostReasonCharacters = 300;
/** Groups gathered until they are written: of a tenant, and of all tenants. Some 500 bytes each. */
const mostOfTenant = 100;
const mostOfAll = 2_000;
/** Tenants looked up in the log for each write: whoever makes tenant ids up may cause no more reads. */
const mostLookups = 20;

/** Takes the place of further groups of a tenant. */
const others = { reason: "other reasons", destinationUrlId: null, senderId: null, apiKeyId: null };

class Gathered {
  readonly byTenant = new Map<string, Map<string, Tally>>();
  #groups = 0;

  /** Adds a request to its group; to the group of others where its tenant has too many. */
  add(tenantId: string, refused: Refused, now: number): void {
    const ofTenant = this.byTenant.get(tenantId) ?? new Map<string, Tally>();
    const isAdded = this.#add(tenantId, ofTenant, refused, now, mostOfTenant);
    if (!isAdded) this.#add(tenantId, ofTenant, { ...refused, ...others }, now, Infinity);
  }

  #add(tenantId: string, ofTenant: Map<string, Tally>, refused: Refused, now: number, most: number): boolean {
    const id = identityOf(refused, now);
    const group = ofTenant.get(id);
    if (!group) {
      if (ofTenant.size >= most) return false;
      // Counted nowhere: there are too many groups of too many tenants.
      if (this.#groups >= mostOfAll) return true;
      this.#groups += 1;
      this.byTenant.set(tenantId, ofTenant);
    }
    const { count, firstAt } = group ?? { count: 0, firstAt: now };
    const value = JSON.stringify(refused);
    ofTenant.set(id, { list: refusalsOf(tenantId), id, count: count + 1, firstAt, lastAt: now, value });
    return true;
  }
}

/** Counts refused posts for their tenants: best effort, with bounded memory and writes. */
export class RefusedRequests {
  readonly #parts;
  readonly #logThrottle: LogThrottle;
  #known = new Gathered();
  /** Those of ids that may be no tenant's. */
  #unknown = new Gathered();
  #isScheduled = false;
  #flushing: Promise<void> = Promise.resolve();

  constructor(parts: Pick<KernelParts, "state" | "aggregates" | "clock" | "logger">) {
    this.#parts = parts;
    this.#logThrottle = new LogThrottle(parts.clock);
  }

  /** Counts a request for the tenant that its path names. */
  count(tenantId: string, refused: Refused): void {
    const { aggregates, clock } = this.#parts;
    const tenant = aggregates.peek(tenants, tenantId);
    if (tenant && !tenant.state) return;
    const gathered = tenant || refused.apiKeyId !== null ? this.#known : this.#unknown;
    gathered.add(tenantId, { ...refused, reason: refused.reason.slice(0, mostReasonCharacters) }, clock.now());
    if (this.#isScheduled) return;
    this.#isScheduled = true;
    clock.schedule(flushMs, () => {
      this.#isScheduled = false;
      void this.flush();
    });
  }

  /** Resolves once all requests counted so far are written, or lost. */
  flush(): Promise<void> {
    return this.#flushing = this.#flushing.then(() => this.#write());
  }

  /** The groups of a tenant, newest first, with all that this process counted. Rejects as the expiring state does. */
  async of(tenantId: string): Promise<readonly RefusalGroup[]> {
    await this.flush();
    const tallies = await this.#parts.state.tallies(refusalsOf(tenantId));
    return tallies.map(({ firstAt, lastAt, count, value }) =>
      ({ firstAt: timestamp(firstAt), lastAt: timestamp(lastAt), count, ...(JSON.parse(value) as Refused) }));
  }

  async #write(): Promise<void> {
    const [known, unknown] = [this.#known, this.#unknown];
    this.#known = new Gathered();
    this.#unknown = new Gathered();
    try {
      const existing = await this.#existing([...unknown.byTenant.keys()].slice(0, mostLookups));
      const written = [...known.byTenant.values(), ...existing.map((tenantId) => unknown.byTenant.get(tenantId)!)];
      const tallies = written.flatMap((groups) => [...groups.values()]);
      if (tallies.length > 0) await this.#parts.state.tally(tallies, refusalLimits);
    } catch (error) {
      this.#tellLost(error);
    }
  }

  async #existing(tenantIds: readonly string[]): Promise<readonly string[]> {
    const read = await Promise.all(tenantIds.map(async (tenantId) => {
      const { state } = await this.#parts.aggregates.read(tenants, tenantId);
      return state ? [tenantId] : [];
    }));
    return read.flat();
  }

  #tellLost(error: unknown): void {
    const { logger } = this.#parts;
    this.#logThrottle.tell(
      String(error),
      (reason) => logger.warn({ reason }, "refused ingest requests could not be counted"),
      (reason, times) => logger.warn({ reason, times }, "refused ingest requests could still not be counted"),
    );
  }
}

/** Queries about refused ingest requests. */
export class RefusalQueries {
  readonly #refused: RefusedRequests;

  constructor(refused: RefusedRequests) {
    this.#refused = refused;
  }

  /** The newest groups of the caller's tenant that match. Rejects where the expiring state cannot be reached. */
  async list({ tenantId }: Caller, filter: RefusalFilter, page: PageRequest): Promise<Page<RefusalGroup>> {
    const groups = (await this.#refused.of(tenantId)).toReversed();
    const numbers = numbersOf(groups);
    return pageOf(groups.filter((group) => matches(filter, group)), page, (group) => numbers.get(group)!);
  }
}

function identityOf({ status, reason, destinationUrlId, senderId, apiKeyId }: Refused, now: number): string {
  const minute = Math.floor(now / minuteMs);
  return `${minute}/${sha256(JSON.stringify([status, reason, destinationUrlId, senderId, apiKeyId]))}`;
}

/** Numbers groups by their last time; a thousand of one moment, in ascending order, differ. */
function numbersOf(groups: readonly RefusalGroup[]): ReadonlyMap<RefusalGroup, number> {
  const numbers = new Map<RefusalGroup, number>();
  let before = 0;
  for (const group of groups) {
    before = Math.max(millis(group.lastAt) * refusalLimits.most, before + 1);
    numbers.set(group, before);
  }
  return numbers;
}

function matches({ from, to, destinationUrlId, senderId, status }: RefusalFilter, group: RefusalGroup): boolean {
  return (from === undefined || millis(group.lastAt) >= millis(from))
    && (to === undefined || millis(group.firstAt) <= millis(to))
    && (destinationUrlId === undefined || group.destinationUrlId === destinationUrlId)
    && (senderId === undefined || group.senderId === senderId)
    && (status === undefined || group.status === status);
}
