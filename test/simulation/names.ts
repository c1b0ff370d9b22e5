import type { Inputs } from "../../schemas/api.ts";
import { Refusal } from "../../src/kernel/domain/refusal.ts";
import type { Origin } from "../../src/kernel/log/origin.ts";
import type { Node } from "./node.ts";
import type { Random } from "./random.ts";

const names = Array.from({ length: 6 }, (_, n) => ({ name: `Shop ${n}`, ownerEmail: `shop-${n}@example.com` }));
const usual = { ownerPassword: "correct horse battery", maxTrys: 10, circuitBreakerTimer: 300 };

/** A new tenant whose name or owner's email others may request, too. */
export function contested(random: Random): Inputs["createTenant"] {
  return { name: random.pick(names).name, ownerEmail: random.pick(names).ownerEmail, ...usual };
}

/** Takes each free name and each free email: unused reservations must have become free again. */
export async function takeNames({ services }: Node): Promise<void> {
  const origin: Origin = { actor: { type: "anonymous" }, correlationId: "names", causationId: null };
  const inputs = names.flatMap(({ name, ownerEmail }, n) => [
    { name, ownerEmail: `last-${n}@example.com`, ...usual }, { name: `Last ${n}`, ownerEmail, ...usual },
  ]);
  for (const input of inputs) {
    await services.commands.tenants.create(input, origin, "192.0.2.1").catch((error: unknown) => {
      if (!(error instanceof Refusal && error.kind === "conflict")) throw error;
    });
  }
}
