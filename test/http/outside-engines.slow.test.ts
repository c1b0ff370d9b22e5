import { onOutsideEngines } from "../support/api-engines.ts";

/** The files of this folder whose suites `make test` runs on embedded engines only. */
const files = [
  "as-of", "audit", "cursors", "destination-histories", "event-filters", "event-scans", "event-summaries",
  "histories", "history-filters", "processes", "refusals", "replays", "statistics", "story", "stream",
];

await onOutsideEngines(async () => {
  for (const file of files) await import(`./${file}.test.ts`);
});
