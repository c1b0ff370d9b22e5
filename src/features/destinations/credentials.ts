import type { Inputs } from "../../../schemas/api.ts";
import { checkOutboundUrl, checkPlainText } from "../../kernel/callers/input-rules.ts";
import { refuse } from "../../kernel/domain/refusal.ts";
import { shownName } from "../../kernel/operations/validate.ts";
import type { OutboundClient } from "../../kernel/ports/outbound.ts";
import type { OpenCredentials } from "../../kernel/sealing/vault.ts";
import type { AuthType } from "./facts.ts";
import { checkHeaderName, checkHeaderValue } from "./headers.ts";

/** Authentication as a body has it: its type, and the fields of that type. */
export interface AuthInput {
  readonly type: AuthType;
  readonly credentials: OpenCredentials;
}

type Outbound = Pick<OutboundClient, "refusalOf">;

interface Field {
  readonly name: string;
  readonly optional?: boolean;
  readonly check: (field: string, value: string, outbound: Outbound) => void;
}

/** The fields of each type that are texts. */
const shapes: Readonly<Record<AuthType, readonly Field[]>> = {
  ApiKey: [{ name: "headerName", check: checkHeaderName }, { name: "value", check: checkHeaderValue }],
  BearerToken: [{ name: "token", check: checkHeaderValue }],
  JwtBearer: [
    { name: "tokenEndpoint", check: checkOutboundUrl },
    { name: "clientId", check: text },
    { name: "clientSecret", check: text },
    { name: "scope", optional: true, check: text },
    { name: "audience", optional: true, check: text },
    { name: "resource", optional: true, check: text },
    { name: "clientAuthentication", optional: true, check: text },
  ],
  BasicAuth: [{ name: "username", check: username }, { name: "password", check: checkPlainText }],
};

/** Parameters of a token request that have fields of their own, or that the relay sets. */
const ownParameters: ReadonlySet<string> = new Set([
  "grant_type", "client_id", "client_secret", "scope", "audience", "resource",
]);

/** The authentication of a body; undefined without one. Throws a Refusal (invalid). */
export function readAuth(
  { authType, credentials }: Pick<Inputs["updateDestination"], "authType" | "credentials">, outbound: Outbound,
): AuthInput | undefined {
  if (authType === undefined || credentials === undefined) return undefined;
  const given: OpenCredentials = credentials;
  const kept: Record<string, OpenCredentials[string]> = {};
  for (const { name, optional, check } of shapes[authType]) {
    const field = `credentials.${name}`;
    const value = Object.hasOwn(given, name) ? given[name] : undefined;
    if (value === undefined && optional) continue;
    if (typeof value !== "string") refuse("invalid", `${field}: is required`);
    check(field, value, outbound);
    kept[name] = value;
  }
  const { extraParameters } = credentials;
  if (authType === "JwtBearer" && extraParameters) {
    checkParameters(extraParameters);
    kept["extraParameters"] = extraParameters;
  }
  return { type: authType, credentials: kept };
}

function checkParameters(parameters: Readonly<Record<string, string>>): void {
  for (const [name, value] of Object.entries(parameters)) {
    const field = `credentials.extraParameters.${shownName(name)}`;
    if (ownParameters.has(name)) refuse("invalid", `${field}: is a parameter of the grant itself`);
    text(field, name);
    checkPlainText(field, value);
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
