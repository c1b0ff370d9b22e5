import type { IncomingMessage } from "node:http";
import type { Ids } from "../ports/ids.ts";

const uuidForm = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;
const requestIdForm = /^[\x21-\x7e]{1,128}$/;

/** Nothing has it. */
const nothings = "00000000-0000-0000-0000-000000000000";

/**
 * The UUID that a path names, in lower case whatever its case was. For anything else one that nothing has: it is
 * answered as any id that exists nowhere, after all the checks that come before.
 */
export function uuidOf(text: string): string {
  const lower = text.toLowerCase();
  return uuidForm.test(lower) ? lower : nothings;
}

/** The id a caller gave its request, when it is 1 to 128 visible ASCII characters; else a new one. */
export function requestIdOf({ headers }: IncomingMessage, ids: Ids): string {
  const given = headers["x-request-id"];
  return typeof given === "string" && requestIdForm.test(given) ? given : ids.uuid();
}
