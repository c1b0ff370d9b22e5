import { useRef, useState } from "react";

/**
 * A function that runs an act at once, and once more after calls that came meanwhile: never twice at the same time, and
 * at most once in so many milliseconds.
 */
export function throttled(act: () => unknown, ms: number): () => void {
  let isBusy = false;
  let isCalled = false;
  const run = async () => {
    isBusy = true;
    for (isCalled = true; isCalled;) {
      isCalled = false;
      await Promise.allSettled([act(), new Promise((resolve) => setTimeout(resolve, ms))]);
    }
    isBusy = false;
  };
  return () => {
    if (isBusy) isCalled = true;
    else void run();
  };
}

/** The same for a part of a page; it runs the act of the part's last rendering. */
export function useThrottled(act: () => unknown, ms: number): () => void {
  const current = useRef(act);
  current.current = act;
  const [call] = useState(() => throttled(() => current.current(), ms));
  return call;
}
