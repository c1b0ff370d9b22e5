import type { PlantedBug } from "./planted-bug.ts";
import { hurried } from "./weathers.ts";

const purger = "src/workers/purger.ts";
const shownEvents = "src/application/shown-events.ts";
const queries = "src/application/queries/events.ts";
const eventDocuments = "projections/events/projection.ts";
const due = "projections/due/due.ts";

/** Mistakes in what is derived from the log, in what of it is shown, and in what purges take away. */
export const shown: readonly PlantedBug[] = [
  {
    name: "nobody waits for the read models",
    breaks: "everybody reads what was acknowledged",
    file: "src/application/freshness.ts",
    find: "const head = await this.#head();",
    instead: "const head = (await this.#head()).slice(0, 0);",
  },
  {
    name: "a purge takes what is finished after it",
    breaks: "read models are a fold of the log",
    file: "projections/purges/purges.ts",
    find: "const finished = finishedIn !== null && finishedIn < purge.position;",
    instead: "const finished = finishedIn !== null || purge.position !== \"\";",
  },
  {
    name: "a purge deletes whatever has the stream by now",
    breaks: "only purged events are deleted",
    file: purger,
    find: "if (!newest || !isOf(newest, eventId)) return;\n      if (newest.position > purgedAt) {",
    instead: "if (!newest) return;\n      if (newest.position === \"\") {",
    weather: hurried,
  },
  {
    name: "a purged event is shown while its stream is there",
    breaks: "what is purged is not shown",
    file: shownEvents,
    find: "if (!after.includes(hiding) && after === before) return answer;",
    instead: "if (after === before) return answer;",
  },
  {
    name: "a filter is not passed on",
    breaks: "a filter is kept to",
    file: queries,
    find: "const found = await readModels.find({ ...eventsSelected(wanted), ...sliceOf(page), order });",
    instead: "const found = await readModels.find({ ...eventsSelected({ tenantId }), ...sliceOf(page), order });",
  },
  {
    name: "a payload loses its last byte",
    breaks: "an event shows its own payload",
    file: queries,
    find: "return eventId === document.id ? { ...document, payload } : null;",
    instead: "return eventId === document.id ? { ...document, payload: payload.slice(0, -1) } : null;",
  },
  {
    name: "a total is one short",
    breaks: "a total counts the list",
    file: shownEvents,
    find: "return parts.reduce((sum, part) => sum + part, 0);",
    instead: "return parts.reduce((sum, part) => sum + part, -1);",
  },
  {
    name: "a batch applied again counts again",
    breaks: "totals are counted",
    file: "test/support/in-memory-read-models.ts",
    find: "if (position > state.checkpoint) changes.forEach",
    instead: "if (position !== \"\") changes.forEach",
  },
  {
    name: "a move is counted for the tenant only",
    breaks: "each status is counted",
    file: "projections/events/counters.ts",
    find: "add(toOfDestination, bucket, 1),",
    instead: "add(fromOfDestination, bucket, 1),",
  },
  {
    name: "cancelled events are left out of lists",
    breaks: "accepted = succeeded + dead + cancelled + purged + waiting",
    file: queries,
    find: "items: hydrated.filter((item) => item !== null)",
    instead: "items: hydrated.filter((item) => item !== null && item.status !== \"Cancelled\")",
  },
  {
    name: "a replayed event shows its former failures",
    breaks: "lists show what the log says",
    file: eventDocuments,
    find: "const fields = { status: fact.to, currentRetryCount: 0, nextAttemptAt: fact.nextAttemptAt };",
    instead: "const fields = { status: fact.to, nextAttemptAt: fact.nextAttemptAt };",
  },
  {
    name: "an attempt that was given up is shown as failed",
    breaks: "attempts are shown as they were",
    file: "src/application/queries/attempts.ts",
    find: "fact.data.reason === \"outcome unknown\" ? \"unknown\" : \"failed\"",
    instead: "fact.data.reason === \"outcome unknown\" ? \"failed\" : \"failed\"",
  },
  {
    name: "a suspended destination is shown so for good",
    breaks: "destinations are shown as they are",
    file: "projections/destinations/destinations.ts",
    find: "CircuitClosed: circuitMoved,",
    instead: "CircuitClosed: ({ destinationId }) => [set(destinations, destinationId, { circuit: \"Open\" })],",
  },
  {
    name: "the end of an attempt leaves its lease",
    breaks: "nothing else is left in the due index",
    file: due,
    find: "return [remove(leases, `${moved.eventId}:${moved.attempt}`), ...leave(moved)];",
    instead: "return leave(moved);",
  },
  {
    name: "a cancelled event goes on waiting",
    breaks: "the due index holds what is held",
    file: due,
    find: "EventCancelled: leave,",
    instead: "EventCancelled: () => [],",
  },
];
