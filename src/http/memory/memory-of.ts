import type { IncomingMessage, ServerResponse } from "node:http";
import { addressOwner } from "../../features/people/sessions/password-owners.ts";
import type { Api } from "../api.ts";
import { clientAddress } from "../requests/client-address.ts";
import { readAhead, RequestMemory, uncountedBytes } from "./request-memory.ts";

/** The shared memory that a request to Node's HTTP server holds, until its answer is sent or its connection closes. */
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
 * Holds memory for the bytes of a request's body that may have come before its caller is known. To be called before
 * anything that takes time. Rejects with a Refusal (unavailable).
 */
export async function holdArrived({ headers }: IncomingMessage, memory: RequestMemory): Promise<void> {
  const isChunked = headers["transfer-encoding"] !== undefined;
  const arrived = isChunked ? readAhead : Math.min(Number(headers["content-length"] ?? 0), readAhead);
  if (arrived > uncountedBytes) await memory.hold(undefined, arrived);
}
