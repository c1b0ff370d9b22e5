import type { Inputs } from "../../../schemas/api.ts";
import createDestination from "../../../schemas/requests/create-destination.json" with { type: "json" };
import { ownOf } from "../../kernel/callers/access.ts";
import type { Caller } from "../../kernel/callers/caller.ts";
import { checkOutboundUrl, checkPlainText, cleanName } from "../../kernel/callers/input-rules.ts";
import { refuse } from "../../kernel/domain/refusal.ts";
import { requireRole } from "../../kernel/domain/roles.ts";
import type { KernelParts } from "../../kernel/kernel-parts.ts";
import type { Origin } from "../../kernel/log/origin.ts";
import { timestampNow } from "../../kernel/ports/clock.ts";
import type { OutboundClient } from "../../kernel/ports/outbound.ts";
import { fieldsOf } from "../../kernel/read-models/fields-of.ts";
import { places } from "../../kernel/sealing/vault.ts";
import { secretToken, sha256 } from "../../kernel/tools/hashing.ts";
import { circuits, changeCircuit } from "../circuits/facts.ts";
import { ownTenant, type Tenant } from "../tenants/facts.ts";
import { decide, type DestinationCommand } from "./decide.ts";
import { destinations, type AuthType, type Destination } from "./facts.ts";
import { checkApart, checkHeaderName, checkHeaderValue, readHeaders, withKept } from "./headers.ts";
import { noLoad } from "./health.ts";
import { problemOfRetryPolicy, type DestinationRetryPolicy } from "./policy.ts";
import type { DestinationView, DestinationQueries } from "./queries.ts";

/** Fields of credentials as a body has them, for any type of authentication; others may be among them. */
export type GivenCredentials = Readonly<Record<string, string>>;

/** A new destination; settings that it lacks are unset. */
export type NewDestination =
  & Pick<Inputs["createDestination"], "url" | "serverRateLimit"> & Partial<Inputs["createDestination"]>;

interface AuthInput {
  readonly type: AuthType;
  readonly credentials: GivenCredentials;
}

interface Field {
  readonly name: string;
  readonly optional?: boolean;
  readonly check: (field: string, value: string, outbound: Pick<OutboundClient, "refusalOf">) => void;
}

const shapes: Readonly<Record<AuthType, readonly Field[]>> = {
  ApiKey: [{ name: "headerName", check: checkHeaderName }, { name: "value", check: checkHeaderValue }],
  BearerToken: [{ name: "token", check: checkHeaderValue }],
  JwtBearer: [
    { name: "tokenEndpoint", check: checkOutboundUrl },
    { name: "clientId", check: text },
    { name: "clientSecret", check: text },
    { name: "scope", optional: true, check: text },
  ],
  BasicAuth: [{ name: "username", check: username }, { name: "password", check: checkPlainText }],
};

/** Commands on destinations. */
export class DestinationCommands {
  readonly #parts;

  constructor(
    parts: Pick<KernelParts, "aggregates" | "vault" | "outbound" | "clock" | "ids" | "logger">
      & { readonly queries: DestinationQueries },
  ) {
    this.#parts = parts;
  }

  /** Registers a destination; its ingest token is shown only here. Throws a Refusal (invalid, not-found, forbidden). */
  async register(
    caller: Caller,
    input: NewDestination,
    origin: Origin,
  ): Promise<DestinationView & { readonly ingestToken: string }> {
    const { aggregates, queries, outbound, ids, clock } = this.#parts;
    checkOutboundUrl("url", input.url, outbound);
    const settings = readSettings(input);
    const auth = readAuth(input, outbound);
    const headers = withKept({}, readHeaders(input.headers ?? null));
    checkApart("headers", headers, auth);
    const { tenantId } = caller;
    const tenant = await ownTenant(aggregates, caller);
    requireRole(caller, "Developer", "register destinations");
    const destinationId = ids.uuid();
    const ingestToken = this.#newToken();
    const command: DestinationCommand = {
      type: "RegisterDestination",
      destination: {
        destinationId, tenantId, ...settings,
        headers: this.#sealHeaders(headers, tenant, destinationId),
        auth: auth ? this.#seal(auth, tenant, destinationId) : null,
        ingestTokenHash: sha256(ingestToken),
      },
      at: timestampNow(clock),
    };
    await aggregates.change(destinations, destinationId, origin, (state) => decide(state, command));
    return { ...(await queries.withLoad(caller, destinationId, noLoad)), ingestToken };
  }

