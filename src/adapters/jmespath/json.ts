import { MappingProblem } from "./problem.ts";

/** What a reviver gets beside the value: the source text of a primitive one. */
interface Context {
  readonly source?: string;
}

declare global {
  interface JSON {
    /** A value that JSON.stringify writes as the given text of a number. */
    rawJSON(text: string): { readonly rawJSON: string };
    isRawJSON(value: unknown): value is { readonly rawJSON: string };
    parse(text: string, revive: (key: string, value: unknown, context: Context) => unknown): unknown;
  }
}

const deepest = 128;

/** Only a text with many digits in a row, or a large exponent, can hold a number that a double cannot. */
const mayHoldLargeNumbers = /\d{16}|\d[eE]\+?\d{2}/;

/**
 * Reads JSON. An integer beyond 2^53 and a number beyond the range of a double keep their digits: they cannot be
 * computed with, but come out as they went in.
 */
export function parsePayload(text: string): unknown {
  if (!mayHoldLargeNumbers.test(text)) return JSON.parse(text);
  return JSON.parse(text, (_key, value, { source }) =>
    typeof value === "number" && source !== undefined ? faithful(value, source) : value);
}

function faithful(value: number, source: string): unknown {
  if (Math.abs(value) <= Number.MAX_SAFE_INTEGER) return value;
  return Number.isFinite(value) && String(value) === source ? value : JSON.rawJSON(source);
}

/**
 * The JSON text of a mapping's result: an object nested at most 128 deep, of at most `maxBytes` as UTF-8. A value may
 * be in many places of a result at no cost until it is written, so the result is measured first, up to the limit.
 * Throws a MappingProblem.
 */
export function resultText(result: unknown, maxBytes: number): string {
  if (typeof result !== "object" || result === null || Array.isArray(result) || JSON.isRawJSON(result)) {
    throw new MappingProblem(`yields ${kindOf(result)}, not an object`);
  }
  new Measure(maxBytes).add(result, 1);
  const text = JSON.stringify(result);
  if (Buffer.byteLength(text) > maxBytes) throw tooLarge(maxBytes);
  return text;
}

/** Counts at least one for each byte that is sure to be written. */
class Measure {
  readonly #limit: number;
  #size = 0;

  constructor(limit: number) {
    this.#limit = limit;
  }

  add(value: unknown, depth: number): void {
    this.#grow(1);
    switch (typeof value) {
      case "string":
        this.#grow(value.length);
        return;
      case "number":
        if (!Number.isFinite(value)) throw new MappingProblem("yields a number that JSON cannot hold");
        return;
      case "object":
        this.#addObject(value, depth);
        return;
      case "boolean":
      case "undefined":
        return;
      default:
        throw new MappingProblem("yields what JSON cannot hold");
    }
  }

  #addObject(value: object | null, depth: number): void {
    if (value === null) return;
    if (JSON.isRawJSON(value)) {
      this.#grow(value.rawJSON.length);
      return;
    }
    if (depth > deepest) throw new MappingProblem(`yields what is nested deeper than ${deepest}`);
    if (Array.isArray(value)) {
      for (const item of value) this.add(item, depth + 1);
      return;
    }
    for (const [key, item] of Object.entries(value)) {
      this.#grow(key.length + 2);
      this.add(item, depth + 1);
    }
  }

  #grow(by: number): void {
    this.#size += by;
    if (this.#size > this.#limit) throw tooLarge(this.#limit);
  }
}

function tooLarge(maxBytes: number): MappingProblem {
  return new MappingProblem(`yields more than ${maxBytes} bytes`);
}

function kindOf(value: unknown): string {
  if (value === null || value === undefined) return "null";
  if (Array.isArray(value)) return "an array";
  return typeof value === "object" ? "a number" : `a ${typeof value}`;
}
