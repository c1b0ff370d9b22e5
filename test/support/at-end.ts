const endings: (() => Promise<void>)[] = [];

/** Has `end` called at the end of all tests of this process. One of Mocha's workers is killed instead. */
export function atEnd(end: () => Promise<void>): void {
  endings.push(end);
}

/** Calls the functions given to {@link atEnd}. */
export async function endAll(): Promise<void> {
  await Promise.all(endings.splice(0).map((end) => end()));
}
