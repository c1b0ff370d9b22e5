import { anyText, object, text, type ValueOf } from "../../kernel/domain/schema.ts";
import { isTagName, isTagValue, type Tags } from "../../kernel/domain/tags.ts";

/** The schema of a field of received bodies that becomes a tag of the event; its path is a JSON Pointer (RFC 6901). */
export const searchField = object({
  name: text("The tag's name."), path: anyText("A JSON Pointer into the body as received."),
});
/** A field of received bodies that becomes a tag of the event. */
export type SearchField = ValueOf<typeof searchField>;

/** The most fields that a sender may name. */
export const mostSearchFields = 5;

/** The third argument of a reviver: the text of a number as it was received. */
interface ReviverContext {
  readonly source?: string;
}

const pointerForm = /^(?:\/(?:[^~/]|~[01])*)*$/;
const indexForm = /^(?:0|[1-9]\d*)$/;

/** What is wrong with the fields, beginning with the name of the one at fault; null where nothing is. */
export function problemOfSearchFields(fields: readonly SearchField[]): string | null {
  for (const [at, { name, path }] of fields.entries()) {
    if (!isTagName(name)) return `searchFields.${at}.name: must be 1 to 32 of a to z, 0 to 9 and _`;
    if (fields.findIndex((other) => other.name === name) < at) return `searchFields.${at}.name: is there twice`;
    if (!pointerForm.test(path) || !path.isWellFormed()) {
      return `searchFields.${at}.path: must be a JSON Pointer, for example /order/id`;
    }
  }
  return null;
}

/**
 * The tags that the fields make of a body, the text of a JSON object: numbers with every digit as received. A field is
 * skipped where there is no value, or none that a tag may have.
 */
export function tagsOfBody(fields: readonly SearchField[], body: string): Tags {
  const value: unknown = JSON.parse(body);
  let exact: unknown;
  const tags = fields.flatMap(({ name, path }) => {
    const tokens = path.split("/").slice(1).map((token) => token.replaceAll("~1", "/").replaceAll("~0", "~"));
    let found = valueAt(value, tokens);
    if (typeof found === "number") found = valueAt(exact ??= withExactNumbers(body), tokens);
    const text = typeof found === "boolean" ? String(found) : found;
    return typeof text === "string" && isTagValue(text) ? [[name, text] as const] : [];
  });
  return Object.fromEntries(tags);
}

function valueAt(value: unknown, tokens: readonly string[]): unknown {
  let found = value;
  for (const token of tokens) {
    if (typeof found !== "object" || found === null) return undefined;
    if (Array.isArray(found) ? !indexForm.test(token) : !Object.hasOwn(found, token)) return undefined;
    found = (found as Readonly<Record<string, unknown>>)[token];
  }
  return found;
}

/** The value with each number as the text that it was received as. */
function withExactNumbers(body: string): unknown {
  const reviver = (_name: string, value: unknown, { source }: ReviverContext) =>
    (typeof value === "number" ? source : value);
  return JSON.parse(body, reviver as (name: string, value: unknown) => unknown);
}