  async change(
    caller: Caller, id: string, input: Inputs["updateDestination"], origin: Origin,
  ): Promise<DestinationView> {
    const { aggregates, queries, outbound, clock } = this.#parts;
    if (input.url !== undefined) checkOutboundUrl("url", input.url, outbound);
    const settings = readSettings(input);
    if (input.removeAuth && input.authType !== undefined) refuse("invalid", "removeAuth: excludes an authType");
    const auth = readAuth(input, outbound);
    const headers = input.headers === undefined ? undefined : readHeaders(input.headers);
    if (headers) checkApart("headers", headers, auth);
    await this.#own(caller, id, "change destinations");
    const tenant = await ownTenant(aggregates, caller);
    // Asked before the change: an answer of 503 leaves nothing half-done.
    const load = await queries.load(caller, id);
    const command: DestinationCommand = {
      type: "ChangeDestination",
      ...settings,
      headers: headers && this.#sealHeaders(headers, tenant, id),
      isBusy: (load.waiting ?? 0) + (load.inFlight ?? 0) > 0,
      active: input.status && input.status === "active",
      auth: auth ? this.#seal(auth, tenant, id) : input.removeAuth ? null : undefined,
      at: timestampNow(clock),
    };
    await aggregates.change(destinations, id, origin, (state) => {
      if (auth && state) checkApart("credentials", headers ?? state.headers, auth);
      if (headers && state && !auth && !input.removeAuth) {
        checkApart("headers", headers, this.#openedAuth(state, tenant));
      }
      return decide(state, command);
    });
    if (input.status === "active") await this.#closeCircuit(caller, id, origin);
    return queries.withLoad(caller, id, load);
  }

  async regenerateToken(caller: Caller, id: string, origin: Origin): Promise<string> {
    await this.#own(caller, id, "regenerate ingest tokens");
    const ingestToken = this.#newToken();
    const command: DestinationCommand = {
      type: "RegenerateIngestToken",
      ingestTokenHash: sha256(ingestToken),
      at: timestampNow(this.#parts.clock),
    };
    await this.#parts.aggregates.change(destinations, id, origin, (state) => decide(state, command));
    return ingestToken;
  }

  /** Deletes a destination; its queued events are cancelled in the background. Throws a Refusal. */
  async remove(caller: Caller, id: string, origin: Origin): Promise<void> {
    await this.#own(caller, id, "delete destinations");
    const command: DestinationCommand = { type: "DeleteDestination", at: timestampNow(this.#parts.clock) };
    await this.#parts.aggregates.change(destinations, id, origin, (state) => decide(state, command));
  }

  async #own(caller: Caller, id: string, to: string): Promise<void> {
    await ownOf(this.#parts.aggregates, destinations, id, caller, "destination");
    requireRole(caller, "Developer", to);
  }

  /** A person's setting overrides the circuit. */
  async #closeCircuit({ tenantId }: Caller, id: string, origin: Origin): Promise<void> {
    const { aggregates, clock } = this.#parts;
    await aggregates.current(circuits, id);
    const command = { type: "Close", at: timestampNow(clock) } as const;
    await changeCircuit(this.#parts, { destinationId: id, tenantId }, origin, command);
  }

  #seal({ type, credentials }: AuthInput, tenant: Tenant, destinationId: string) {
    const place = places.credentials(tenant.id, destinationId);
    return { type, credentials: this.#parts.vault.seal(JSON.stringify(credentials), tenant, place) };
  }

  #sealHeaders<Value extends string | null>(
    headers: Readonly<Record<string, Value>>, tenant: Tenant, destinationId: string,
  ): Readonly<Record<string, Value extends null ? string | null : string>> {
    const sealed = Object.entries(headers).map(([name, value]) => [
      name,
      value === null ? null : this.#parts.vault.seal(value, tenant, places.header(tenant.id, destinationId, name)),
    ] as const);
    return Object.fromEntries(sealed) as Readonly<Record<string, Value extends null ? string | null : string>>;
  }

  /** The authentication with its credentials, which only those of an ApiKey need to be opened for. */
  #openedAuth(destination: Destination, tenant: Tenant): AuthInput | null {
    const { auth } = destination;
    if (auth?.type !== "ApiKey") return auth && { type: auth.type, credentials: {} };
    return { type: auth.type, credentials: this.#parts.vault.credentials(destination, tenant) ?? {} };
  }

  #newToken(): string {
    return secretToken(this.#parts.ids, "dst_");
  }
}

function readAuth(
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

/** The settings of a body as they are kept; null unsets one. Throws a Refusal (invalid). */
function readSettings<Body extends Inputs["updateDestination"]>(body: Body) {
  const { name, description, ownerId, metadata, retryPolicy, circuit } = body;
  if (description) checkPlainText("description", description.replaceAll(/[\t\n\r]/g, " "));
  if (ownerId) checkPlainText("ownerId", ownerId);
  for (const pair of Object.entries(metadata ?? {})) for (const text of pair) checkPlainText("metadata", text);
  return {
    ...fieldsOf(createDestination, body),
    whenSuspended: body.whenSuspended === null ? "reject" as const : body.whenSuspended,
    name: name && cleanName("name", name),
    metadata: metadata === null ? {} : metadata,
    ordering: body.ordering === null ? "none" as const : body.ordering,
    retryPolicy: retryPolicy && readRetries(retryPolicy),
    circuit: circuit && fieldsOf(createDestination.properties.circuit, circuit),
  };
}

/** The policy without fields that it does not have. */
function readRetries(policy: DestinationRetryPolicy): DestinationRetryPolicy {
  const problem = problemOfRetryPolicy(policy);
  if (problem !== null) refuse("invalid", problem);
  return fieldsOf(createDestination.properties.retryPolicy, policy);
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
