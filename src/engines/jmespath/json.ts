import { MappingProblem } from "./protocol.ts";

/** A reviver's third argument: the source text of a primitive value. */
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

/** Only a text with many digits, or a large exponent, can hold a number that a double cannot. */
const mayHoldLongNumbers = /\d[\d.]{15}|\d[eE]\+?\d{2}/;
/** A double keeps so many significant digits of any number, and whole numbers of up to so many digits exactly. */
const sureDigits = 15;

/** How numbers are written in a payload, by their value; null if the payload writes one value in two ways. */
export type Spellings = ReadonlyMap<number, string | null>;

/**
 * Reads JSON. A number above 2^53 or beyond the range of a double keeps its digits: it cannot be computed with, but is
 * written as it was read. Other numbers are doubles. They have spellings if the payload may hold one of many digits.
 */
export function parsePayload(text: string): { readonly value: unknown; readonly spellings: Spellings } {
  const spellings = new Map<number, string | null>();
  if (!mayHoldLongNumbers.test(text)) return { value: JSON.parse(text), spellings };
  const value = JSON.parse(text, (_key, value, { source }) => {
    if (typeof value !== "number" || source === undefined) return value;
    const known = spellings.get(value);
    spellings.set(value, known === undefined || known === source ? source : null);
    return faithful(value, source);
  });
  return { value, spellings };
}

/**
 * The digits that a number had in the payload if its double may have lost some, else undefined. Short whole numbers are
 * left out: most of them are results, not numbers of the payload.
 */
function lostDigits(value: number, spellings: Spellings): string | undefined {
  if (Number.isInteger(value) && Math.abs(value) < 10 ** sureDigits) return undefined;
  const spelling = spellings.get(value);
  return spelling && spelling.length > sureDigits ? spelling : undefined;
}

function faithful(value: number, source: string): unknown {
  if (Math.abs(value) <= Number.MAX_SAFE_INTEGER) return value;
  return Number.isFinite(value) && String(value) === source ? value : JSON.rawJSON(source);
}

/**
 * The JSON text of a mapping's result: an object nested at most 128 deep, of at most `maxBytes` as UTF-8; numbers with
 * the digits that the payload has for them. A value may be in many places of a result at no cost until it is written,
 * so the result is measured first, up to the limit. Throws a MappingProblem.
 */
export function resultText(result: unknown, maxBytes: number, spellings: Spellings): string {
  if (typeof result !== "object" || result === null || Array.isArray(result) || JSON.isRawJSON(result)) {
    throw new MappingProblem(`yields ${kindOf(result)}, not an object`);
  }
  new Measure(maxBytes, spellings).add(result, 1);
  const text = spellings.size === 0 ? JSON.stringify(result) : JSON.stringify(result, (_key, value: unknown) => {
    const digits = typeof value === "number" ? lostDigits(value, spellings) : undefined;
    return digits === undefined ? value : JSON.rawJSON(digits);
  });
  if (Buffer.byteLength(text) > maxBytes) throw tooLarge(maxBytes);
  return text;
}

/** Counts a lower bound of the bytes to be written. */
class Measure {
  readonly #limit: number;
  readonly #spellings: Spellings;
  #size = 0;

  constructor(limit: number, spellings: Spellings) {
    this.#limit = limit;
    this.#spellings = spellings;
  }

  add(value: unknown, depth: number): void {
    this.#grow(1);
    switch (typeof value) {
      case "string":
        this.#grow(value.length);
        return;
      case "number":
        if (!Number.isFinite(value)) throw new MappingProblem("yields a number that JSON cannot hold");
        this.#grow(lostDigits(value, this.#spellings)?.length ?? 0);
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
