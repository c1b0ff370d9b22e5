/** A fact, and the counts that came right before it, if it is a count. */
export interface CountedRun<Fact> {
  readonly fact: Fact;
  readonly before: readonly Fact[];
}

/** The facts of a circuit, the newest first, with counts in a row under the newest of them. */
export function countedRuns<Fact extends { readonly type: string }>(facts: readonly Fact[]): CountedRun<Fact>[] {
  const runs: { readonly fact: Fact; readonly before: Fact[] }[] = [];
  for (const fact of facts) {
    const last = runs.at(-1);
    if (last && isCount(fact) && isCount(last.fact)) last.before.push(fact);
    else runs.push({ fact, before: [] });
  }
  return runs;
}

function isCount({ type }: { readonly type: string }): boolean {
  return type === "CircuitCounted";
}
