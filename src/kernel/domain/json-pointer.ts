const pointerForm = /^(?:\/(?:[^~/]|~[01])*)+$/;
const indexForm = /^(?:0|[1-9]\d*)$/;

/** Whether a text is a JSON Pointer (RFC 6901) to something within a document. */
export function isPointer(text: string): boolean {
  return pointerForm.test(text);
}

/** The names and indexes that a JSON Pointer goes through. */
export function pathOf(pointer: string): readonly string[] {
  return pointer.split("/").slice(1).map((token) => token.replaceAll("~1", "/").replaceAll("~0", "~"));
}

/** The value at a {@link pathOf path} of a JSON document; undefined where there is none. */
export function valueAt(document: unknown, path: readonly string[]): unknown {
  let found = document;
  for (const key of path) {
    if (typeof found !== "object" || found === null || !Object.hasOwn(found, key)) return undefined;
    if (Array.isArray(found) && !indexForm.test(key)) return undefined;
    found = (found as Readonly<Record<string, unknown>>)[key];
  }
  return found;
}
