import { TreeInterpreter, type JSONValue } from "@jmespath-community/jmespath";
import type { Expression } from "./expression.ts";
import { parsePayload } from "./json.ts";
import { orderings } from "./ordering.ts";
import { MappingProblem } from "./protocol.ts";
import { texts } from "./texts.ts";

type Function = (args: readonly JSONValue[]) => JSONValue;

/** In UTF-16 units. One call can multiply a text's length by a thousand, and too long a text ends the process. */
const mostCharacters = 512 * 1024;

/** The most characters that a search compares: V8's searches may take the product of both lengths, uninterruptibly. */
const mostCompared = 32 * 1024 * 1024;

type Lengths = (args: readonly JSONValue[]) => number;

/** The minimum length of a function's result, if known in advance. */
const lengthOf: Readonly<Record<string, Lengths>> = {
  join: ([glue, parts]) =>
    (parts as string[]).reduce((sum, part) => sum + part.length, (glue as string).length * (parts as string[]).length),
  pad_left: ([, width]) => width as number,
  pad_right: ([, width]) => width as number,
  replace: ([subject, from, to, times]) =>
    Math.min((subject as string).split(from as string).length, (times ?? Infinity) as number) * (to as string).length,
};

const searchOf: Lengths = ([subject, wanted]) =>
  typeof subject === "string" && typeof wanted === "string" ? subject.length * wanted.length : 0;

const comparedBy: Readonly<Record<string, Lengths>> = {
  contains: searchOf,
  find_first: searchOf,
  find_last: searchOf,
  replace: searchOf,
  split: searchOf,
};

/** The library's own takes inherited properties (`constructor`) for existing groups. */
const groupBy: Function = ([items, expression]) =>
  Object.groupBy(items as JSONValue[], (item) => {
    const key = TreeInterpreter.visit(expression as unknown as Expression, item ?? {});
    if (typeof key !== "string") throw new MappingProblem("group_by() groups by strings only");
    return key;
  }) as JSONValue;

/** The library's own finds no object or array in an array. */
const contains: Function = ([subject, wanted]) => {
  if (typeof subject === "string") return typeof wanted === "string" ? subject.includes(wanted) : null;
  const items = subject as JSONValue[];
  return items.includes(wanted ?? null) || (isComposite(wanted) && items.some((item) => equal(item, wanted)));
};

function isComposite(value: JSONValue | undefined): value is JSONValue {
  return typeof value === "object" && value !== null;
}

function equal(one: JSONValue, other: JSONValue): boolean {
  const [left, right] = [one, other].map((value): Expression => ({ type: "Literal", value }));
  return TreeInterpreter.visit({ type: "Comparator", name: "EQ", left, right } as Expression, null) as boolean;
}

/** The library's own cannot reverse a long text. */
const reverse: Function = ([value]) =>
  typeof value === "string" ? [...value].reverse().join("") : [...(value as JSONValue[])].reverse();

const numberForm = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/;

/** The library's own reads an empty text as 0 and `0x10` as 16, and rounds long numbers. */
const toNumber: Function = ([value = null]) => {
  if (typeof value === "number" || JSON.isRawJSON(value)) return value;
  const text = typeof value === "string" ? value.trim() : "";
  return numberForm.test(text) ? (parsePayload(text).value as JSONValue) : null;
};

const { runtime } = TreeInterpreter;
const libraryType = runtime._functionTable["type"]!._func.bind(runtime) as Function;

/** The library's own does not know numbers that keep their digits. */
const type: Function = (args) => (JSON.isRawJSON(args[0]) ? "number" : libraryType(args));

const own: Readonly<Record<string, Function>> = {
  ...orderings, ...texts, contains, group_by: groupBy, reverse, to_number: toNumber, type,
};

/** Bounds every function of the library, for the whole process, by its searches and its result. */
export function boundFunctions(): void {
  for (const [name, entry] of Object.entries(runtime._functionTable)) {
    const run = own[name] ?? (entry._func.bind(runtime) as Function);
    const [compared, foreseen] = [comparedBy[name], lengthOf[name]];
    entry._func = (args: readonly JSONValue[]) => {
      if (compared && compared(args) > mostCompared) throw new MappingProblem(`${name}() searches for too long a text`);
      if (foreseen && foreseen(args) > mostCharacters) throw tooLong(name);
      const result = run(args);
      if (typeof result === "string" && result.length > mostCharacters) throw tooLong(name);
      return result;
    };
  }
}

function tooLong(name: string): MappingProblem {
  return new MappingProblem(`${name}() makes too long a text`);
}
