import type { IncomingMessage, ServerResponse } from "node:http";
import { addressOwner } from "../../application/accounts/password-owners.ts";
import type { Api } from "../api.ts";
import { clientAddress } from "../requests/client-address.ts";
import { readAhead, RequestMemory, uncountedBytes } from "./request-memory.ts";

/** What a request to Node's HTTP server holds of the shared memory, until its answer is taken or cannot be. */
export function memoryOf(
  { memory, trustedProxies }: Pick<Api, "memory" | "trustedProxies">,
  request: IncomingMessage,
  response: ServerResponse,
): RequestMemory {
  const held = new RequestMemory(memory, () => addressOwner(clientAddress(request, trustedProxies)));
  response.once("close", () => held.end());
  return held;
}

/**
 * Holds memory for what has come of a request's body before it is known whose it is. To be called before anything that
 * takes time. Rejects with a Refusal (unavailable).
 */
export async function holdArrived({ headers }: IncomingMessage, memory: RequestMemory): Promise<void> {
  const isChunked = headers["transfer-encoding"] !== undefined;
  const arrived = isChunked ? readAhead : Math.min(Number(headers["content-length"] ?? 0), readAhead);
  if (arrived > uncountedBytes) await memory.hold(undefined, arrived);
}
