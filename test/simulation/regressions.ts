/** Seeds that found something once, with what it was. They run with every test, whatever its size. */
export const regressions: readonly { readonly seed: string; readonly found: string }[] = [];
