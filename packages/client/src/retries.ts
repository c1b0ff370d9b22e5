import { RelayError } from "./relay-error.ts";

/** How often a request is tried, and how long its pauses are. */
export interface RetryPolicy {
  /** Attempts in all. */
  readonly attempts: number;
  /** The longest pause, seconds: where the relay asks for a longer one, its answer is the result. */
  readonly longestPause: number;
  /** Waits so many ms; rejects with the signal's reason once that is aborted. */
  readonly pause: (ms: number, signal?: AbortSignal) => Promise<void>;
}

const firstPauseMs = 500;

/**
 * Tries until an attempt succeeds. It tries again after 429, after 502, 503 and 504, and where there was no answer. The
 * pause is what the relay asks for (`Retry-After`), else half a second, doubled each time, of which a random half.
 */
export async function withRetries<Answer>(
  attempt: () => Promise<Answer>,
  { attempts, longestPause, pause }: RetryPolicy,
  signal?: AbortSignal,
): Promise<Answer> {
  for (let made = 1; ; made += 1) {
    try {
      return await attempt();
    } catch (error) {
      signal?.throwIfAborted();
      const asked = error instanceof RelayError ? error.details.retryAfter : null;
      const isOver = made >= attempts || !mayPass(error) || (asked ?? 0) > longestPause;
      if (isOver) throw error;
      const doubled = Math.min(firstPauseMs * 2 ** (made - 1), longestPause * 1_000);
      await pause(asked === null ? doubled * (0.5 + Math.random() / 2) : asked * 1_000, signal);
    }
  }
}

/** Whether the same request may succeed later. What is no RelayError is a connection that failed or took too long. */
function mayPass(error: unknown): boolean {
  return !(error instanceof RelayError) || error.code === "too-many" || error.code === "unavailable";
}

/** Waits by the platform's timer. */
export function pauseFor(ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const stop = () => {
      clearTimeout(timer);
      reject(signal?.reason as Error);
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener("abort", stop);
      resolve();
    }, ms);
    signal?.addEventListener("abort", stop, { once: true });
  });
}
