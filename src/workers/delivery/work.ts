import type { FirstAttempt } from "../../ports/work-queue.ts";

/** One event to try: freshly accepted with all it needs, or found in the due index and still to be read. */
export type Work =
  | { readonly kind: "first"; readonly eventId: string; readonly item: FirstAttempt }
  | { readonly kind: "due"; readonly eventId: string };

/** What came of some work: nothing to do when another was first, unreadable when its record in the log is spoiled. */
export type Result = "done" | "nothing to do" | "unreadable";
