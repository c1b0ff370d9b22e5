/** Bytes of a budget that belong to one owner until they are given back. */
export interface Claim {
  /** Gives the bytes back; nothing the second time. */
  release(): void;
}

/** Memory of a fixed size that owners share fairly. */
export interface MemoryBudget {
  /** Takes bytes for an owner if it may have them now; undefined otherwise. */
  take(owner: string, bytes: number): Claim | undefined;
  /**
   * Takes bytes for an owner, and waits for them a few seconds if need be. `kept`: how many bytes the request keeps in
   * memory while it waits. `over` ends the wait. Rejects with a Refusal (unavailable) where none become free in
   * time, too many wait, or the wait was ended.
   */
  claim(owner: string, bytes: number, kept: number, over?: AbortSignal): Promise<Claim>;
}
