import type { IncomingMessage } from "node:http";
import { nilUuid, uuidForm } from "../domain/uuid.ts";
import type { Ids } from "../ports/ids.ts";

const requestIdForm = /^[\x21-\x7e]{1,128}$/;

/**
 * The UUID in a path, in lower case. Any other text becomes a UUID that nothing has, and is answered like any unknown
 * id, after all the checks that come before.
 */
export function uuidOf(text: string): string {
  const lower = text.toLowerCase();
  return uuidForm.test(lower) ? lower : nilUuid;
}

/** The id a caller gave its request, when it is 1 to 128 visible ASCII characters; else a new one. */
export function requestIdOf({ headers }: Pick<IncomingMessage, "headers">, ids: Ids): string {
  const given = headers["x-request-id"];
  return typeof given === "string" && requestIdForm.test(given) ? given : ids.uuid();
}
