const sizes = ["small", "full"];
const size = process.env.RELAY_TEST_SIZE ?? "small";
if (!sizes.includes(size)) throw new Error(`RELAY_TEST_SIZE: ${size} is none of ${sizes.join(", ")}`);

/** The figure for the size of this run: `small` in `make test` and `make test-slow`, `full` in `make test-full`. */
export function sized(small: number, full: number): number {
  return size === "full" ? full : small;
}
