import { TreeInterpreter, type JSONValue } from "@jmespath-community/jmespath";
import type { Expression } from "./expression.ts";
import { MappingProblem } from "./protocol.ts";

type Keys = readonly number[] | readonly string[];
type Ordering = (items: readonly JSONValue[], keys: Keys) => JSONValue;

/** Stable orders. The library orders numbers as texts, and texts by language or not at all. */
export const orderings = {
  sort: byThemselves(sorted),
  sort_by: byExpression("sort_by", sorted),
  max: byThemselves((items, keys) => extreme(items, keys, 1)),
  max_by: byExpression("max_by", (items, keys) => extreme(items, keys, 1)),
  min: byThemselves((items, keys) => extreme(items, keys, -1)),
  min_by: byExpression("min_by", (items, keys) => extreme(items, keys, -1)),
} as const;

function sorted(items: readonly JSONValue[], keys: Keys): JSONValue {
  return [...items.keys()].sort((one, other) => compare(keys, one, other)).map((at) => items[at] ?? null);
}

function extreme(items: readonly JSONValue[], keys: Keys, direction: 1 | -1): JSONValue {
  let best = 0;
  for (const at of items.keys()) if (compare(keys, at, best) * direction > 0) best = at;
  return items[best] ?? null;
}

/** The library has checked that items are all numbers or all texts. */
function byThemselves(order: Ordering) {
  return ([items]: readonly JSONValue[]) => order(items as JSONValue[], items as Keys);
}

function byExpression(name: string, order: Ordering) {
  return ([given, expression]: readonly JSONValue[]) => {
    const items = given as JSONValue[];
    const keys = items.map((item) => TreeInterpreter.visit(expression as unknown as Expression, item));
    const kind = typeof keys[0];
    if (keys.length > 0 && ((kind !== "number" && kind !== "string") || keys.some((key) => typeof key !== kind))) {
      throw new MappingProblem(`${name}() orders by numbers only, or by strings only`);
    }
    return order(items, keys as unknown as Keys);
  };
}

function compare(keys: Keys, one: number, other: number): number {
  const [a, b] = [keys[one] ?? 0, keys[other] ?? 0];
  return typeof a === "string" ? compareTexts(a, b as string) : a - (b as number);
}

function compareTexts(one: string, other: string): number {
  const length = Math.min(one.length, other.length);
  let at = 0;
  while (at < length && one.charCodeAt(at) === other.charCodeAt(at)) at += 1;
  return at < length ? rank(one.charCodeAt(at)) - rank(other.charCodeAt(at)) : one.length - other.length;
}

/** Surrogates stand for characters beyond all others. */
function rank(unit: number): number {
  return unit >= 0xd800 && unit <= 0xdfff ? unit + 0x10000 : unit;
}
