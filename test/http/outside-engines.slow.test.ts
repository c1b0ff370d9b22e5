import { onOutsideEngines } from "../support/api-engines.ts";

/** The files of this folder whose suites `make test` runs on embedded engines only. */
const files = [
  "api-keys", "as-of", "audit", "bulk-filters", "cursors", "destination-histories", "event-filters", "event-scans",
  "event-summaries", "histories", "history-filters", "incidents", "lookup", "processes", "refusals", "replays",
  "statistics", "story", "stream", "subscriptions", "views",
];

await onOutsideEngines(async () => {
  for (const file of files) await import(`./${file}.test.ts`);
});
