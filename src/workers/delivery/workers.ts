import type { Ids } from "../../ports/ids.ts";

/** Which of the workers that claims in the log name can still be at work. */
export class Workers {
  readonly #ids: Pick<Ids, "uuid">;
  readonly #isLogShared: boolean;
  readonly #own = new Set<string>();

  /** `isLogShared`: whether workers of other processes may use the log, too. */
  constructor(ids: Pick<Ids, "uuid">, isLogShared: boolean) {
    this.#ids = ids;
    this.#isLogShared = isLogShared;
  }

  /** The id of a worker that begins now in this process. */
  begin(): string {
    const id = this.#ids.uuid();
    this.#own.add(id);
    return id;
  }

  /**
   * Whether a worker is gone for certain. A process whose log is its own holds the lock on the data folder: any worker
   * of another process has ended with that. Elsewhere only the end of a lease tells.
   */
  isGone(worker: string): boolean {
    return !this.#isLogShared && !this.#own.has(worker);
  }
}
