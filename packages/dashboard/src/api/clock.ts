/** Answers tell the time to the second, and take a moment: only a clock that differs more is wrong, ms. */
const toleratedMs = 5_000;

/** The relay's time as its answers tell it: the clock of a browser may be wrong. */
interface RelayClock {
  /** The time, ms since 1970. */
  readonly now: () => number;
  /** Takes the `Date` of an answer that has just arrived; null where it has none. */
  readonly hear: (date: string | null) => void;
}

/** Makes a clock of the relay upon another clock, in ms since 1970; until an answer is heard they are equal. */
export function createRelayClock(own: () => number): RelayClock {
  let aheadMs = 0;
  return {
    now: () => own() + aheadMs,
    hear: (date) => {
      const ahead = Date.parse(date ?? "") - own();
      if (Math.abs(ahead - aheadMs) > toleratedMs) aheadMs = Math.abs(ahead) > toleratedMs ? ahead : 0;
    },
  };
}

/** The relay's clock for all pages. */
export const relayClock = createRelayClock(() => Date.now());
