const units = [["d", 86_400_000], ["h", 3_600_000], ["min", 60_000], ["s", 1_000]] as const;

/** A length of time in words, two units at most: `9 min 58 s`, `1.25 s`, `548 ms`. */
export function durationText(ms: number): string {
  const whole = Math.round(Math.abs(ms));
  if (whole < 1_000) return `${whole} ms`;
  if (whole < 60_000) return `${String(Math.round(whole / 10) / 100)} s`;
  const first = units.findIndex(([, size]) => whole >= size);
  const [name, size] = units[first] ?? units[3];
  const next = units[first + 1];
  const rest = next ? Math.floor((whole % size) / next[1]) : 0;
  return `${Math.floor(whole / size)} ${name}${next && rest > 0 ? ` ${rest} ${next[0]}` : ""}`;
}

/** Milliseconds from one time to another; negative where the clocks of their writers disagree. */
export function between(from: string, to: string): number {
  return Date.parse(to) - Date.parse(from);
}
