import type { IncomingMessage, ServerResponse } from "node:http";
import { totalmem } from "node:os";
import { getHeapStatistics } from "node:v8";
import type { Clock } from "../../kernel/ports/clock.ts";
import { addressOwner } from "../../kernel/ports/passwords.ts";
import { clientAddress } from "../requests/client-address.ts";
import { MemoryBudget, type Claim } from "./memory-budget.ts";

/** The memory that bodies and answers take, all requests together. */
export interface SharedMemory {
  /** Shared by tenants: of requests whose caller is known. */
  readonly tenants: MemoryBudget;
  /** Shared by networks: of requests whose caller is not known, or not yet. */
  readonly networks: MemoryBudget;
}

/**
 * The part of the process's memory that bodies and answers may take, up to a size beyond which more memory brings no
 * gain.
 */
const share = 1 / 16;
const mostBytes = 32 * 1024 * 1024;

/**
 * The memory that bodies and answers share. `limitBytes`: the memory that the process may use. Half of the shared part
 * goes to large ones of tenants, an eighth to large ones of clients that are not signed in; the rest is for small ones
 * and waiting ones.
 */
export function sharedMemory(clock: Clock, limitBytes = memoryLimit()): SharedMemory {
  const bytes = Math.min(limitBytes * share, mostBytes);
  return { tenants: new MemoryBudget(clock, bytes / 2), networks: new MemoryBudget(clock, bytes / 8) };
}

/** The lowest limit of the control group, the machine and the heap, bytes. */
function memoryLimit(): number {
  // 0 without a known control group.
  return Math.min(process.constrainedMemory() || Infinity, totalmem(), getHeapStatistics().heap_size_limit);
}

/** Bodies and answers of at most so many bytes are not counted: their number is bounded by that of connections. */
export const uncountedBytes = 8 * 1024;

/** Bytes of a body that Node reads before the program does: a piece of that size, or a little more in two. */
export const readAhead = 64 * 1024;

/**
 * Holds memory for an answer until it is sent. `kept`: how many bytes are in memory while it waits, all unless given.
 * Rejects with a Refusal (unavailable).
 */
export type HoldAnswer = (bytes: number, kept?: number) => Promise<void>;

/** The memory of one answer. */
export interface AnswerMemory {
  readonly hold: HoldAnswer;
  /** Gives back what is held. */
  readonly release: () => void;
}

/** One request's share of the shared memory: for its body, and then for its answer. */
export class RequestMemory {
  readonly #shared: SharedMemory;
  readonly #network: () => string;
  #claim: Claim | undefined;
  /** Made once the request waits for memory. */
  #ending: AbortController | undefined;
  #isOver = false;

  /** `network`: returns the owner for a client that is not signed in; called only then. */
  constructor(shared: SharedMemory, network: () => string) {
    this.#shared = shared;
    this.#network = network;
  }

  /** Holds bytes, in place of those held so far, if there is room at once; false otherwise. */
  take(bytes: number): boolean {
    this.release();
    this.#claim = this.#shared.networks.take(this.#network(), bytes);
    return this.#claim !== undefined;
  }

  /**
   * Holds bytes, in place of those held so far, once there is room. `kept`: how many of them the request keeps while it
   * waits, all unless given. Rejects with a Refusal (unavailable) if the wait takes too long.
   */
  async hold(tenantId: string | undefined, bytes: number, kept = bytes): Promise<void> {
    this.release();
    const { tenants, networks } = this.#shared;
    const budget = tenantId === undefined ? networks : tenants;
    const owner = tenantId ?? this.#network();
    const claim = budget.take(owner, bytes) ?? await budget.claim(owner, bytes, kept, this.#whenOver());
    if (this.#isOver) claim.release();
    else this.#claim = claim;
  }

  /** Gives back the held bytes, and waits for no more: the request is over. */
  end(): void {
    this.#isOver = true;
    this.#ending?.abort();
    this.release();
  }

  #whenOver(): AbortSignal {
    this.#ending ??= new AbortController();
    return this.#ending.signal;
  }

  /** Gives back the held bytes. */
  release(): void {
    this.#claim?.release();
    this.#claim = undefined;
  }
}

/** The shared memory that a request to Node's HTTP server holds, until its answer is sent or its connection closes. */
export function memoryOf(
  { memory, trustedProxies }: { readonly memory: SharedMemory; readonly trustedProxies: number },
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
