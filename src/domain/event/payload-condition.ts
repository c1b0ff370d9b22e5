/** A condition on payloads: a text that they contain, or a value at a place in them (RFC 6901). */
export type PayloadCondition =
  | { readonly text: string }
  | { readonly pointer: string; readonly value: string };

/** Numbers of at most so many characters are exact in every form. */
const exactCharacters = 15;

/** Whether a text is a JSON Pointer to something within a document. */
export function isPointer(text: string): boolean {
  return /^(\/([^~]|~[01])*)+$/s.test(text);
}

/**
 * Checks payloads against a condition. At a pointer there must be a text that is the value, or a boolean, null or
 * number whose JSON text is the value: a number as it is written in the payload, or a short one in its shortest form.
 */
export function payloadCheck(condition: PayloadCondition): (payload: string) => boolean {
  if ("text" in condition) return (payload) => payload.includes(condition.text);
  const { value } = condition;
  const path = condition.pointer.slice(1).split("/").map((key) => key.replaceAll("~1", "/").replaceAll("~0", "~"));
  return (payload) => {
    const found = within(JSON.parse(payload), path);
    if (typeof found === "string") return found === value;
    if (typeof found === "boolean" || found === null) return String(found) === value;
    if (typeof found !== "number" || found !== Number(value)) return false;
    if (String(found) === value && value.length <= exactCharacters) return true;
    return within(withNumbersAsWritten(payload), path) === value;
  };
}

/** The value at a path; undefined where there is none. */
function within(document: unknown, path: readonly string[]): unknown {
  let found = document;
  for (const key of path) {
    if (typeof found !== "object" || found === null || !Object.hasOwn(found, key)) return undefined;
    if (Array.isArray(found) && !/^(0|[1-9]\d*)$/.test(key)) return undefined;
    found = (found as Readonly<Record<string, unknown>>)[key];
  }
  return found;
}

type Reviver = (key: string, value: unknown, context: { readonly source?: string }) => unknown;

/** The document with the source text of each number in its stead. */
function withNumbersAsWritten(payload: string): unknown {
  const asWritten: Reviver = (_key, value, { source }) => (typeof value === "number" ? source : value);
  return (JSON.parse as (text: string, reviver: Reviver) => unknown)(payload, asWritten);
}
