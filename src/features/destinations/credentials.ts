import { checkOutboundUrl, checkPlainText } from "../../kernel/callers/input-rules.ts";
import { refuse } from "../../kernel/domain/refusal.ts";
import type { OutboundClient } from "../../kernel/ports/outbound.ts";
import { isSettableHeader, type AuthType } from "./facts.ts";

/** Fields of credentials as a body has them, for any type of authentication; others may be among them. */
export type GivenCredentials = Readonly<Record<string, string>>;

/** How requests to a destination are to be authenticated, as a caller gives it. */
export interface AuthInput {
  readonly type: AuthType;
  readonly credentials: GivenCredentials;
}

interface Field {
  readonly name: string;
  readonly optional?: boolean;
  readonly check: (field: string, value: string, outbound: Pick<OutboundClient, "refusalOf">) => void;
}

const shapes: Readonly<Record<AuthType, readonly Field[]>> = {
  ApiKey: [{ name: "headerName", check: headerName }, { name: "value", check: headerValue }],
  BearerToken: [{ name: "token", check: headerValue }],
  JwtBearer: [
    { name: "tokenEndpoint", check: checkOutboundUrl },
    { name: "clientId", check: text },
    { name: "clientSecret", check: text },
    { name: "scope", optional: true, check: text },
  ],
  BasicAuth: [{ name: "username", check: username }, { name: "password", check: checkPlainText }],
};

/**
 * A body's authentication, both of its fields or neither: then undefined. Only the fields of the type are kept. Throws
 * a Refusal (invalid) that names the field at fault and never quotes a value.
 */
export function readAuth(
  body: { readonly authType?: AuthType | undefined; readonly credentials?: GivenCredentials | undefined },
  outbound: Pick<OutboundClient, "refusalOf">,
): AuthInput | undefined {
  const { authType, credentials } = body;
  if (authType === undefined || credentials === undefined) return undefined;
  const kept: Record<string, string> = {};
  for (const { name, optional, check } of shapes[authType]) {
    const field = `credentials.${name}`;
    const value = Object.hasOwn(credentials, name) ? credentials[name] : undefined;
    if (value === undefined && optional) continue;
    if (value === undefined) refuse("invalid", `${field}: is required`);
    check(field, value, outbound);
    kept[name] = value;
  }
  return { type: authType, credentials: kept };
}

function headerName(field: string, name: string): void {
  if (!/^[A-Za-z0-9!#$%&'*+.^_`|~-]{1,128}$/.test(name)) refuse("invalid", `${field}: must be the name of an HTTP header`);
  if (!isSettableHeader(name)) refuse("invalid", `${field}: this header is not for credentials to set`);
}

function headerValue(field: string, value: string): void {
  if (!/^[\x21-\x7e](?:[\x20-\x7e]*[\x21-\x7e])?$/.test(value)) {
    refuse("invalid", `${field}: must be printable ASCII, neither empty nor with spaces around it`);
  }
}

/** RFC 7617 lets both user and password be empty: many APIs want a token for one of them, and nothing for the other. */
function username(field: string, value: string): void {
  checkPlainText(field, value);
  if (value.includes(":")) refuse("invalid", `${field}: must not contain a colon`);
}

function text(field: string, value: string): void {
  if (value === "") refuse("invalid", `${field}: must not be empty`);
  checkPlainText(field, value);
}
