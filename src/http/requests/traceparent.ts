import type { IncomingHttpHeaders } from "node:http";

const mostCharacters = 256;
const fields = "(?!0{32})[0-9a-f]{32}-(?!0{16})[0-9a-f]{16}-[0-9a-f]{2}";
/** Version 00 has just these fields; a later one may have more. No comma: Node joins repeated headers by commas. */
const form = new RegExp(`^(?:00-${fields}|(?!00|ff)[0-9a-f]{2}-${fields}(?:-[!-+\\--~]*)?)$`);

/**
 * The `traceparent` of a request as it was sent, where it is valid by W3C Trace Context; else undefined, as that
 * standard has it. At most 256 characters, of which a present version takes 55.
 */
export function traceparentOf(headers: IncomingHttpHeaders): string | undefined {
  const { traceparent } = headers;
  const isValid = typeof traceparent === "string" && traceparent.length <= mostCharacters && form.test(traceparent);
  return isValid ? traceparent : undefined;
}
