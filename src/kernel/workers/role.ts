/** A part of the service that runs from its start to its stop, once. */
export interface Role {
  /** Resolves when it works, or rejects with the reason why it cannot; {@link stop} may be called either way. */
  start(): void | Promise<void>;
  /** Starts nothing more and resolves when all work under way is done; deliveries are waited for `patienceMs`. */
  stop(patienceMs: number): Promise<void>;
}
