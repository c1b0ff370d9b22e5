/** A part of the service that runs from its start to its stop, once. */
export interface Role {
  /** Resolves when it works, or rejects with what keeps it from that; {@link stop} may be called either way. */
  start(): void | Promise<void>;
  /** Starts nothing more and resolves when what is under way is done; deliveries are waited for `patienceMs`, ms. */
  stop(patienceMs: number): Promise<void>;
}
