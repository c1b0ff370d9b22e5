import type { Appended } from "../../ports/event-store.ts";
import type { FirstAttempt } from "../../ports/work-queue.ts";
import type { Start } from "./attempts.ts";

/**
 * One event to try: freshly accepted with all it needs, found in the due index and still to be read, or claimed by the
 * append that accepts it, which may come to nothing.
 */
export type Work =
  | { readonly kind: "first"; readonly eventId: string; readonly item: FirstAttempt }
  | { readonly kind: "due"; readonly eventId: string }
  | {
      readonly kind: "claimed";
      readonly eventId: string;
      readonly start: Start;
      readonly appended: Promise<Appended | null>;
    };

/** What came of some work: nothing to do when another was first, unreadable when its record in the log is spoiled. */
export type Result = "done" | "nothing to do" | "unreadable";
