import { refuse } from "../../kernel/domain/refusal.ts";
import { shownName } from "../../kernel/operations/validate.ts";
import type { OpenCredentials } from "../../kernel/sealing/vault.ts";
import { isSettableHeader, type AuthType } from "./facts.ts";

/** Headers by their names, as they were given. */
export type Headers = Readonly<Record<string, string>>;

/** The text in the place of a value: shown for it, and given for one that stays. */
const mask = "***";

/** The headers of a body, null where a stored value is to stay. Throws a Refusal (invalid). */
export function readHeaders(given: Headers | null): Readonly<Record<string, string | null>> {
  const names = new Set<string>();
  const headers = Object.entries(given ?? {}).map(([name, value]) => {
    const field = `headers.${shownName(name)}`;
    checkHeaderName(field, name);
    if (/^x-relay-/i.test(name)) refuse("invalid", `${field}: headers of the relay itself cannot be set`);
    if (names.has(name.toLowerCase())) refuse("invalid", `${field}: is there twice`);
    names.add(name.toLowerCase());
    checkHeaderValue(field, value);
    return [name, value === mask ? null : value] as const;
  });
  return Object.fromEntries(headers);
}

/** The sealed headers with the stored values of those that stay. Throws a Refusal (invalid). */
export function withKept(stored: Headers, headers: Readonly<Record<string, string | null>>): Headers {
  const values = new Map(Object.entries(stored).map(([name, value]) => [name.toLowerCase(), value]));
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => {
    const kept = value ?? values.get(name.toLowerCase());
    return [name, kept ?? refuse("invalid", `headers.${shownName(name)}: has no stored value that could stay`)];
  }));
}

/** Throws a Refusal (invalid) that names the field where the credentials use one of the headers. */
export function checkApart(
  field: "headers" | "credentials", headers: object,
  auth: { readonly type: AuthType; readonly credentials: OpenCredentials } | null | undefined,
): void {
  if (!auth) return;
  const used = auth.type === "ApiKey" ? auth.credentials["headerName"] : "Authorization";
  const name = Object.keys(headers).find((one) => typeof used === "string" && one.toLowerCase() === used.toLowerCase());
  if (name === undefined) return;
  if (field === "headers") refuse("invalid", `headers.${shownName(name)}: the credentials use this header`);
  refuse("invalid", `credentials: use ${shownName(name)}, which is one of the destination's headers`);
}

/** Headers as they are shown: their names. */
export function maskedHeaders(headers: object): Headers {
  return Object.fromEntries(Object.keys(headers).map((name) => [name, mask]));
}

/** Throws a Refusal (invalid) unless a person may have this header sent. */
export function checkHeaderName(field: string, name: string): void {
  if (!/^[A-Za-z0-9!#$%&'*+.^_`|~-]{1,128}$/.test(name)) refuse("invalid", `${field}: must be the name of an HTTP header`);
  if (!isSettableHeader(name)) refuse("invalid", `${field}: this header is not for you to set`);
}

/** Throws a Refusal (invalid) unless a header may have this value. */
export function checkHeaderValue(field: string, value: string): void {
  if (!/^[\x21-\x7e](?:[\x20-\x7e]*[\x21-\x7e])?$/.test(value)) {
    refuse("invalid", `${field}: must be printable ASCII, neither empty nor with spaces around it`);
  }
}
