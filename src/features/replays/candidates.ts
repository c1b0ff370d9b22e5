import { events, isDocumentSelected, type EventDocument } from "../../../projections/events/events.ts";
import { acceptedMsOf } from "../../kernel/domain/event-id.ts";
import type { KernelParts } from "../../kernel/kernel-parts.ts";
import type { Position } from "../../kernel/ports/event-store.ts";
import { documentOf } from "../../kernel/read-models/scans.ts";
import { selectedBy } from "../events/selection.ts";
import type { ShownEvents } from "../events/shown-events.ts";
import type { ReplayJob, ReplayJobFilter, ReplayOrder } from "./facts.ts";

/** An event that a replay may take. */
export interface Candidate {
  readonly id: string;
  readonly destinationId: string;
  readonly position: Position;
}

/** Clocks of processes differ by less than this, so events further apart are in order by their ids. */
const skewMs = 2_000;
const pageSize = 200;
/** Candidates held in memory, beyond those of a batch. */
const mostAhead = 4_000;

/** The events of a replay by acceptance, from a cursor on, without those that left the set since the order. */
export class Candidates {
  readonly #parts;
  readonly #job: ReplayJob;
  #ahead: Candidate[] = [];
  #last: string | null;
  #ended = false;

  constructor(parts: Pick<KernelParts, "readModels"> & { readonly shown: ShownEvents }, job: ReplayJob) {
    this.#parts = parts;
    this.#job = job;
    this.#last = job.progress.cursor;
  }

  /** The next candidates, about `wanted`; none at the end. Throws a Refusal (unavailable), ReadModelsUnavailable. */
  async next(wanted: number): Promise<readonly Candidate[]> {
    let cut = 0;
    for (let further = wanted; further > cut; further = this.#behindEarlier(cut)) {
      cut = further;
      await this.#reach(cut);
    }
    const batch = this.#ahead.slice(0, cut);
    this.#ahead = this.#ahead.slice(cut);
    return batch.sort((one, other) => (one.position < other.position ? -1 : 1));
  }

  /** Finds as many candidates, and those accepted within the skew after them. */
  async #reach(count: number): Promise<void> {
    while (!this.#ended && this.#ahead.length < count + mostAhead) {
      const [first, last] = [this.#ahead[count - 1], this.#ahead.at(-1)];
      if (first && last && acceptedMsOf(last.id) - acceptedMsOf(first.id) > skewMs) return;
      await this.#findMore();
    }
  }

  #behindEarlier(count: number): number {
    const end = this.#ahead[count - 1];
    if (!end) return count;
    const latest = this.#ahead.slice(0, count).reduce((max, { position }) => (position > max ? position : max), "");
    const within = acceptedMsOf(end.id) + skewMs;
    const at = this.#ahead.findLastIndex(({ id, position }) => position < latest && acceptedMsOf(id) <= within);
    return Math.max(count, at + 1);
  }

  async #findMore(): Promise<void> {
    const { shown } = this.#parts;
    const { tenantId, order } = this.#job;
    const after = this.#last;
    const page = await shown.ask(tenantId, () =>
      (order.ids === null ? this.#page(after) : this.#named(order.ids, after)));
    this.#last = page.last ?? after;
    this.#ended = page.last === null;
    const found = page.documents.filter((document) => isMeant(this.#job, document));
    this.#ahead.push(...found.map(candidateOf));
  }

  /** A page of the events that match the filter by now, and the last id of the page; null at the end. */
  async #page(after: string | null): Promise<Page> {
    const documents = await this.#parts.shown.page(selectedBy(this.#job.tenantId, this.#job.order), {
      order: { field: events.key, descending: false }, limit: pageSize,
      ...(after !== null && { after: { value: after, key: after } }),
    });
    return { documents, last: documents.length < pageSize ? null : documents.at(-1)!.id };
  }

  /** The next of the events with the given ids. */
  async #named(ids: readonly string[], after: string | null): Promise<Page> {
    const wanted = ids.filter((id) => after === null || id > after).slice(0, pageSize);
    const found = await Promise.all(wanted.map((id) => documentOf(this.#parts.readModels, events, id)));
    return { documents: found.filter((document) => document !== null), last: wanted.at(-1) ?? null };
  }
}

interface Page {
  readonly documents: readonly EventDocument[];
  readonly last: string | null;
}

/** The event of a document. */
export function candidateOf({ id, destinationUrlId: destinationId, acceptedIn: position }: EventDocument): Candidate {
  return { id, destinationId, position };
}

/** Whether a replay takes an event, as it stands: it matches, and was finished at the order. */
export function isMeant(
  { tenantId, order }: {
    readonly tenantId: string; readonly order: ReplayJobFilter & Pick<ReplayOrder, "upTo">;
  },
  event: EventDocument,
): boolean {
  const { ids, upTo } = order;
  return isDocumentSelected(selectedBy(tenantId, order), event)
    && event.finishedIn !== null && event.finishedIn <= upTo
    && (ids === null || ids.includes(event.id));
}
