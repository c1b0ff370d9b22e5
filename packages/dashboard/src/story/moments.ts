import type { Schemas } from "@webhook-relay/client";
import type { Chapter } from "./chapters.ts";

type Entry = Schemas["StoryEntry"];

/** The entries at which a moment can be chosen: those of all chapters, each once, in the order of the log. */
export function entriesOf(chapters: readonly Chapter[]): readonly Entry[] {
  const entries = new Map(chapters.flatMap(({ entries }) => entries).map((entry) => [entry.position, entry]));
  return [...entries.values()].sort((one, other) => (one.position < other.position ? -1 : 1));
}

/** The index of the last entry at or before a position, or of the first; that of the last without a position. */
export function indexAt(entries: readonly Entry[], position: string | undefined): number {
  if (position === undefined) return entries.length - 1;
  return Math.max(0, entries.findLastIndex((entry) => entry.position <= position));
}

/** Of the chapters known now, those that had not begun at a moment, whose chapters are `then`. */
export function laterThan(then: readonly Chapter[], now: readonly Chapter[]): readonly Chapter[] {
  const begun = new Set(then.map(keyOf));
  return now.filter((chapter) => !begun.has(keyOf(chapter)));
}

/** A text that is the same for the same chapter at every moment. A wait may not have an entry of its own. */
export function keyOf({ kind, from, entries }: Chapter): string {
  return `${kind} ${kind === "wait" ? from : entries[0]?.position ?? from}`;
}

/** Of a longer story, this many first chapters and this many last ones are shown. */
const firstShown = 10;
const lastShown = 40;

/** The first and the last chapters of a long story, and the number between; all chapters of a short one are first. */
export function ends(chapters: readonly Chapter[]):
{ readonly first: readonly Chapter[]; readonly between: number; readonly last: readonly Chapter[] } {
  const between = chapters.length - firstShown - lastShown;
  if (between <= 0) return { first: chapters, between: 0, last: [] };
  return { first: chapters.slice(0, firstShown), between, last: chapters.slice(-lastShown) };
}

/** The authors of entries by their positions. */
export function authorsOf(entries: readonly Entry[]): ReadonlyMap<string, Schemas["Actor"]> {
  return new Map(entries.map(({ position, actor }) => [position, actor]));
}

/** The index of the last entry at or before a time; -1 before the first. */
export function indexAtTime(entries: readonly Entry[], at: string): number {
  return entries.findLastIndex(({ time }) => Date.parse(time) <= Date.parse(at));
}
