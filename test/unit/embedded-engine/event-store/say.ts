/** Prints a line; resolves once the line has left this process, also to a slow reader. The process may die then. */
export function say(...words: readonly (string | number)[]): Promise<void> {
  return new Promise((resolve) => process.stdout.write(`${words.join(" ")}\n`, () => resolve()));
}
