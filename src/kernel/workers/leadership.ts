import { late, within } from "../ports/clock.ts";
import type { ExpiringState } from "../ports/expiring-state.ts";
import type { Instruments } from "../ports/telemetry.ts";
import { Loop, type Role } from "./loop.ts";

/** How long a lease holds from its last renewal. */
export const leaseMs = 6_000;
/** How often a lease is renewed. */
export const renewEveryMs = 2_000;
/** Before a lease could be over by the engine's clock, its holder must have stopped. */
const marginMs = 1_000;
const stopPatienceMs = 2_000;

/** The parts of a leadership; the leases are in the expiring state, under `role/<name>`. */
export interface LeadershipParts extends Instruments {
  readonly state: Pick<ExpiringState, "lease" | "release">;
}

/** Runs a role in the one process that holds its lease. Roles must tolerate a moment of overlap all the same. */
export class Leadership implements Role {
  readonly name: string;
  readonly #parts: LeadershipParts;
  readonly #owner: string;
  readonly #begin: () => Role;
  readonly #loop: Loop;
  #role: Role | undefined;
  #heldUntil = -Infinity;

  /** `begin` makes a new role for each takeover. `owner` is this process. */
  constructor(
    parts: LeadershipParts,
    { name, owner }: { readonly name: string; readonly owner: string },
    begin: () => Role,
  ) {
    this.name = name;
    this.#parts = parts;
    this.#owner = owner;
    this.#begin = begin;
    this.#loop = new Loop(parts.clock, () => this.#look());
  }

  get leading(): boolean {
    return this.#role !== undefined;
  }

  start(): void {
    this.#loop.start();
  }

  /** Stops the role and gives the lease back, so that another takes over at once. */
  async stop(patienceMs: number): Promise<void> {
    await this.#loop.stop();
    await this.#end(patienceMs);
  }

  async #look(): Promise<number> {
    const { clock } = this.#parts;
    if (this.leading && this.#left() <= 0) {
      // Another process may have the role by now: it ends here, even if the lease is free again.
      await this.#end(stopPatienceMs);
      return renewEveryMs;
    }
    const asked = clock.monotonic();
    const held = await this.#lease();
    if (held) this.#heldUntil = asked + leaseMs - marginMs;
    if (held === false || this.#left() <= 0) await this.#end(stopPatienceMs);
    else if (held && !this.#role) await (this.#loop.stopped ? this.#release() : this.#take());
    return this.leading ? Math.min(renewEveryMs, this.#left()) : renewEveryMs;
  }

  #left(): number {
    return this.#heldUntil - this.#parts.clock.monotonic();
  }

  /** Undefined when the engine does not answer, or, while the role runs, not before its lease is over. */
  async #lease(): Promise<boolean | undefined> {
    const { state, clock } = this.#parts;
    const asking = state.lease(`role/${this.name}`, this.#owner, leaseMs).catch((error: unknown) => {
      this.#tellOf(error, "a role's lease cannot be renewed");
      return undefined;
    });
    const held = this.leading ? await within(clock, this.#left(), asking) : await asking;
    return held === late ? undefined : held;
  }

  async #take(): Promise<void> {
    const role = this.#begin();
    this.#role = role;
    try {
      await role.start();
      this.#parts.logger.info({ role: this.name }, "took over a role");
    } catch (error) {
      this.#tellOf(error, "a role could not start and is tried again");
      await this.#end(stopPatienceMs);
    }
  }

  async #end(patienceMs: number): Promise<void> {
    const role = this.#role;
    if (!role) return;
    await role.stop(patienceMs).catch((error: unknown) => this.#tellOf(error, "a role did not stop cleanly"));
    this.#role = undefined;
    await this.#release();
    this.#parts.logger.info({ role: this.name }, "gave up a role");
  }

  async #release(): Promise<void> {
    await this.#parts.state.release(`role/${this.name}`, this.#owner).catch(() => undefined);
  }

  #tellOf(error: unknown, message: string): void {
    this.#parts.metrics.anomaly("leadership");
    this.#parts.logger.warn({ err: error, role: this.name }, message);
  }
}
