import type { PlantedBug } from "./planted-bug.ts";
import { hurried } from "./weathers.ts";

const purger = "src/features/purges/worker.ts";
const shownEvents = "src/features/events/shown-events.ts";
const queries = "src/features/events/queries.ts";
const eventDocuments = "projections/events/projection.ts";
const due = "projections/due/due.ts";

/** Mistakes in read models, in queries and in purges. */
export const shown: readonly PlantedBug[] = [
  {
    name: "reads do not wait for the read models",
    breaks: "an acknowledged event is in the next list",
    file: "src/kernel/read-models/freshness.ts",
    from: "const head = await this.#head();",
    to: "const head = (await this.#head()).slice(0, 0);",
  },
  {
    name: "a purge takes events finished after it",
    breaks: "read models are a fold of the log",
    file: "projections/purges/purges.ts",
    from: "const finished = finishedIn !== null && finishedIn <= purge.upTo;",
    to: "const finished = finishedIn !== null || purge.upTo !== \"\";",
  },
  {
    name: "a purge counts while the read models move on",
    breaks: "a purge counts the events it takes",
    file: shownEvents,
    from: "const isExact = upTo >= head && (await readModels.standsAt(upTo));",
    to: "const isExact = upTo !== \"\";",
  },
  {
    name: "a purge counts in read models that are behind",
    breaks: "a purge takes all events finished before it",
    file: shownEvents,
    from: "return this.#parts.freshness.ask((head) => this.#betweenPurges(tenantId, () => question(head)));",
    to: "return this.#betweenPurges(tenantId, () => question(\"\"));",
  },
  {
    name: "a purge deletes the stream of a later event",
    breaks: "only purged events are deleted",
    file: purger,
    from: "if (newest && !isOf(newest, eventId)) return true;\n      if (newest && newest.position > purgedAt) {",
    to: "if (newest && newest.position === \"\") {",
    weather: hurried,
  },
  {
    name: "a purged event is shown while its stream is there",
    breaks: "purged events are not shown",
    file: shownEvents,
    from: "if (!after.some(({ hiding }) => hiding) && isDeepStrictEqual(after, before)) return answer;",
    to: "if (isDeepStrictEqual(after, before)) return answer;",
  },
  {
    name: "a filter is not passed on",
    breaks: "a list obeys its filter",
    file: queries,
    from: "find: (slice) => shown.page(wanted, slice),",
    to: "find: (slice) => shown.page({ tenantId }, slice),",
  },
  {
    name: "a payload loses its last byte",
    breaks: "an event shows its own payload",
    file: "src/features/events/event-summaries.ts",
    from: "view: { ...eventView(accepted), status,",
    to: "view: { ...eventView(accepted), payload: accepted.payload.slice(0, -1), status,",
  },
  {
    name: "a total is one short",
    breaks: "a total is at least the length of its list",
    file: "src/features/events/event-totals.ts",
    from: "return parts.reduce((sum, part) => sum + part, 0);",
    to: "return parts.reduce((sum, part) => sum + part, -1);",
  },
  {
    name: "a batch applied again counts again",
    breaks: "totals agree with the log",
    file: "test/support/in-memory-read-models.ts",
    from: "if (position > state.checkpoint) changes.forEach",
    to: "if (position !== \"\") changes.forEach",
  },
  {
    name: "a move is counted for the tenant only",
    breaks: "totals by status agree with the log",
    file: "projections/events/counters.ts",
    from: "add(toOfDestination, bucket, 1),",
    to: "add(fromOfDestination, bucket, 1),",
  },
  {
    name: "cancelled events are left out of lists",
    breaks: "accepted = succeeded + dead + cancelled + purged + waiting",
    file: queries,
    from: "part.flatMap(({ view }) => (view ? { ...view, ...added(view) } : [])),",
    to: "part.flatMap(({ view }) => (view && view.status !== \"Cancelled\" ? { ...view, ...added(view) } : [])),",
  },
  {
    name: "a replayed event shows its former failures",
    breaks: "lists agree with the log",
    file: eventDocuments,
    from: "const fields = { status: fact.to, currentRetryCount: 0, nextAttemptAt: fact.nextAttemptAt };",
    to: "const fields = { status: fact.to, nextAttemptAt: fact.nextAttemptAt };",
  },
  {
    name: "an attempt that was given up is shown as failed",
    breaks: "shown attempts agree with the log",
    file: "src/features/events/facts.ts",
    from: "reason === \"outcome unknown\" ? \"unknown\" : \"failed\"",
    to: "reason === \"outcome unknown\" ? \"failed\" : \"failed\"",
  },
  {
    name: "a suspended destination is shown so for good",
    breaks: "shown destinations agree with the log",
    file: "projections/destinations/destinations.ts",
    from: "CircuitClosed: (circuit) => circuitMoved(circuit, failingSince(circuit)),",
    to: "CircuitClosed: ({ destinationId }) => [set(destinations, destinationId, { circuit: \"Open\" })],",
  },
  {
    name: "the end of an attempt leaves its lease",
    breaks: "nothing else is left in the due index",
    file: due,
    from: "return [remove(leases, `${moved.eventId}:${moved.attempt}`), ...leave(moved), ...leaveOrder(moved)];",
    to: "return [...leave(moved), ...leaveOrder(moved)];",
  },
  {
    name: "a cancelled event goes on waiting",
    breaks: "the due index holds exactly the held events",
    file: due,
    from: "EventCancelled: (cancelled) => [...leave(cancelled), ...leaveOrder(cancelled)],",
    to: "EventCancelled: leaveOrder,",
  },
  {
    name: "an event is shown with facts after the moment that was asked for",
    breaks: "an answer as of a position is a fold of the log",
    file: queries,
    from: "const facts = loaded.facts.filter(({ position }) => position <= moment.position);",
    to: "const { facts } = loaded;",
  },
  {
    name: "a story is read without the circuit",
    breaks: "stories are a fold of the log",
    file: "src/features/events/story.ts",
    from: "circuit: await read<CircuitEvent>(streams.circuit(destinationId), factsBefore),",
    to: "circuit: [],",
  },
  {
    name: "a story guesses why an event was not sent",
    breaks: "stories name only causes that the log has",
    file: "src/features/story/waits.ts",
    from: "const told = end.claim && lastOf(end.claim, causes);",
    to: "const told = end.claim && (lastOf(end.claim, causes) ?? cause(\"ordering\", eventEntry(end.claim)));",
  },
];
