import { millis } from "../../kernel/domain/time.ts";
import { type Clock, sleep } from "../../kernel/ports/clock.ts";
import type { Position } from "../../kernel/ports/event-store.ts";
import type { QueueSession } from "../../kernel/ports/work-queue.ts";
import type { DueIndex } from "../requests/due-index.ts";
import type { Claims } from "./claims.ts";
import type { Workers } from "./workers.ts";

/** The parts needed to find the attempts that earlier owners left under way. */
export interface OwnershipParts {
  readonly dueIndex: DueIndex;
  readonly clock: Clock;
  readonly workerId: string;
  readonly workers: Pick<Workers, "isGone" | "hold">;
  readonly claims: Pick<Claims, "longestLeaseMs">;
  readonly startOf: (session: QueueSession) => Promise<SessionStart>;
}

/** When a membership began, or soon after: any claims of earlier owners of its destinations are older. */
export interface SessionStart {
  /** Where the log ended then. */
  readonly position: Position;
  readonly at: number;
}

/** The membership under which a destination is this worker's, and the attempts of earlier owners. */
export class Ownership {
  readonly #destinationId: string;
  readonly #parts: OwnershipParts;
  #session: QueueSession | undefined;
  #known = false;
  #left = Promise.withResolvers<void>();

  constructor(destinationId: string, parts: OwnershipParts) {
    this.#destinationId = destinationId;
    this.#parts = parts;
  }

  /** The membership by which the destination is this worker's; undefined while it is another worker's. */
  get session(): QueueSession | undefined {
    return this.#session;
  }

  get alive(): boolean {
    return this.#session?.alive ?? false;
  }

  /** Whether the attempts that earlier owners left are known. */
  get known(): boolean {
    return this.#known;
  }

  get mayClaim(): boolean {
    return this.alive && this.#known;
  }

  /** The destination is this worker's, or stays so under a new membership. */
  join(session: QueueSession): void {
    this.#session = session;
  }

  leave(): void {
    this.#session = undefined;
    this.#known = false;
    this.#left.resolve();
    this.#left = Promise.withResolvers();
  }

  /** Learns which attempts earlier owners left under way; `found` gets a function that resolves once one is over. */
  async learn(found: (untilOver: () => Promise<void>) => void): Promise<void> {
    const { claims, clock, startOf } = this.#parts;
    const session = this.#session;
    if (!session) return;
    const start = await startOf(session);
    const isOver = clock.monotonic() - start.at >= claims.longestLeaseMs;
    const ends = isOver ? [] : await this.#leasesOfOthers(start.position);
    if (this.#session !== session) return;
    this.#known = true;
    const { promise: left } = this.#left;
    for (const end of ends) {
      found(() => Promise.race([sleep(clock, Math.max(0, end - clock.monotonic())), left]));
    }
  }

  /** When each lease of another worker is over, monotonic ms. */
  async #leasesOfOthers(position: Position): Promise<number[]> {
    const { dueIndex, clock, workerId, workers } = this.#parts;
    await dueIndex.cover(position);
    const now = clock.monotonic();
    const leases = await dueIndex.leases(this.#destinationId);
    return leases
      .filter(({ worker }) => worker !== workerId && !workers.isGone(worker))
      .map((lease) => now + millis(lease.leaseUntil) - millis(lease.startedAt));
  }
}
