import { RelayError } from "./relay-error.ts";

/** The number of attempts, and the pauses between them. */
export interface RetryPolicy {
  readonly attempts: number;
  /** The longest pause, seconds: where the relay asks for a longer one, its answer is the result. */
  readonly longestPause: number;
  /** Waits so many ms; rejects with the signal's reason once that is aborted. */
  readonly pause: (ms: number, signal?: AbortSignal) => Promise<void>;
}

const firstPauseMs = 500;

/**
 * Retries after 408, 429, any 5xx and a missing answer. The pause is that of `Retry-After`, else half a second, doubled
 * each time, less up to half of it at random.
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

function mayPass(error: unknown): boolean {
  if (error instanceof RelayError) return [0, 408, 429].includes(error.status) || error.status >= 500;
  return error instanceof DOMException && error.name === "TimeoutError";
}

/** Runs an act after so many ms; returns a function that cancels it. */
export type After = (ms: number, act: () => void) => () => void;

/** {@link After} by the platform's timer. */
export const byTimeout: After = (ms, act) => {
  const timer = setTimeout(act, ms);
  return () => clearTimeout(timer);
};

/** Waits so many ms; rejects with the signal's reason once that is aborted. */
export function pauseFor(ms: number, signal?: AbortSignal, after: After = byTimeout): Promise<void> {
  return new Promise((resolve, reject) => {
    const stop = () => {
      cancel();
      reject(signal?.reason as Error);
    };
    const cancel = after(ms, () => {
      signal?.removeEventListener("abort", stop);
      resolve();
    });
    signal?.addEventListener("abort", stop, { once: true });
  });
}
