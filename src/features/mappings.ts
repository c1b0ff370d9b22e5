import { refuse } from "../kernel/domain/refusal.ts";
import type { Mappings } from "../kernel/ports/mapping.ts";
import type { Mapping } from "./senders/facts.ts";

/** A tenant's mapping without any other fields. Throws a Refusal (invalid) where its expression does not compile. */
export async function checkedMapping(
  mappings: Mappings, tenantId: string, { language, expression }: Mapping,
): Promise<Mapping> {
  if (!expression.isWellFormed()) refuse("invalid", "mapping.expression: must be well-formed Unicode");
  const problem = await mappings.problemOf(tenantId, expression);
  if (problem !== null) refuse("invalid", `mapping.expression: ${problem}`);
  return { language, expression };
}
