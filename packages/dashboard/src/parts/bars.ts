/** A bucket of a sparkline: how much went well, and how much went wrong. */
export interface Bar {
  readonly good: number;
  readonly bad: number;
}

/** A bar's place, and the heights of its two parts. */
interface BarShape {
  readonly x: number;
  readonly width: number;
  readonly goodHeight: number;
  readonly badHeight: number;
}

/** Bars of equal width in a box of this size. The highest fills it; a part that is not 0 has a height of at least 2. */
export function barShapes(
  bars: readonly Bar[], { width, height }: { readonly width: number; readonly height: number },
): readonly BarShape[] {
  const most = Math.max(1, ...bars.map(({ good, bad }) => good + bad));
  const each = width / Math.max(1, bars.length);
  const tall = (count: number) => count === 0 ? 0 : Math.max(2, count / most * (height - 2));
  return bars.map(({ good, bad }, place) => ({
    x: place * each, width: Math.max(1, each - 1), goodHeight: tall(good), badHeight: tall(bad),
  }));
}
