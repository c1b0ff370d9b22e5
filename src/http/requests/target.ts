/** Characters of a path and a query (RFC 3986, 3.3 and 3.4), for brackets of a regular expression. */
export const targetCharacters = String.raw`\w\-.~!$&'()*+,;=:@%/?`;

const pathAndQuery = new RegExp(`^[${targetCharacters}]*$`);
const origin =
  /^https?:\/\/(?:[\w\-.~!$&'()*+,;=:%]*@)?(?:\[[\da-f:.]+\]|[\w\-.~!$&'()*+,;=%]+)(?::\d*)?(?=[/?]|$)/i;
const brokenEscape = /\?.*%(?![\da-f]{2})/i;
const dotSegment = /\/(?:\.|%2e){1,2}(?:\/|$)/i;

export const illegalTarget =
  "request target: must be a path, or an http URL, of characters that RFC 3986 allows there: # and \\ are not, "
  + "nor in a query a % without two hexadecimal digits behind it";

/** The path and query of a target, also of a whole URL, as to a proxy, and `*`; null for any other form. */
export function originForm(target: string): string | null {
  if (target.startsWith("/")) return pathAndQuery.test(target) && !hasBrokenEscape(target) ? target : null;
  if (target === "*") return target;
  const [before] = origin.exec(target) ?? [];
  if (before === undefined) return null;
  const rest = target.slice(before.length);
  return originForm(rest.startsWith("/") ? rest : `/${rest}`);
}

/** Whether a query has an incomplete percent-escape. */
export function hasBrokenEscape(target: string): boolean {
  return target.includes("?") && brokenEscape.test(target);
}

/** Whether a path has a segment `.` or `..`, plain or percent-encoded. */
export function hasDotSegment(path: string): boolean {
  return dotSegment.test(path);
}
