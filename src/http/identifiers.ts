import type { IncomingMessage } from "node:http";
import type { Ids } from "../ports/ids.ts";

const uuidForm = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;
const requestIdForm = /^[\x21-\x7e]{1,128}$/;

/** A UUID in lower case, whatever its case was; undefined for anything else. */
export function uuidOf(text: string): string | undefined {
  const lower = text.toLowerCase();
  return uuidForm.test(lower) ? lower : undefined;
}

/** The id a caller gave its request, when it is 1 to 128 visible ASCII characters; else a new one. */
export function requestIdOf({ headers }: IncomingMessage, ids: Ids): string {
  const given = headers["x-request-id"];
  return typeof given === "string" && requestIdForm.test(given) ? given : ids.uuid();
}
