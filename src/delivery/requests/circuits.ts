import type { Aggregates } from "../../kernel/log/aggregates.ts";
import type { Origin } from "../../kernel/log/origin.ts";
import type { Logger } from "../../kernel/ports/telemetry.ts";
import { onceKnown } from "../../kernel/tools/once-known.ts";
import { circuits, decide, newCircuit, type Circuit, type CircuitCommand } from "../circuit/facts.ts";

/** Facts that operators see in the log lines; a count and a probe change nothing for the destination. */
const told: Readonly<Record<string, string>> = {
  CircuitOpened: "circuit opened",
  CircuitHalfOpened: "circuit half-opened",
  CircuitClosed: "circuit closed",
};

/**
 * Decides on a destination's circuit and appends the facts; returns whether there were any, at once where the cached
 * circuit calls for no change. A log line tells an operator that it opens, half-opens or closes, and so why deliveries
 * to a destination stop and go on. Throws as {@link Aggregates.change} does.
 */
export function changeCircuit(
  { aggregates, logger }: { readonly aggregates: Aggregates; readonly logger: Logger },
  { destinationId, tenantId }: Pick<Circuit, "destinationId" | "tenantId">,
  origin: Origin,
  command: CircuitCommand,
): boolean | Promise<boolean> {
  const changed = aggregates.change(circuits, destinationId, origin,
    (state = newCircuit(destinationId, tenantId)) => decide(state, command));
  return onceKnown(changed, ({ events, appended }) => {
    for (const { type, data: { failures, openUntil } } of events) {
      const line = told[type];
      if (line) logger.info({ tenantId, destinationId, failures, openUntil }, line);
    }
    return appended !== null;
  });
}
