/** Whether an owner may take more of a shared supply: it then holds no more than is left, one owner a half. */
export function mayTake(amount: number, held: number, free: number): boolean {
  return held === 0 ? amount <= free : held + amount <= free - amount;
}
