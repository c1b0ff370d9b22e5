import { Refusal, refuse } from "../../kernel/domain/refusal.ts";
import type { Clock, Timer } from "../../kernel/ports/clock.ts";
import { FairQueue } from "../../kernel/tools/fair-queue.ts";
import { mayTake } from "../../kernel/tools/fair-share.ts";

/** Bytes of a budget that belong to one owner until they are given back. */
export interface Claim {
  release(): void;
}

/** Claims of at most so many bytes are small: they never wait for larger ones. */
export const smallBytes = 64 * 1024;
const patienceMs = 5_000;
const tooMuch = "too much is asked for or sent at once; try again";

interface Waiting {
  readonly owner: string;
  readonly bytes: number;
  readonly kept: number;
  readonly patience: Timer;
  readonly resolve: (claim: Claim) => void;
  readonly reject: (refusal: Refusal) => void;
}

/**
 * A budget of which owners have {@link mayTake fair shares}. Small claims have a reserve of the same size. Waiting
 * requests may keep half as much; beyond that, the newest of the owner with most is refused.
 */
export class MemoryBudget {
  readonly #clock: Pick<Clock, "schedule">;
  readonly #bytes: number;
  readonly #held = new Map<string, number>();
  /** By owner and size class, so that a small claim does not wait behind a large one. */
  readonly #queue = new FairQueue<Waiting>(({ kept }) => kept);
  #left: number;
  #keptLeft: number;

  constructor(clock: Pick<Clock, "schedule">, bytes: number) {
    this.#clock = clock;
    this.#bytes = bytes;
    this.#left = bytes;
    this.#keptLeft = bytes / 2;
  }

  take(owner: string, bytes: number): Claim | undefined {
    const counted = this.#counted(bytes);
    return this.#queue.waiting(lineOf(owner, counted)) === 0 && this.#mayHave(owner, counted)
      ? this.#grant(owner, counted)
      : undefined;
  }

  /**
   * Takes bytes for an owner, and waits a few seconds for them unless `over` fires. `kept`: bytes in memory meanwhile.
   * Throws a Refusal (unavailable).
   */
  async claim(owner: string, bytes: number, kept: number, over?: AbortSignal): Promise<Claim> {
    const claim = this.take(owner, bytes);
    if (claim) return claim;
    const counted = this.#counted(bytes);
    const line = lineOf(owner, counted);
    while (kept > this.#keptLeft) this.#refuse(this.#queue.takeForRoom(line, kept) ?? refuse("unavailable", tooMuch));
    this.#keptLeft -= kept;
    return new Promise((resolve, reject) => {
      const end = () => {
        if (this.#queue.remove(line, waiting)) this.#refuse(waiting);
        // Claims behind it may need less.
        this.#grantWaiting();
      };
      const patience = this.#clock.schedule(patienceMs, end);
      const waiting: Waiting = { owner, bytes: counted, kept, patience, resolve, reject };
      this.#queue.push(line, waiting);
      if (over?.aborted) end();
      else over?.addEventListener("abort", end, { once: true });
    });
  }

  /** A claim larger than an owner's share is counted as one share: it could never be granted. */
  #counted(bytes: number): number {
    return Math.min(bytes, this.#bytes / 2);
  }

  #mayHave(owner: string, bytes: number): boolean {
    const room = this.#left + (bytes <= smallBytes ? this.#bytes : 0);
    return mayTake(bytes, this.#held.get(owner) ?? 0, room);
  }

  #grant(owner: string, bytes: number): Claim {
    this.#left -= bytes;
    this.#held.set(owner, (this.#held.get(owner) ?? 0) + bytes);
    let released = false;
    return {
      release: () => {
        if (released) return;
        released = true;
        this.#giveBack(owner, bytes);
      },
    };
  }

  #giveBack(owner: string, bytes: number): void {
    this.#left += bytes;
    const held = (this.#held.get(owner) ?? 0) - bytes;
    if (held > 0) this.#held.set(owner, held);
    else this.#held.delete(owner);
    this.#grantWaiting();
  }

  #grantWaiting(): void {
    if (this.#queue.isEmpty) return;
    const may = (_line: string, { owner, bytes }: Waiting) => this.#mayHave(owner, bytes);
    for (let next = this.#queue.take(may); next; next = this.#queue.take(may)) {
      this.#settle(next);
      next.resolve(this.#grant(next.owner, next.bytes));
    }
  }

  #refuse(waiting: Waiting): void {
    this.#settle(waiting);
    waiting.reject(new Refusal("unavailable", tooMuch));
  }

  #settle({ kept, patience }: Waiting): void {
    patience.cancel();
    this.#keptLeft += kept;
  }
}

function lineOf(owner: string, bytes: number): string {
  return `${bytes <= smallBytes ? "small" : "large"} ${owner}`;
}
