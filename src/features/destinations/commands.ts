import type { Inputs } from "../../../schemas/api.ts";
import createDestination from "../../../schemas/requests/create-destination.json" with { type: "json" };
import { ownerOfNew, ownOf, requireRoom, requireSameOwner } from "../../kernel/callers/access.ts";
import type { Caller } from "../../kernel/callers/caller.ts";
import { checkOutboundUrl, checkPlainText, cleanName } from "../../kernel/callers/input-rules.ts";
import { refuse } from "../../kernel/domain/refusal.ts";
import { requireRole } from "../../kernel/domain/roles.ts";
import { same } from "../../kernel/domain/settings.ts";
import { timestamp } from "../../kernel/domain/time.ts";
import type { KernelParts } from "../../kernel/kernel-parts.ts";
import type { Origin } from "../../kernel/log/origin.ts";
import { timestampNow } from "../../kernel/ports/clock.ts";
import { fieldsOf } from "../../kernel/read-models/fields-of.ts";
import { places } from "../../kernel/sealing/vault.ts";
import { secretToken, sha256 } from "../../kernel/tools/hashing.ts";
import { readKeyPair, type KeyPair, type ReadKeyPair } from "../../kernel/tools/key-pair.ts";
import { circuits, changeCircuit } from "../circuits/facts.ts";
import type { SubscriptionCommands } from "../subscriptions/commands.ts";
import { ownTenant, type Tenant } from "../tenants/facts.ts";
import { isExpired, type SealedCertificate } from "./certificates/facts.ts";
import { readAuth, type AuthInput } from "./credentials.ts";
import { decide, type DestinationCommand } from "./decide.ts";
import { destinations, type Destination } from "./facts.ts";
import { checkApart, readHeaders, withKept } from "./headers.ts";
import { noLoad } from "./health.ts";
import { problemOfRetryPolicy, type DestinationRetryPolicy } from "./policy.ts";
import { viewOf, type DestinationView, type DestinationQueries } from "./queries.ts";

/** A new destination; settings that it lacks are unset. */
export type NewDestination =
  & Pick<Inputs["createDestination"], "url" | "serverRateLimit"> & Partial<Inputs["createDestination"]>;

/** Commands on destinations. */
export class DestinationCommands {
  readonly #parts;

  constructor(
    parts: Pick<KernelParts, "aggregates" | "vault" | "outbound" | "clock" | "ids" | "logger">
      & { readonly queries: DestinationQueries; readonly subscriptions: SubscriptionCommands },
  ) {
    this.#parts = parts;
  }

  /** Registers a destination; its ingest token is shown only here. Throws a Refusal (invalid, not-found, forbidden). */
  async register(
    caller: Caller,
    input: NewDestination,
    origin: Origin,
  ): Promise<DestinationView & { readonly ingestToken: string }> {
    const { aggregates, outbound, ids, clock } = this.#parts;
    checkOutboundUrl("url", input.url, outbound);
    const settings = readSettings(input);
    const auth = readAuth(input, outbound);
    const headers = withKept({}, readHeaders(input.headers ?? null));
    checkApart("headers", headers, auth);
    const certificate = readCertificate(input.clientCertificate, clock.now());
    const { tenantId } = caller;
    const tenant = await ownTenant(aggregates, caller);
    requireRole(caller, "Developer", "register destinations");
    const ownerId = ownerOfNew(caller, settings.ownerId);
    requireRoom(caller);
    const destinationId = ids.uuid();
    const ingestToken = this.#newToken();
    const command: DestinationCommand = {
      type: "RegisterDestination",
      destination: {
        destinationId, tenantId, ...settings, ownerId,
        headers: this.#sealHeaders(headers, tenant, destinationId),
        auth: auth ? this.#seal(auth, tenant, destinationId) : null,
        clientCertificate: certificate && this.#sealCertificate(certificate, tenant, destinationId),
        ingestTokenHash: sha256(ingestToken),
      },
      at: timestampNow(clock),
    };
    await aggregates.change(destinations, destinationId, origin, (state) => decide(state, command));
    const { state } = await aggregates.current(destinations, destinationId);
    return { ...viewOf(state!, undefined, noLoad), ingestToken };
  }

  async change(
    caller: Caller, id: string, input: Inputs["updateDestination"], origin: Origin,
  ): Promise<DestinationView> {
    const { aggregates, queries, outbound, vault, clock } = this.#parts;
    if (input.url !== undefined) checkOutboundUrl("url", input.url, outbound);
    const settings = readSettings(input);
    if (input.removeAuth && input.authType !== undefined) refuse("invalid", "removeAuth: excludes an authType");
    const auth = readAuth(input, outbound);
    const headers = input.headers === undefined ? undefined : readHeaders(input.headers);
    if (headers) checkApart("headers", headers, auth);
    const certificate = readCertificate(input.clientCertificate, clock.now());
    const { ownerId } = await this.#own(caller, id, "change destinations");
    requireSameOwner(caller, input.ownerId, ownerId);
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
      clientCertificate: certificate && this.#sealCertificate(certificate, tenant, id),
      at: timestampNow(clock),
    };
    await aggregates.change(destinations, id, origin, (state) => {
      if (auth && state) checkApart("credentials", headers ?? state.headers, auth);
      if (headers && state && !auth && !input.removeAuth) {
        checkApart("headers", headers, this.#openedAuth(state, tenant));
      }
      const isKept = certificate && state && same(vault.clientCertificate(state, tenant), pairOf(certificate));
      return decide(state, isKept ? { ...command, clientCertificate: undefined } : command);
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
    const { aggregates, subscriptions } = this.#parts;
    await aggregates.change(destinations, id, origin, (state) => decide(state, command));
    await subscriptions.removeAll(caller, { destinationUrlId: id }, origin);
  }

  async #own(caller: Caller, id: string, to: string): Promise<Destination> {
    const destination = await ownOf(this.#parts.aggregates, destinations, id, caller, "destination");
    requireRole(caller, "Developer", to);
    return destination;
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

  #sealCertificate(certificate: ReadKeyPair, tenant: Tenant, destinationId: string): SealedCertificate {
    const { fingerprint, notAfterMs } = certificate;
    const place = places.clientCertificate(tenant.id, destinationId);
    const pem = this.#parts.vault.seal(JSON.stringify(pairOf(certificate)), tenant, place);
    return { fingerprint, notAfter: timestamp(notAfterMs), pem };
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

/** The key pair of a body; null removes the stored one. Throws a Refusal (invalid). */
function readCertificate(given: KeyPair | null | undefined, now: number): ReadKeyPair | null | undefined {
  if (!given) return given;
  const read = readKeyPair(given);
  if ("problem" in read) refuse("invalid", `clientCertificate.${read.field}: ${read.problem}`);
  const notAfter = timestamp(read.notAfterMs);
  if (isExpired({ notAfter }, now)) refuse("invalid", `clientCertificate.certificate: expired at ${notAfter}`);
  return read;
}

function pairOf({ certificate, privateKey }: KeyPair): KeyPair {
  return { certificate, privateKey };
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
