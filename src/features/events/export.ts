import type { EventDocument, EventFilter } from "../../../projections/events/events.ts";
import { withinAudience } from "../../kernel/callers/access.ts";
import type { Caller } from "../../kernel/callers/caller.ts";
import { Refusal, refuse } from "../../kernel/domain/refusal.ts";
import type { KernelParts } from "../../kernel/kernel-parts.ts";
import { LongReads } from "../../kernel/log/long-reads.ts";
import { UnreadableRecord } from "../../kernel/log/unreadable.ts";
import type { Position } from "../../kernel/ports/event-store.ts";
import type { PlaceInOrder } from "../../kernel/ports/read-models.ts";
import type { PageInParts, PageRequest } from "../../kernel/read-models/paging.ts";
import type { PlatformKeys } from "../../kernel/sealing/platform-keys.ts";
import type { ToldFact } from "../history.ts";
import { type AttemptView, hydrated } from "./event-summaries.ts";
import type { EventListFilter, EventQueries } from "./queries.ts";
import { narrowed } from "./search.ts";
import type { ShownEvents } from "./shown-events.ts";
import type { EventView } from "./webhooks.ts";

const documentsAtOnce = 100;

/** The content type of lines that are each a JSON value. */
export const jsonLines = "application/x-ndjson";

/** Memory of such an answer, bytes: as that of a streamed page. */
export const linesBytes = 1024 * 1024;

const pieceCharacters = 64 * 1024;

/** What an export has of each event beside the event itself. */
export type Included = "attempts" | "history";

/** An exported event. Attempts and history are read as they are iterated; null where they cannot be read. */
export interface ExportedEvent {
  readonly event: EventView;
  readonly attempts?: PageInParts<AttemptView>["parts"] | null;
  readonly history?: PageInParts<ToldFact>["parts"] | null;
}

/** Exported events in order of acceptance, some at once; at the end their number, and the place they reach. */
export type ExportPart =
  | { readonly events: readonly ExportedEvent[] }
  | { readonly end: true; readonly count: number; readonly position: Position };

interface Walk {
  readonly filter: (EventFilter & EventListFilter) | null;
  readonly position: Position;
  readonly included: readonly Included[];
}

/** Exports events: walks all that match, in small portions. */
export class EventExport {
  readonly #parts;
  readonly #reads = new LongReads();

  constructor(
    parts: Pick<KernelParts, "store" | "aggregates" | "readModels">
      & {
        readonly shown: ShownEvents; readonly keys: PlatformKeys;
        readonly events: Pick<EventQueries, "attempts" | "history">;
      },
  ) {
    this.#parts = parts;
  }

  /** Every event of the tenant that matches and was accepted by now. Throws a Refusal (unavailable), LogUnavailable. */
  async export(
    caller: Caller, filter: EventListFilter, included: readonly Included[], over: AbortSignal,
  ): Promise<AsyncIterable<ExportPart>> {
    const position = await this.#parts.shown.ask(caller.tenantId, async (head) => head);
    const own = { tenantId: caller.tenantId, ...withinAudience(caller, filter) };
    const walked = await narrowed(this.#parts, own);
    return this.#walk(caller, { filter: walked, position, included }, over);
  }

  async *#walk(
    caller: Caller, { filter, position, included }: Walk, over: AbortSignal,
  ): AsyncGenerator<ExportPart, void> {
    const sources = { store: this.#parts.store, reads: this.#reads };
    const isCut = () => over.aborted;
    let count = 0;
    let after: PlaceInOrder | undefined;
    for (let isOver = filter === null; filter !== null && !isOver;) {
      if (isCut()) return;
      const documents = await this.#page(filter, after, position);
      const wanted = documents.filter(({ acceptedIn, idempotencyKey }) =>
        acceptedIn <= position && (filter.idempotencyKey === undefined || filter.idempotencyKey === idempotencyKey));
      for await (const part of hydrated(sources, caller.tenantId, wanted)) {
        const views = part.flatMap(({ view }) => view ?? []);
        for (const view of included.length > 0 ? views : []) {
          if (isCut()) return;
          const exported = await this.#with(caller, view, included);
          if (!exported) continue;
          count += 1;
          yield { events: [exported] };
        }
        if (isCut()) return;
        if (included.length > 0) continue;
        count += views.length;
        yield { events: views.map((event) => ({ event })) };
      }
      isOver = documents.length < documentsAtOnce;
      const last = documents.at(-1)?.id;
      if (last !== undefined) after = { value: last, key: last };
    }
    yield { end: true, count, position };
  }

  /** Of read models that were lost meanwhile, an answer may lack events. */
  async #page(
    filter: EventFilter, after: PlaceInOrder | undefined, position: Position,
  ): Promise<readonly EventDocument[]> {
    const { shown, readModels } = this.#parts;
    const order = { field: "id", descending: false };
    const found = await shown.page(filter, { order, limit: documentsAtOnce, ...(after && { after }) });
    if ((await readModels.checkpoint()) < position) refuse("unavailable", "the read models are being built again");
    return found;
  }

  async #with(caller: Caller, event: EventView, included: readonly Included[]): Promise<ExportedEvent | undefined> {
    const { events } = this.#parts;
    try {
      const attempts = included.includes("attempts") && (await events.attempts(caller, event.id, everything("number")));
      const history = included.includes("history") && (await events.history(caller, event.id, everything("revision")));
      return { event, ...(attempts && { attempts: attempts.parts }), ...(history && { history: history.parts }) };
    } catch (error) {
      const unknown = Object.fromEntries(included.map((what) => [what, null]));
      if (error instanceof UnreadableRecord) return { event, ...unknown };
      if (error instanceof Refusal && error.kind === "not-found") return undefined;
      throw error;
    }
  }
}

/** Values as lines of JSON. */
export async function* linesOf(parts: AsyncIterable<readonly object[]>): AsyncGenerator<string, void> {
  for await (const part of parts) yield part.map((line) => `${JSON.stringify(line)}\n`).join("");
}

/** An export as lines of JSON. Attempts and facts are written as they are read: an event may have many. */
export async function* exportLinesOf(parts: AsyncIterable<ExportPart>): AsyncGenerator<string, void> {
  for await (const part of parts) {
    if (!("events" in part)) {
      yield `${JSON.stringify(part)}\n`;
      continue;
    }
    let text = "";
    for (const { event, attempts, history } of part.events) {
      text += `{"item":${JSON.stringify(event).slice(0, -1)}`;
      for (const [name, items] of Object.entries({ attempts, history })) {
        if (items === undefined) continue;
        text += `,"${name}":${items === null ? "null" : "["}`;
        if (items === null) continue;
        let separator = "";
        for await (const some of items) {
          for (const item of some) {
            text += separator + JSON.stringify(item);
            separator = ",";
          }
          if (text.length < pieceCharacters) continue;
          yield text;
          text = "";
        }
        text += "]";
      }
      text += "}}\n";
    }
    if (text !== "") yield text;
  }
}

function everything(field: string): PageRequest {
  const order = { field, descending: false };
  return { quantity: Number.MAX_SAFE_INTEGER - 1, page: 1, order, total: false, list: "" };
}
