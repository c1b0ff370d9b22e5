import type { IncomingMessage, ServerResponse } from "node:http";
import { totalmem } from "node:os";
import { getHeapStatistics } from "node:v8";
import type { Clock } from "../../kernel/ports/clock.ts";
import { addressOwner } from "../../kernel/ports/passwords.ts";
import { clientAddress } from "../requests/client-address.ts";
import { MemoryBudget, type Claim } from "./memory-budget.ts";

/** The memory of all bodies and answers. */
export interface SharedMemory {
  readonly tenants: MemoryBudget;
  readonly networks: MemoryBudget;
}

/** The share of the process's memory for bodies and answers, up to a size beyond which more brings no gain. */
const share = 1 / 16;
const mostBytes = 32 * 1024 * 1024;

/** The memory of large bodies and answers: half of the share for tenants, an eighth for clients not signed in. */
export function sharedMemory(clock: Clock, limitBytes = memoryLimit()): SharedMemory {
  const bytes = Math.min(limitBytes * share, mostBytes);
  return { tenants: new MemoryBudget(clock, bytes / 2), networks: new MemoryBudget(clock, bytes / 8) };
}

/** The lowest limit of the control group, the machine and the heap, bytes. */
function memoryLimit(): number {
  return Math.min(process.constrainedMemory() || Infinity, totalmem(), getHeapStatistics().heap_size_limit);
}

/** Smaller bodies and answers are not counted: connections bound their number. */
export const uncountedBytes = 8 * 1024;

/** Bytes of a body that Node reads ahead. */
export const readAhead = 64 * 1024;

/** Holds memory for an answer until it is sent; `kept` bytes while it waits. Throws a Refusal (unavailable). */
export type HoldAnswer = (bytes: number, kept?: number) => Promise<void>;

/** The memory of one answer. */
export interface AnswerMemory {
  readonly hold: HoldAnswer;
  readonly release: () => void;
}

/** A request's share of the memory, for its body, then for its answer. */
export class RequestMemory {
  readonly #shared: SharedMemory;
  readonly #network: () => string;
  #claim: Claim | undefined;
  #ending: AbortController | undefined;
  #isOver = false;

  constructor(shared: SharedMemory, network: () => string) {
    this.#shared = shared;
    this.#network = network;
  }

  /** Holds bytes in place of those held before; false if there is no room. */
  take(bytes: number): boolean {
    this.release();
    this.#claim = this.#shared.networks.take(this.#network(), bytes);
    return this.#claim !== undefined;
  }

  /** Holds bytes in place of those before, once there is room. Throws a Refusal (unavailable) after a long wait. */
  async hold(tenantId: string | undefined, bytes: number, kept = bytes): Promise<void> {
    this.release();
    const { tenants, networks } = this.#shared;
    const budget = tenantId === undefined ? networks : tenants;
    const owner = tenantId ?? this.#network();
    const claim = budget.take(owner, bytes) ?? await budget.claim(owner, bytes, kept, this.#whenOver());
    if (this.#isOver) claim.release();
    else this.#claim = claim;
  }

  end(): void {
    this.#isOver = true;
    this.#ending?.abort();
    this.release();
  }

  #whenOver(): AbortSignal {
    this.#ending ??= new AbortController();
    return this.#ending.signal;
  }

  release(): void {
    this.#claim?.release();
    this.#claim = undefined;
  }
}

/** The memory of a request, until its answer is sent or the connection closes. */
export function memoryOf(
  { memory, trustedProxies }: { readonly memory: SharedMemory; readonly trustedProxies: number },
  request: IncomingMessage,
  response: ServerResponse,
): RequestMemory {
  const held = new RequestMemory(memory, () => addressOwner(clientAddress(request, trustedProxies)));
  response.once("close", () => held.end());
  return held;
}

/** Holds memory for bytes that come before the caller is known: call it first. Rejects with a Refusal (unavailable). */
export async function holdArrived({ headers }: IncomingMessage, memory: RequestMemory): Promise<void> {
  const isChunked = headers["transfer-encoding"] !== undefined;
  const arrived = isChunked ? readAhead : Math.min(Number(headers["content-length"] ?? 0), readAhead);
  if (arrived > uncountedBytes) await memory.hold(undefined, arrived);
}
