import { Refusal } from "../../kernel/domain/refusal.ts";
import type { Tags } from "../../kernel/domain/tags.ts";
import type { Mappings } from "../../kernel/ports/mapping.ts";
import type { SenderAt } from "./credential-lookup.ts";

/** A producer's request. */
export interface Posted {
  readonly received: string;
  readonly idempotencyKey?: string | undefined;
  readonly eventType?: string | undefined;
  readonly ownerId?: string | undefined;
  readonly tags?: Tags | undefined;
  readonly correlationId: string;
  readonly traceparent?: string | undefined;
}

/** The body as the sender maps it, or why it cannot, and the admission it was mapped under. Throws a Refusal. */
export async function mappedUnder<Admitted extends { readonly sender: SenderAt | null }>(
  mappings: Pick<Mappings, "apply">, admitted: Admitted, received: string, admit: () => Admitted | Promise<Admitted>,
): Promise<{ readonly admission: Admitted; readonly mapped: string | Refusal }> {
  if (!admitted.sender?.mapping) return { admission: admitted, mapped: received };
  for (let before = admitted; ;) {
    const mapped = await mappedBy(mappings, before.sender, received);
    const admission = await admit();
    if (admission.sender?.revision === before.sender?.revision) return { admission, mapped };
    before = admission;
  }
}

async function mappedBy(
  mappings: Pick<Mappings, "apply">, sender: SenderAt | null, received: string,
): Promise<string | Refusal> {
  if (!sender?.mapping) return received;
  const mapped = await mappings.apply(sender.tenantId, sender.mapping.expression, received);
  return "problem" in mapped ? new Refusal("invalid", `body: the sender's mapping ${mapped.problem}`) : mapped.text;
}
