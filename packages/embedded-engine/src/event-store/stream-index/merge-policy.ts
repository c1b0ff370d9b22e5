/**
 * The neighbours, of segments from old to new, that are to be merged next; none when there are few enough. A tier
 * is `fanout` times the size of the one before, the first that of a flush. Segments of a tier or below it, next to
 * each other, are merged once together they reach a higher tier: so a record is rewritten once for each tier, and
 * the number of segments grows with the logarithm of the number of records.
 */
export function dueForMerge<Sized extends { readonly records: number }>(
  segments: readonly Sized[],
  flushRecords: number,
  fanout: number,
): readonly Sized[] {
  // Slightly fewer records count as a full tier: a merge keeps one of two equal records.
  const tierOf = (records: number) =>
    Math.max(0, Math.floor(Math.log(records / flushRecords) / Math.log(fanout) + 0.1));
  const highest = Math.max(0, ...segments.map(({ records }) => tierOf(records)));
  for (let tier = 0; tier <= highest; tier++) {
    for (let end = segments.length; end > 0;) {
      let start = end;
      let records = 0;
      while (start > 0 && tierOf(segments[start - 1]!.records) <= tier) records += segments[--start]!.records;
      if (end - start > 1 && tierOf(records) > tier) return segments.slice(start, end);
      end = start === end ? end - 1 : start;
    }
  }
  return [];
}
