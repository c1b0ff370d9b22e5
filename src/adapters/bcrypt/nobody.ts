/** A hash of this cost that no password is known to have, a salt and a digest of zeros: it costs as much as any. */
export function hashOfNobody(cost: number): string {
  return `$2b$${String(cost).padStart(2, "0")}$${".".repeat(53)}`;
}
