import { evolve as evolveCircuit, type CircuitEvent } from "../../src/features/circuits/facts.ts";
import {
  availabilityOf, evolve as evolveDestination, type DestinationEvent, type DestinationState,
} from "../../src/features/destinations/facts.ts";
import { evolve, type WebhookEvent, type WebhookState } from "../../src/features/events/facts.ts";
import { eventView } from "../../src/features/events/webhooks.ts";
import { withDeliveries } from "../../src/features/messages/facts.ts";
import type { SenderEvent } from "../../src/features/senders/facts.ts";
import type { Cause, Story, StoryFacts } from "../../src/features/story/story.ts";
import { tellStory } from "../../src/features/story/tell.ts";
import type { TenantEvent } from "../../src/features/tenants/facts.ts";
import type { Caller } from "../../src/kernel/callers/caller.ts";
import type { DomainEvent } from "../../src/kernel/domain/domain-event.ts";
import { streams } from "../../src/kernel/domain/streams.ts";
import { logStart, type EventLog, type Position, type RecordedEvent } from "../../src/kernel/ports/event-store.ts";
import { hold } from "./broken.ts";
import type { Node } from "./node.ts";
import type { EventRecord } from "./records.ts";

/** The number of events of each tenant of which every prefix is asked for through the API. */
const askedFor = 4;
/** Facts of the destination, and of its circuit, that the story's reader takes from before the acceptance. */
const factsBefore = 64;

type Entry = RecordedEvent;
type OfEvent = RecordedEvent<WebhookEvent>;

/** The log at the end, by stream. */
export class WholeLog {
  readonly #streams = new Map<string, Entry[]>();
  /** Facts of several deliveries may share the entry of their message. */
  readonly #byPosition = new Map<Position, Entry[]>();

  static async read(log: Pick<EventLog, "readLog">): Promise<WholeLog> {
    const whole = new WholeLog();
    for (let after = logStart; ;) {
      const { entries, upTo } = await log.readLog(after, 500);
      for (const entry of withDeliveries(entries)) if (entry.unreadable === undefined) whole.#add(entry);
      if (upTo <= after) return whole;
      after = upTo;
    }
  }

  at(position: Position): readonly Entry[] {
    return this.#byPosition.get(position) ?? [];
  }

  of<Event extends DomainEvent>(stream: string): RecordedEvent<Event>[] {
    return (this.#streams.get(stream) ?? []) as RecordedEvent<Event>[];
  }

  #add(entry: Entry): void {
    this.#byPosition.set(entry.position, [...this.at(entry.position), entry]);
    this.#streams.set(entry.stream, [...this.#streams.get(entry.stream) ?? [], entry]);
  }
}

/** Checks the stories of a tenant's events, at each prefix of their histories. Throws Broken. */
export async function checkStories(
  node: Node, caller: Caller, log: WholeLog, events: readonly EventRecord[],
): Promise<void> {
  for (const [at, event] of events.entries()) {
    // A stream may begin with the facts of an event that was purged, and whose id came again.
    const all = log.of<WebhookEvent>(streams.event(event.id));
    const facts = all.slice(all.findLastIndex(({ type }) => type === "EventAccepted"));
    for (const { position } of facts) {
      const upTo = { ...upToOf(log, facts, position), ...(event.routed && { routed: event.routed }) };
      const story = tellStory(upTo, { time: log.at(position)[0]!.metadata.at, inFlight: null, ahead: null });
      checkTold(log, story, facts.filter((fact) => fact.position <= position));
      if (at < askedFor) await checkAsked(node, caller, { event, position, upTo });
    }
  }
}

/** The facts of an event and its neighbours up to a position, as the story's reader finds them. */
function upToOf(log: WholeLog, facts: readonly OfEvent[], position: Position): StoryFacts {
  const [accepted] = facts;
  const { destinationId, tenantId } = facts[0]!.data;
  const senderId = accepted?.type === "EventAccepted" ? accepted.data.senderId : null;
  const until = <Event extends DomainEvent>(stream: string) =>
    log.of<Event>(stream).filter((fact) => fact.position <= position);
  /** With as many facts before the event was accepted. */
  const since = <Event extends DomainEvent>(stream: string, before = 0) => {
    const all = until<Event>(stream);
    const first = all.findIndex((fact) => fact.position > accepted!.position);
    return all.slice(Math.max(0, (first < 0 ? all.length : first) - before));
  };
  return {
    event: facts.filter((fact) => fact.position <= position),
    destination: since<DestinationEvent>(streams.destination(destinationId), factsBefore),
    circuit: since<CircuitEvent>(streams.circuit(destinationId), factsBefore),
    tenant: since<TenantEvent>(streams.tenant(tenantId)),
    sender: senderId === null ? [] : since<SenderEvent>(streams.sender(senderId)),
  };
}

function checkTold(log: WholeLog, { chapters, waiting }: Story, facts: readonly OfEvent[]): void {
  const [{ data: { eventId } }] = facts as [OfEvent];
  const entries = chapters.flatMap((chapter) => chapter.entries);
  const told = entries.filter(({ subject }) => subject.type === "event").map(({ position }) => position);
  hold(told.toSorted().join() === facts.map(({ position }) => position).join(),
    "stories are a fold of the log", () => `${eventId}: ${told.join()}`);
  for (const { position, type, time, actor } of entries) {
    const isRecorded = log.at(position).some((fact) =>
      fact.type === type && fact.metadata.at === time && fact.metadata.actor === actor);
    hold(isRecorded,
      "stories are a fold of the log", () => `${eventId}: ${type} at ${position}`);
  }
  const causes = [...chapters.flatMap(({ because }) => because), ...waiting?.because ?? []];
  for (const cause of causes) {
    hold(isStated(log, cause, eventId), "stories name only causes that the log has",
      () => `${eventId}: ${JSON.stringify(cause)}`);
  }
  hold(waiting === null || waiting.reason === waiting.because.at(-1)?.code,
    "stories are a fold of the log", () => `${eventId}: ${JSON.stringify(waiting)}`);
}

