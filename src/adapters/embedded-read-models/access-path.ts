import type { CollectionDefinition, Selection } from "../../ports/read-models.ts";
import { columnsOf } from "../read-models/indexes.ts";

/** An index to answer from, and what it does for the question. */
export interface AccessPath {
  /** The fields of the index as defined; undefined: the table's key. */
  readonly index: readonly string[] | undefined;
  /** The leading fields of the index that the selection fixes. */
  readonly fixed: readonly string[];
  /** Whether the index gives the order asked for, within each value of `anyOf` where it has any. */
  readonly ordered: boolean;
  /** Whether each value of `anyOf` is a range of its own in the index. */
  readonly merges: boolean;
  /** Whether the range is one of places in the index. */
  readonly ranged: boolean;
}

/**
 * The best index for a selection ordered by a field (see `orderFieldOf`), or in any order. With
 * `first: "range"` the range comes before the order, where no index has both.
 */
export function accessPath(
  definition: CollectionDefinition,
  selection: Selection,
  orderField: string | undefined,
  first: "order" | "range",
): AccessPath {
  let best: AccessPath = {
    index: undefined,
    fixed: [],
    ordered: orderField === definition.key,
    merges: false,
    ranged: false,
  };
  let bestScore = score(best, 0, first);
  for (const index of definition.indexes) {
    const columns = columnsOf(definition, index);
    const { used, merges } = prefixOf(columns, selection);
    const next = columns[used];
    const path: AccessPath = {
      index,
      fixed: columns.slice(0, used),
      merges,
      ordered: orderField !== undefined && next === orderField
        && (next === definition.key || columns[used + 1] === definition.key),
      ranged: next !== undefined && next === selection.range?.field,
    };
    // Fields that the index has anyway are filtered by without a look at the document.
    const filters = columns.slice(used).filter((column) => isCondition(column, selection)).length;
    const pathScore = score(path, used * 8 + filters, first);
    if (pathScore > bestScore) [best, bestScore] = [path, pathScore];
  }
  return best;
}

/** How many leading columns of an index the equalities of a selection fix, and whether `anyOf` is among them. */
function prefixOf(columns: readonly string[], { where = {}, anyOf }: Selection): { used: number; merges: boolean } {
  let used = 0;
  let merges = false;
  for (const column of columns) {
    if (column === anyOf?.field && !(column in where)) merges = true;
    else if (!(column in where)) break;
    used += 1;
  }
  return { used, merges };
}

function isCondition(column: string, { where = {}, anyOf, range }: Selection): boolean {
  return column in where || column === anyOf?.field || column === range?.field;
}

function score(path: AccessPath, fixed: number, first: "order" | "range"): number {
  const [major, minor] = first === "order" ? [path.ordered, path.ranged] : [path.ranged, path.ordered];
  return fixed + (major ? 4000 : 0) + (minor ? 4 : 0);
}
