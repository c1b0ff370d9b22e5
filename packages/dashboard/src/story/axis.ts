import { between } from "../parts/times.ts";
import type { Chapter } from "./chapters.ts";
import { keyOf } from "./moments.ts";

/** Where a chapter lies on the axis; 0 is its beginning, 1 its end. */
interface Placed {
  readonly chapter: Chapter;
  readonly key: string;
  readonly from: number;
  readonly to: number;
}

/** A stretch of the axis that is shorter than its time. */
interface Fold {
  readonly from: number;
  readonly to: number;
  readonly ms: number;
}

/** A wall clock from left to right, with long gaps folded. */
export interface Clock {
  readonly folds: readonly Fold[];
  /** Times to be written below the axis, in its order. */
  readonly times: readonly { readonly at: string; readonly place: number }[];
  /** The place of a moment. */
  readonly placeOf: (at: string) => number;
}

/** The wall clock of a story, with its chapters. */
export interface Axis extends Clock {
  readonly placed: readonly Placed[];
}

/** The least width of a chapter and of a wait, and the width of a fold, as parts of one whole. */
const widths = { chapter: 1, wait: 1.5, fold: 5 };
/** The parts that are shared out by time. */
const shared = 28;
/** A gap this much longer than all shorter ones together is folded, unless those are short themselves, ms. */
const longer = 4;
const shortMs = 500;

interface Instant {
  readonly ms: number;
  readonly at: string;
  readonly chapter: number;
  readonly isEnd: boolean;
}

/** Lays chapters out by time. A chapter that goes on ends at `now`. */
export function axisOf(chapters: readonly Chapter[], now: string): Axis {
  const instants = instantsOf(chapters, now);
  const { places, ...clock } =
    laidOut(instants, (index) => leastWidth(chapters, instants[index], instants[index + 1]));
  const ends = new Map(instants.map(({ chapter, isEnd }, index) => [`${chapter} ${isEnd}`, places[index] ?? 0]));
  return {
    ...clock,
    placed: chapters.map((chapter, index) => ({
      chapter, key: keyOf(chapter), from: ends.get(`${index} false`) ?? 0, to: ends.get(`${index} true`) ?? 1,
    })),
  };
}

/** The clock of several stories: moments of the same time have the same place. A chapter that goes on ends at `now`. */
export function sharedClockOf(chapters: readonly Chapter[], now: string): Clock {
  const instants = instantsOf(chapters, now).filter(({ ms }, index, all) => ms !== all[index - 1]?.ms);
  const { places: _, ...clock } = laidOut(instants, () => widths.chapter);
  return clock;
}

/** Places instants by time, with long gaps folded; `leastOf` is the least width of the gap behind an instant. */
function laidOut(
  instants: readonly Instant[], leastOf: (index: number) => number,
): Clock & { readonly places: readonly number[] } {
  const gaps = instants.slice(1).map((instant, index) => Math.max(0, instant.ms - (instants[index]?.ms ?? instant.ms)));
  const isFolded = foldedOf(gaps);
  const linearMs = gaps.reduce((sum, gap, index) => (isFolded[index] ? sum : sum + gap), 0);
  const weights = gaps.map((gap, index) => isFolded[index] ? widths.fold
    : leastOf(index) + (linearMs === 0 ? 0 : gap / linearMs * shared));
  const whole = weights.reduce((sum, weight) => sum + weight, 0) || 1;
  const places = [0];
  for (const weight of weights) places.push((places.at(-1) ?? 0) + weight / whole);
  return {
    places,
    folds: gaps.flatMap((ms, index) =>
      (isFolded[index] ? [{ from: places[index] ?? 0, to: places[index + 1] ?? 1, ms }] : [])),
    times: instants.map(({ at }, index) => ({ at, place: places[index] ?? 0 })),
    placeOf: (at) => placeIn(instants, places, Date.parse(at)),
  };
}

/** The beginnings and ends of chapters by time; of the same time, in the order of the log. */
function instantsOf(chapters: readonly Chapter[], now: string): readonly Instant[] {
  return chapters
    .flatMap(({ from, to }, chapter): Instant[] => {
      const until = to ?? (between(from, now) > 0 ? now : from);
      return [
        { ms: Date.parse(from), at: from, chapter, isEnd: false },
        { ms: Date.parse(until), at: until, chapter, isEnd: true },
      ];
    })
    .sort((one, other) => one.ms - other.ms || one.chapter - other.chapter || Number(one.isEnd) - Number(other.isEnd));
}

/** Which gaps are folded: those much longer than all shorter ones together. */
function foldedOf(gaps: readonly number[]): readonly boolean[] {
  let sum = 0;
  const longest = [...gaps].sort((one, other) => one - other).find((gap) => {
    if (sum > shortMs && gap > longer * sum) return true;
    sum += gap;
    return false;
  }) ?? Infinity;
  return gaps.map((gap) => gap >= longest);
}

function leastWidth(chapters: readonly Chapter[], from: Instant | undefined, to: Instant | undefined): number {
  if (!from || !to) return 0;
  // Between the end of one chapter and the beginning of the next there may be no time.
  if (from.isEnd && !to.isEnd) return 0;
  return chapters[from.isEnd ? to.chapter : from.chapter]?.kind === "wait" ? widths.wait : widths.chapter;
}

function placeIn(instants: readonly Instant[], places: readonly number[], ms: number): number {
  const after = instants.findIndex((instant) => instant.ms > ms);
  if (after === 0) return 0;
  if (after < 0) return places.at(-1) ?? 1;
  const [from, to] = [instants[after - 1], instants[after]];
  const [start, end] = [places[after - 1] ?? 0, places[after] ?? 1];
  return from && to ? start + (end - start) * (ms - from.ms) / (to.ms - from.ms) : start;
}

/** A stretch of time in which a circuit was open; null: it still is. */
export interface OpenCircuit {
  readonly from: string;
  readonly to: string | null;
}

/** When a circuit was open, from the times at which it opened and closed; before the first it may have been open. */
export function openTimes(opened: readonly string[], closed: readonly string[], from: string): readonly OpenCircuit[] {
  const turns = [...opened.map((at) => ({ at, open: true })), ...closed.map((at) => ({ at, open: false }))]
    .sort((one, other) => Date.parse(one.at) - Date.parse(other.at));
  const open: OpenCircuit[] = [];
  let since = turns[0]?.open === false ? from : null;
  for (const { at, open: isOpen } of turns) {
    if (isOpen) since ??= at;
    else if (since !== null) {
      open.push({ from: since, to: at });
      since = null;
    }
  }
  return since === null ? open : [...open, { from: since, to: null }];
}
