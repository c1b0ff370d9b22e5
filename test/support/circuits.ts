import { type Circuit, type CircuitCommand, changeCircuit } from "../../src/features/circuits/facts.ts";
import type { ServiceParts } from "../../src/features/services.ts";
import { timestamp } from "../../src/kernel/domain/time.ts";

type Untimed<Command> = Command extends CircuitCommand ? Omit<Command, "at"> : never;

/** Applies commands to a destination's circuit one after the other, as a delivery worker would. */
export async function tellCircuit(
  world: ServiceParts,
  destination: Pick<Circuit, "destinationId" | "tenantId">,
  ...commands: readonly Untimed<CircuitCommand>[]
): Promise<void> {
  const origin = { actor: { type: "service", part: "test" } as const, correlationId: "test", causationId: null };
  for (const command of commands) {
    await changeCircuit(world, destination, origin, { ...command, at: timestamp(world.clock.now()) });
  }
}

/** An event's attempt ends; as a failure it opens the circuit when it is the `maxTrys`th. */
export function attemptEnded(eventId: string, ok: boolean, maxTrys = 1) {
  return { type: "Record", ok, late: false, eventId, maxTrys, timerS: 300 } as const;
}
