/** A hash of this cost that no known password matches; comparing it takes as long as any. */
export function hashOfNobody(cost: number): string {
  return `$2b$${String(cost).padStart(2, "0")}$${".".repeat(53)}`;
}
