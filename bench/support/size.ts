const sizes = ["default", "full"];

/** How long everything takes: `default` is for a look after a change, `full` for figures to be quoted. */
export const size = process.env["SIZE"] ?? "default";
if (!sizes.includes(size)) throw new Error(`SIZE: ${size} is none of ${sizes.join(", ")}`);

/** The value for this run's size. */
export function sized<T>(forDefault: T, forFull: T): T {
  return size === "full" ? forFull : forDefault;
}

/** Rounds of every figure. */
export const rounds = 5;
