import type { JSONValue } from "@jmespath-community/jmespath";
import { MappingProblem } from "./protocol.ts";

/** In code points. The library's own count UTF-16 units; its `replace` searches its own replacements. */
export const texts = {
  find_first: finding("find_first", (text, wanted) => text.indexOf(wanted)),
  find_last: finding("find_last", (text, wanted) => text.lastIndexOf(wanted)),
  pad_left: padding("pad_left", (text, more) => more + text),
  pad_right: padding("pad_right", (text, more) => text + more),
  replace: ([text, from, to, times]: Arguments) => {
    const most = wholeOr(Infinity, times, "replace() takes a whole number of times, 0 or more");
    return partsOf(text as string, from as string, most).join(to as string);
  },
  split: ([text, separator, times]: Arguments) =>
    partsOf(text as string, separator as string, wholeOr(Infinity, times, "split() takes a whole number, 0 or more")),
  trim: trimming({ left: true, right: true }),
  trim_left: trimming({ left: true, right: false }),
  trim_right: trimming({ left: false, right: true }),
} as const;

type Arguments = readonly JSONValue[];

/** The units of characters beyond U+FFFF. */
const pairs = /[\ud800-\udbff][\udc00-\udfff]/g;

/** The parts between separators, after `most` the rest unchanged. An empty separator splits into characters. */
function partsOf(text: string, separator: string, most: number): string[] {
  const parts = separator === "" ? [...text] : text.split(separator);
  return parts.length <= most + 1 ? parts : [...parts.slice(0, most), parts.slice(most).join(separator)];
}

function finding(name: string, find: (text: string, wanted: string) => number) {
  return ([given, wanted, start, end]: Arguments) => {
    const text = given as string;
    if (text === "" || wanted === "") return null;
    const [from, to] = [start ?? 0, end ?? text.length];
    if (![from, to].every(Number.isInteger)) throw new MappingProblem(`${name}() searches between whole numbers`);
    const before = Math.max(from as number, 0);
    const part = start == null && end == null ? text : between(text, before, to as number);
    const at = find(part, wanted as string);
    return at < 0 ? null : before + charactersIn(part.slice(0, at));
  };
}

function padding(name: string, put: (text: string, more: string) => string) {
  return ([text, width, character]: Arguments) => {
    const one = (character as string) || " ";
    if (charactersIn(one) > 1) throw new MappingProblem(`${name}() pads with one character`);
    const whole = wholeOr(0, width, `${name}() pads to a whole number of characters, 0 or more`);
    return put(text as string, one.repeat(Math.max(0, whole - charactersIn(text as string))));
  };
}

function trimming({ left, right }: { readonly left: boolean; readonly right: boolean }) {
  return ([given, cut]: Arguments) => {
    const text = given as string;
    const some = new Set(cut as string);
    const goes = (character: string) => (cut ? some.has(character) : /^[\s\x85]$/.test(character));
    let [from, to] = [0, text.length];
    while (left && from < to) {
      const next = characterAt(text, from);
      if (!goes(next)) break;
      from += next.length;
    }
    while (right && from < to) {
      const last = characterBefore(text, to);
      if (!goes(last)) break;
      to -= last.length;
    }
    return text.slice(from, to);
  };
}

function characterAt(text: string, at: number): string {
  return String.fromCodePoint(text.codePointAt(at) ?? 0);
}

function characterBefore(text: string, end: number): string {
  const two = end < 2 ? "" : characterAt(text, end - 2);
  return two.length === 2 ? two : text.charAt(end - 1);
}

function between(text: string, from: number, to: number): string {
  return text.search(pairs) < 0 ? text.slice(from, to) : [...text].slice(from, to).join("");
}

function wholeOr(usual: number, given: JSONValue | undefined, problem: string): number {
  if (given === undefined || given === null) return usual;
  if (!Number.isInteger(given) || (given as number) < 0) throw new MappingProblem(problem);
  return given as number;
}

function charactersIn(text: string): number {
  return text.length - (text.match(pairs)?.length ?? 0);
}