type Stated = Readonly<Record<string, unknown>> & { readonly probe?: unknown };

/** Whether the entry that a cause names states it. */
function isStated(log: WholeLog, { code, entry, values }: Cause, eventId: string): boolean {
  if (!entry || code === "not-recorded") return entry === null && code === "not-recorded";
  return log.at(entry.position).some((fact) =>
    fact.type === entry.type && fact.metadata.at === entry.time && states(fact, code, values, eventId));
}

function states(fact: Entry, code: Cause["code"], values: Cause["values"], eventId: string): boolean {
  const { type } = fact;
  const data = fact.data as Stated;
  const isOwn = data["eventId"] === eventId;
  const isClaim = type === "DeliveryAttemptStarted" && isOwn;
  if (isClaim && data["waitedFor"] === code) return true;
  switch (code) {
    case "first-attempt":
      return type === "EventAccepted" && isOwn;
    case "retry-schedule":
      return type === "RetryScheduled" && isOwn && data["nextAttemptAt"] === values["nextAttemptAt"];
    case "receiver-retry-after":
      return type === "DeliveryFailed" && isOwn && [429, 503].includes(statusOf(data) ?? 0);
    case "lease-lost":
      return type === "DeliveryFailed" && isOwn && data["reason"] === "outcome unknown";
    case "circuit-open":
      return type.startsWith("Circuit") && data["position"] !== "Closed";
    case "probe":
      return isClaim ? data["probe"] === true
        : type === "CircuitProbeClaimed" && (data["probe"] as { eventId?: string } | null)?.eventId === eventId;
    case "destination-inactive":
      return type === "DestinationDeactivated";
    case "receiver-pause":
      return data["pausedUntil"] === values["pausedUntil"] && !isOwn;
    case "ordering":
      return (type === "EventAccepted" || type === "EventReplayed") && isOwn && data["slot"] !== undefined;
    case "destination-deleted":
      return type === "DestinationDeleted" || (type === "EventCancelled" && data["reason"] === "destination deleted");
    case "max-attempts":
      return type === "DeliveryExhausted" && isOwn && data["reason"] === "max attempts";
    case "routed":
      return type === "EventAccepted" && isOwn && data["messageId"] === values["messageId"];
    case "not-mapped":
      return type === "DeliveryExhausted" && isOwn && data["error"] === values["error"];
    case "gone":
      return type === "DeliveryExhausted" && isOwn && data["reason"] === "gone";
    case "requested":
      if (type === "EventCancelled") return isOwn && data["reason"] === "requested";
      if (type === "EventReplayed" || type === "RetryBroughtForward") return isOwn;
      return fact.metadata.actor.type !== "service";
    default:
      return false;
  }
}

function statusOf({ answer }: Stated): number | undefined {
  return (answer as { readonly statusCode?: number } | null)?.statusCode;
}

interface AskedMoment {
  readonly event: EventRecord;
  readonly position: Position;
  readonly upTo: StoryFacts;
}

/** Compares the API's answer as of a position with a fold of the log up to there. */
async function checkAsked(
  { services: { queries: { events, destinations } } }: Node, caller: Caller, { event, position, upTo }: AskedMoment,
): Promise<void> {
  const state = upTo.event.reduce<WebhookState>(evolve, undefined);
  const { asOf, ...shown } = await events.get(caller, event.id, position);
  const what = () => `${event.id} as of ${position}: ${JSON.stringify(shown)}, not ${JSON.stringify(state)}`;
  hold(asOf?.position === position && JSON.stringify(shown) === JSON.stringify(state && eventView(state)),
    "an answer as of a position is a fold of the log", what);
  const told = await events.story(caller, event.id, position);
  hold(JSON.stringify(told.event) === JSON.stringify(shown), "stories are a fold of the log", what);
  const { waiting, chapters } = told;
  const [seen, again] = [{ waiting, chapters }, tellStory(upTo, { time: told.asOf.time, inFlight: null, ahead: null })];
  // The end of the log is the present, of which the read models know more.
  hold(waiting?.ahead != null || JSON.stringify(seen) === JSON.stringify(again),
    "stories are a fold of the log",
    () => `${event.id} as of ${position}: ${JSON.stringify(seen)}, not ${JSON.stringify(again)}`);
  const destination = upTo.destination.reduce<DestinationState>(evolveDestination, undefined);
  if (!destination || destination.deleted) return;
  const circuit = upTo.circuit.reduce<ReturnType<typeof evolveCircuit> | undefined>(evolveCircuit, undefined);
  const then = await destinations.get(caller, destination.id, position);
  const expected = [destination.url, destination.serverRateLimit, availabilityOf(destination, circuit).status];
  hold(JSON.stringify([then.url, then.serverRateLimit, then.status]) === JSON.stringify(expected),
    "an answer as of a position is a fold of the log", () => `${destination.id} as of ${position}`);
}
