import type { Caller } from "../../kernel/callers/caller.ts";
import { millis } from "../../kernel/domain/time.ts";
import { pageOf, type Page, type PageRequest } from "../../kernel/read-models/paging.ts";
import { refusalLimits, type RefusalGroup, type RefusedRequests } from "./refused-requests.ts";

/** Filters of refused requests; `from` and `to` are inclusive, and a group matches with any moment of its time. */
export interface RefusalFilter {
  readonly from?: string | undefined;
  readonly to?: string | undefined;
  readonly destinationUrlId?: string | undefined;
  readonly senderId?: string | undefined;
  readonly status?: number | undefined;
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
