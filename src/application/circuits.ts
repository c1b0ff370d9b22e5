import { decide, newCircuit, type Circuit, type CircuitCommand } from "../domain/circuit/circuit.ts";
import type { Logger } from "../ports/telemetry.ts";
import { circuits } from "./aggregate-types.ts";
import type { Aggregates } from "./aggregates.ts";
import type { Origin } from "./origin.ts";

/** Facts an operator is told of; a count and a probe change nothing for the destination. */
const told: Readonly<Record<string, string>> = {
  CircuitOpened: "circuit opened",
  CircuitHalfOpened: "circuit half-opened",
  CircuitClosed: "circuit closed",
};

/**
 * Decides on a destination's circuit and appends what follows; whether anything did. A log line says when it opens,
 * half-opens or closes: why deliveries to a destination stop and go on, for who watches as it happens.
 */
export async function changeCircuit(
  { aggregates, logger }: { readonly aggregates: Aggregates; readonly logger: Logger },
  { destinationId, tenantId }: Pick<Circuit, "destinationId" | "tenantId">,
  origin: Origin,
  command: CircuitCommand,
): Promise<boolean> {
  const { events, appended } = await aggregates.change(circuits, destinationId, origin,
    (state = newCircuit(destinationId, tenantId)) => decide(state, command));
  for (const { type, data: { failures, openUntil } } of events) {
    const line = told[type];
    if (line) logger.info({ tenantId, destinationId, failures, openUntil }, line);
  }
  return appended !== null;
}
