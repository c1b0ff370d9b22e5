import type { Ids } from "../../ports/ids.ts";

/** Tells which workers may still be alive, of those named in claims in the log. */
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
   * Whether a worker has certainly ended. A process with an embedded log holds the lock on the data folder, so workers
   * of all other processes have ended. With a shared log only the end of a lease shows that.
   */
  isGone(worker: string): boolean {
    return !this.#isLogShared && !this.#own.has(worker);
  }
}
