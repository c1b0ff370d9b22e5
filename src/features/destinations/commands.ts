import type { Inputs } from "../../../schemas/inputs.ts";
import createDestination from "../../../schemas/requests/create-destination.json" with { type: "json" };
import { ownOf } from "../../kernel/callers/access.ts";
import type { Caller } from "../../kernel/callers/caller.ts";
import { checkOutboundUrl } from "../../kernel/callers/input-rules.ts";
import { refuse } from "../../kernel/domain/refusal.ts";
import { requireRole } from "../../kernel/domain/roles.ts";
import type { Aggregates } from "../../kernel/log/aggregates.ts";
import type { Origin } from "../../kernel/log/origin.ts";
import { type Clock, timestampNow } from "../../kernel/ports/clock.ts";
import type { Ids } from "../../kernel/ports/ids.ts";
import type { OutboundClient } from "../../kernel/ports/outbound.ts";
import type { Logger } from "../../kernel/ports/telemetry.ts";
import { fieldsOf } from "../../kernel/read-models/fields-of.ts";
import { places, type Vault } from "../../kernel/sealing/vault.ts";
import { secretToken, sha256 } from "../../kernel/tools/hashing.ts";
import { circuits, changeCircuit } from "../circuits/facts.ts";
import { ownTenant, type Tenant } from "../tenants/facts.ts";
import { readAuth, type AuthInput } from "./credentials.ts";
import { decide, type DestinationCommand } from "./decide.ts";
import { destinations } from "./facts.ts";
import type { DestinationView, DestinationQueries } from "./queries.ts";

interface DestinationParts {
  readonly aggregates: Aggregates;
  readonly queries: DestinationQueries;
  readonly vault: Vault;
  readonly outbound: Pick<OutboundClient, "refusalOf">;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly logger: Logger;
}

/** Commands on destinations. */
export class DestinationCommands {
  readonly #parts: DestinationParts;

  constructor(parts: DestinationParts) {
    this.#parts = parts;
  }

  /** Registers a destination; its ingest token is shown only here. Throws a Refusal (invalid, not-found, forbidden). */
  async register(
    caller: Caller,
    input: Inputs["createDestination"],
    origin: Origin,
  ): Promise<DestinationView & { readonly ingestToken: string }> {
    const { aggregates, queries, outbound, ids, clock } = this.#parts;
    checkOutboundUrl("url", input.url, outbound);
    const auth = readAuth(input, outbound);
    const { tenantId } = caller;
    const tenant = await ownTenant(aggregates, caller);
    requireRole(caller, "Developer", "register destinations");
    const destinationId = ids.uuid();
    const ingestToken = this.#newToken();
    const command: DestinationCommand = {
      type: "RegisterDestination",
      destination: {
        destinationId, tenantId, ...fieldsOf(createDestination, input),
        auth: auth ? this.#seal(auth, tenant, destinationId) : null,
        ingestTokenHash: sha256(ingestToken),
      },
      at: timestampNow(clock),
    };
    await aggregates.change(destinations, destinationId, origin, (state) => decide(state, command));
    return { ...(await queries.get(caller, destinationId)), ingestToken };
  }

  /** Throws a Refusal (invalid, not-found, forbidden). */
  async change(
    caller: Caller, id: string, input: Inputs["updateDestination"], origin: Origin,
  ): Promise<DestinationView> {
    const { aggregates, queries, outbound, clock } = this.#parts;
    if (input.url !== undefined) checkOutboundUrl("url", input.url, outbound);
    if (input.removeAuth && input.authType !== undefined) refuse("invalid", "removeAuth: excludes an authType");
    const auth = readAuth(input, outbound);
    await this.#own(caller, id, "change destinations");
    const tenant = await ownTenant(aggregates, caller);
    const command: DestinationCommand = {
      type: "ChangeDestination",
      ...fieldsOf(createDestination, input),
      active: input.status && input.status === "active",
      auth: auth ? this.#seal(auth, tenant, id) : input.removeAuth ? null : undefined,
      at: timestampNow(clock),
    };
    await aggregates.change(destinations, id, origin, (state) => decide(state, command));
    if (input.status === "active") await this.#closeCircuit(caller, id, origin);
    return queries.get(caller, id);
  }

  /** Replaces the ingest token; resolves with the new one. Throws a Refusal (not-found, forbidden). */
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

  #newToken(): string {
    return secretToken(this.#parts.ids, "dst_");
  }
}
