import { MappingProblem } from "./protocol.ts";

interface Context {
  readonly source?: string;
}

declare global {
  interface JSON {
    /** A value that JSON.stringify writes as the given number's text. */
    rawJSON(text: string): { readonly rawJSON: string };
    isRawJSON(value: unknown): value is { readonly rawJSON: string };
    parse(text: string, revive: (key: string, value: unknown, context: Context) => unknown): unknown;
  }
}

const deepest = 128;

/** Only many digits or a large exponent can exceed a double. */
const mayHoldLongNumbers = /\d[\d.]{15}|\d[eE]\+?\d{2}/;
/** A double keeps this many significant digits, and whole numbers of this many exactly. */
const sureDigits = 15;

/** How the payload writes numbers, by value; null if it writes one in two ways. */
export type Spellings = ReadonlyMap<number, string | null>;

/** Reads JSON. Numbers that a double cannot hold keep their digits, and cannot be computed with. */
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

/** The payload's digits of a number whose double may lack some. Short whole numbers are mostly results. */
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
 * The JSON text of a result: an object nested at most 128 deep, with the payload's digits. It is measured first, since
 * values may be shared at no cost until they are written. Throws a MappingProblem.
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
