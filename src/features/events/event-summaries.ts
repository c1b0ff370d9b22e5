import type { EventDocument } from "../../../projections/events/events.ts";
import type { components } from "../../../schemas/api.ts";
import type { LongReads } from "../../kernel/log/long-reads.ts";
import { UnreadableRecord } from "../../kernel/log/unreadable.ts";
import type { EventStore, RecordedEvent } from "../../kernel/ports/event-store.ts";
import { inProgress, outcomeOf, withoutWithdrawn, type AttemptEnded, type WebhookEvent, evolve } from "./facts.ts";
import {
  acceptanceOf, type EventView, loadShown, type LoadedWebhook, eventView, type ShownSources,
} from "./webhooks.ts";

const previewCharacters = 200;

/** Events whose payloads are read first, before it is known how large they are. */
const firstEvents = 1;

/** Most events whose payloads are read at once after the first read, as they may be larger. Usual pages take two. */
const mostEvents = 19;

/** Characters of payloads in one part, unless one event alone has more. */
const charactersAtOnce = 256 * 1024;

/** An event of the read models with its payload; null where it was purged meanwhile, or this process cannot read it. */
export interface HydratedEvent {
  readonly document: EventDocument;
  readonly view: EventView | null;
}

/** An event as a summary shows it. */
export type EventSummaryView = Readonly<components["schemas"]["EventSummary"]>;

/** One attempt to deliver an event. */
export type AttemptView = Readonly<components["schemas"]["Attempt"]>;

type LastAttempt = EventSummaryView["lastAttempt"];

/** The summaries of events, without those that are gone. Only of a late outcome the event's own facts are read. */
export async function summariesOf(
  sources: ShownSources, tenantId: string, events: readonly HydratedEvent[],
): Promise<readonly EventSummaryView[]> {
  const shown = await Promise.all(events.map(async ({ document, view }) => {
    if (view === null) return [];
    const lastAttempt = await lastAttemptOf(sources, tenantId, document);
    return [summaryView(view, { attempts: document.attempts, lastAttempt })];
  }));
  return shown.flat();
}

/** The summary of an event by its facts. */
export function summaryOf(view: EventView, facts: LoadedWebhook["facts"]): EventSummaryView {
  const attempts = attemptsOf(facts);
  const last = attempts.at(-1);
  return summaryView(view, { attempts: last?.number ?? 0, lastAttempt: last ? attemptSummary(last) : null });
}

/** Events with their payloads, which are only in the log, in parts of a bounded size. Throws LogUnavailable. */
export async function* hydrated(
  { store, reads }: { readonly store: Pick<EventStore, "readStream">; readonly reads: LongReads },
  tenantId: string,
  documents: readonly EventDocument[],
): AsyncGenerator<readonly HydratedEvent[], void> {
  let characters = 0;
  for (let from = 0, count = firstEvents; from < documents.length;) {
    const wanted = documents.slice(from, from + count);
    const read = await reads.run(tenantId, (turn) =>
      turn(() => Promise.all(wanted.map((document) => hydrate(store, document)))));
    const part = fitting(read);
    yield part;
    from += part.length;
    characters += part.reduce((sum, { view }) => sum + (view?.payload.length ?? 0), 0);
    count = Math.max(1, Math.min(mostEvents, Math.floor((charactersAtOnce * from) / Math.max(1, characters))));
  }
}

/** The attempts that the facts of an event tell of, by number. An outcome that came late replaces "unknown". */
export function attemptsOf(facts: readonly RecordedEvent<WebhookEvent>[]): readonly AttemptView[] {
  const attempts = new Map<number, AttemptView>();
  for (const fact of withoutWithdrawn(facts)) {
    if (fact.type === "DeliveryAttemptStarted") {
      const { attempt: number, at: startedAt, url: destinationUrl } = fact.data;
      attempts.set(number, {
        ...inProgress(number), startedAt, finishedAt: null, requestHeaders: null, responseHeaders: null,
        responseBody: null, truncated: false, destinationUrl,
      });
    } else if (fact.type === "DeliverySucceeded" || fact.type === "DeliveryFailed") {
      const started = attempts.get(fact.data.attempt);
      if (started) attempts.set(started.number, { ...started, ...endOf(fact) });
    }
  }
  return [...attempts.values()];
}

function summaryView(
  { payload, ...view }: EventView,
  { attempts, lastAttempt }: Pick<EventSummaryView, "attempts" | "lastAttempt">,
): EventSummaryView {
  return { ...view, payloadBytes: Buffer.byteLength(payload), preview: previewOf(payload), attempts, lastAttempt };
}

function attemptSummary(attempt: AttemptView): NonNullable<LastAttempt> {
  const { number, finishedAt, outcome, statusCode, reason, durationMs } = attempt;
  return { number, finishedAt, outcome, statusCode, reason, durationMs };
}

async function lastAttemptOf(sources: ShownSources, tenantId: string, document: EventDocument): Promise<LastAttempt> {
  const known = recorded(document);
  const isCertain = known === null || known.outcome === "in progress" || document.endedAttempt === document.attempts;
  if (isCertain && known?.outcome !== "unknown") return known;
  try {
    const { facts } = await loadShown(sources, tenantId, document.id);
    const last = attemptsOf(facts).at(-1);
    return last ? attemptSummary(last) : known;
  } catch (error) {
    if (error instanceof UnreadableRecord) return known;
    throw error;
  }
}

function recorded(document: EventDocument): LastAttempt {
  const { attempts: number, endedAttempt, endedAt, endedStatusCode, endedReason, endedDurationMs } = document;
  if (number === 0) return null;
  const outcome = endedAttempt === null ? "in progress"
    : endedReason === null ? "succeeded" : endedReason === "outcome unknown" ? "unknown" : "failed";
  return {
    number, finishedAt: endedAt, outcome, statusCode: endedStatusCode, reason: endedReason, durationMs: endedDurationMs,
  };
}

function previewOf(payload: string): string {
  return [...payload.slice(0, 2 * previewCharacters)].slice(0, previewCharacters).join("");
}

function endOf(fact: AttemptEnded): Partial<AttemptView> {
  const { at: finishedAt, requestHeaders, answer } = fact.data;
  return {
    ...outcomeOf(fact), finishedAt, requestHeaders,
    responseHeaders: answer?.headers ?? null,
    responseBody: answer?.body ?? null,
    truncated: answer?.truncated ?? false,
  };
}

async function hydrate(store: Pick<EventStore, "readStream">, document: EventDocument): Promise<HydratedEvent> {
  const { status, currentRetryCount, nextAttemptAt, deliveredAt } = document;
  const first = await acceptanceOf(store, document);
  const accepted = first && evolve(undefined, first);
  if (!accepted) return { document, view: null };
  return { document, view: { ...eventView(accepted), status, currentRetryCount, nextAttemptAt, deliveredAt } };
}

function fitting(read: readonly HydratedEvent[]): readonly HydratedEvent[] {
  let characters = 0;
  const end = read.findIndex(({ view }, at) => {
    characters += view?.payload.length ?? 0;
    return at > 0 && characters > charactersAtOnce;
  });
  return end < 0 ? read : read.slice(0, end);
}
