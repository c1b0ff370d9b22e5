/**
 * Whether an owner that holds `held` of a shared supply may take `amount` more while `free` is left: afterwards it
 * holds no more than is then free. So one owner gets a half, two get a third each, and one that holds nothing gets what
 * is left.
 */
export function mayTake(amount: number, held: number, free: number): boolean {
  return held === 0 ? amount <= free : held + amount <= free - amount;
}
