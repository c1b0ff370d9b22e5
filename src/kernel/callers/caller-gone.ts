import { AsyncLocalStorage } from "node:async_hooks";

/** The caller of a request has gone: nobody waits for its answer. */
export class CallerGone extends Error {
  override readonly name = "CallerGone";

  constructor() {
    super("the caller has gone");
  }
}

const callers = new AsyncLocalStorage<AbortSignal>();

/** Does the work of a request: {@link callerCheck} is of its caller. `gone` fires once the caller has gone. */
export function forCaller<Result>(gone: AbortSignal, work: () => Result): Result {
  return callers.run(gone, work);
}

/** A check to call between pieces of the work under way: it throws CallerGone once the caller has gone. */
export function callerCheck(): () => void {
  const gone = callers.getStore();
  return () => {
    if (gone?.aborted) throw new CallerGone();
  };
}
