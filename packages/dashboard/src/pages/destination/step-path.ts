/** The path of a step line in a box of this size: each value is a level as wide as its bucket, null is a gap. */
export function stepPath(
  values: readonly (number | null)[], most: number,
  { width, height }: { readonly width: number; readonly height: number },
): string {
  const each = width / Math.max(1, values.length);
  const round = (number: number) => Math.round(number * 10) / 10;
  return values.map((value, place) => {
    if (value === null) return "";
    const level = round(height - 1 - value / most * (height - 2));
    const start = place > 0 && values[place - 1] !== null ? "L" : "M";
    return `${start}${round(place * each)} ${level}H${round((place + 1) * each)}`;
  }).join("");
}
