import type { PlantedBug } from "./planted-bug.ts";
import { hurried } from "./weathers.ts";

const purger = "src/workers/purger.ts";
const shownEvents = "src/application/events/shown-events.ts";
const queries = "src/application/queries/events.ts";
const eventDocuments = "projections/events/projection.ts";
const due = "projections/due/due.ts";

/** Mistakes in what is derived from the log, in what of it is shown, and in what purges take away. */
export const shown: readonly PlantedBug[] = [
  {
    name: "nobody waits for the read models",
    breaks: "everybody reads what was acknowledged",
    file: "src/application/freshness.ts",
    from: "const head = await this.#head();",
    to: "const head = (await this.#head()).slice(0, 0);",
  },
  {
    name: "a purge takes what is finished after it",
    breaks: "read models are a fold of the log",
    file: "projections/purges/purges.ts",
    from: "const finished = finishedIn !== null && finishedIn <= purge.upTo;",
    to: "const finished = finishedIn !== null || purge.upTo !== \"\";",
  },
  {
    name: "a purge counts while the read models move on",
    breaks: "a purge counts what it takes",
    file: shownEvents,
    from: "const isExact = upTo >= head && (await readModels.standsAt(upTo));",
    to: "const isExact = upTo !== \"\";",
  },
  {
    name: "a purge counts in read models that are behind",
    breaks: "a purge takes what was finished before it",
    file: shownEvents,
    from: "return this.#parts.freshness.ask((head) => this.#betweenPurges(tenantId, () => question(head)));",
    to: "return this.#betweenPurges(tenantId, () => question(\"\"));",
  },
  {
    name: "a purge deletes whatever has the stream by now",
    breaks: "only purged events are deleted",
    file: purger,
    from: "if (newest && !isOf(newest, eventId)) return true;\n      if (newest && newest.position > purgedAt) {",
    to: "if (newest && newest.position === \"\") {",
    weather: hurried,
  },
  {
    name: "a purged event is shown while its stream is there",
    breaks: "what is purged is not shown",
    file: shownEvents,
    from: "if (!after.some(({ hiding }) => hiding) && isDeepStrictEqual(after, before)) return answer;",
    to: "if (isDeepStrictEqual(after, before)) return answer;",
  },
  {
    name: "a filter is not passed on",
    breaks: "a filter is kept to",
    file: queries,
    from: "() => shown.page(wanted, sliceOf(page))",
    to: "() => shown.page({ tenantId }, sliceOf(page))",
  },
  {
    name: "a payload loses its last byte",
    breaks: "an event shows its own payload",
    file: queries,
    from: "return eventId === document.id ? { ...document, payload } : null;",
    to: "return eventId === document.id ? { ...document, payload: payload.slice(0, -1) } : null;",
  },
  {
    name: "a total is one short",
    breaks: "a total counts the list",
    file: "src/application/events/event-totals.ts",
    from: "return parts.reduce((sum, part) => sum + part, 0);",
    to: "return parts.reduce((sum, part) => sum + part, -1);",
  },
  {
    name: "a batch applied again counts again",
    breaks: "totals are counted",
    file: "test/support/in-memory-read-models.ts",
    from: "if (position > state.checkpoint) changes.forEach",
    to: "if (position !== \"\") changes.forEach",
  },
  {
    name: "a move is counted for the tenant only",
    breaks: "each status is counted",
    file: "projections/events/counters.ts",
    from: "add(toOfDestination, bucket, 1),",
    to: "add(fromOfDestination, bucket, 1),",
  },
  {
    name: "cancelled events are left out of lists",
    breaks: "accepted = succeeded + dead + cancelled + purged + waiting",
    file: queries,
    from: "read.slice(0, taken).filter((event) => event !== null)",
    to: "read.slice(0, taken).filter((event) => event !== null && event.status !== \"Cancelled\")",
  },
  {
    name: "a replayed event shows its former failures",
    breaks: "lists show what the log says",
    file: eventDocuments,
    from: "const fields = { status: fact.to, currentRetryCount: 0, nextAttemptAt: fact.nextAttemptAt };",
    to: "const fields = { status: fact.to, nextAttemptAt: fact.nextAttemptAt };",
  },
  {
    name: "an attempt that was given up is shown as failed",
    breaks: "attempts are shown as they were",
    file: "src/application/queries/attempts.ts",
    from: "fact.data.reason === \"outcome unknown\" ? \"unknown\" : \"failed\"",
    to: "fact.data.reason === \"outcome unknown\" ? \"failed\" : \"failed\"",
  },
  {
    name: "a suspended destination is shown so for good",
    breaks: "destinations are shown as they are",
    file: "projections/destinations/destinations.ts",
    from: "CircuitClosed: circuitMoved,",
    to: "CircuitClosed: ({ destinationId }) => [set(destinations, destinationId, { circuit: \"Open\" })],",
  },
  {
    name: "the end of an attempt leaves its lease",
    breaks: "nothing else is left in the due index",
    file: due,
    from: "return [remove(leases, `${moved.eventId}:${moved.attempt}`), ...leave(moved)];",
    to: "return leave(moved);",
  },
  {
    name: "a cancelled event goes on waiting",
    breaks: "the due index holds what is held",
    file: due,
    from: "EventCancelled: leave,",
    to: "EventCancelled: () => [],",
  },
];
