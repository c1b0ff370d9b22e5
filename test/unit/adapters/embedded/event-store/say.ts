/** Prints a line; resolves once it is out of this process, which may be killed then. Who reads it may be slow. */
export function say(...words: readonly (string | number)[]): Promise<void> {
  return new Promise((resolve) => process.stdout.write(`${words.join(" ")}\n`, () => resolve()));
}
