import { lines, problem, type Descriptions } from "../description.ts";
import { attempt, event, eventSummary, fact } from "../examples.ts";

/** Searches in payloads, and exports. */
export const eventScanDescriptions: Descriptions = {
  "GET /api/v1/events/search": {
    id: "searchEvents",
    tag: "Events",
    summary: "Search payloads",
    description:
      "A scan of the payloads of the events that match the filters of the list, newest first, with exactly one of " +
      "`Text` and `Pointer` with `Value`. Each line has an event that was found, as a summary, and what matched; the " +
      "last one says how far the search came. It ends after 100 hits, " +
      "5 seconds or 200,000 events, whichever is first: `nextCursor` goes on from there. `Text` is looked for in the " +
      "JSON text as it is delivered, with the escape sequences of its names and strings decoded: `\\u00eb` is found " +
      "as `\u00eb`. `Value` is compared with the text at `Pointer`, or with the JSON text of a " +
      "number, boolean or null there: with a number as it is written in the payload, or in its shortest form " +
      "of up to 15 " +
      "characters. Prefer the list's filters where they will do: they have indexes.",
    answers: {
      200: lines(
        "event-search-line", "The events that were found.",
        { item: eventSummary, match: '{"order":4711,"customer":"Zo\u00eb"' },
        { end: true, scanned: 20480, until: event.acceptedAt, nextCursor: null },
      ),
      400: problem(
        "A parameter is not valid, or the condition is missing.",
        "Text: or Pointer and Value are required", "Pointer: must be a JSON Pointer (RFC 6901), such as /customer/id",
      ),
      503: problem(
        "Two searches of the tenant are under way, or the storage cannot be reached.",
        "2 searches are under way; try again when one is done",
      ),
    },
  },
  "GET /api/v1/events/export": {
    id: "exportEvents",
    tag: "Events",
    summary: "Export events",
    description:
      "Every event that matches the filters of the list and was accepted before the request, in order of " +
      "acceptance, each as it is when its turn comes; those that are purged meanwhile may be missing. `Include` adds " +
      "the attempts, the history, or both. Without its last line an export is incomplete: ask for it again.",
    answers: {
      200: lines(
        "event-export-line", "The events.", { item: { ...event, attempts: [attempt], history: [fact] } },
        { end: true, count: 1, position: fact.position },
      ),
      400: problem(
        "A parameter is not valid, or is one of pages.",
        "Qt: is not possible here: an export has all events, in order of acceptance",
        "Include: must be one of attempts, history",
      ),
    },
  },
};
