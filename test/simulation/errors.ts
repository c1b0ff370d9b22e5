import { Refusal } from "../../src/kernel/domain/refusal.ts";
import { LogUnavailable, RevisionConflict } from "../../src/kernel/ports/event-store.ts";
import { ExpiringStateUnavailable } from "../../src/kernel/ports/expiring-state.ts";
import { ReadModelsUnavailable } from "../../src/kernel/ports/read-models.ts";

/** Whether another try may succeed. */
export function isUnavailable(error: unknown): boolean {
  return (
    error instanceof LogUnavailable ||
    error instanceof ReadModelsUnavailable ||
    error instanceof ExpiringStateUnavailable ||
    error instanceof RevisionConflict ||
    (error instanceof Refusal && error.kind === "unavailable")
  );
}

/** Whether an error is a regular answer to a caller. */
export function isExpected(error: unknown): boolean {
  return isUnavailable(error) || error instanceof Refusal;
}

/** An error with its stack, if known. */
export function describe(error: unknown): string {
  return error instanceof Error ? (error.stack ?? error.message) : String(error);
}
