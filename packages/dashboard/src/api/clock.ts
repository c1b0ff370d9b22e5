/** The tolerated difference of clocks, ms: answers tell the time to the second, and take time to arrive. */
const toleratedMs = 5_000;

/** The relay's time as its answers tell it: the clock of a browser may be wrong. */
interface RelayClock {
  /** The time, ms since 1970. */
  readonly now: () => number;
  /** Takes the `Date` of an answer that has just arrived; null where it has none. */
  readonly hear: (date: string | null) => void;
}

/** Makes the relay's clock from a local one, in ms since 1970; they are equal until the first answer. */
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
