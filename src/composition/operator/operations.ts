import { tenants, type TenantDocument } from "../../../projections/tenants/tenants.ts";
import type { Inputs } from "../../../schemas/inputs.ts";
import createTenant from "../../../schemas/requests/create-tenant.json" with { type: "json" };
import { JwtTokens } from "../../adapters/jose/jwt-tokens.ts";
import { Erasure } from "../../application/accounts/erasure.ts";
import { LiveErasure } from "../../application/accounts/live-erasure.ts";
import { People } from "../../application/accounts/people.ts";
import { openRegistration } from "../../application/accounts/registration-guards.ts";
import { Reservations } from "../../application/accounts/reservations.ts";
import { Sessions } from "../../application/accounts/sessions.ts";
import type { Aggregates } from "../../application/aggregates.ts";
import { resetOwnerPassword } from "../../application/commands/owner-password.ts";
import { PurgeCommands } from "../../application/commands/purge.ts";
import { TenantCommands, type CreatedTenant } from "../../application/commands/tenants.ts";
import { ShownEvents } from "../../application/events/shown-events.ts";
import { Freshness } from "../../application/freshness.ts";
import { PlatformKeys } from "../../application/keys/platform-keys.ts";
import { Vault } from "../../application/keys/vault.ts";
import { serviceOrigin } from "../../application/origin.ts";
import { everyDocument } from "../../application/scans.ts";
import { refuse } from "../../domain/refusal.ts";
import { bodyReader } from "../../http/requests/body-reader.ts";
import { parseJsonObject, type JsonObject } from "../../http/requests/json-text.ts";
import type { Clock } from "../../ports/clock/clock.ts";
import type { EventStore } from "../../ports/event-store.ts";
import type { ExpiringState } from "../../ports/expiring-state.ts";
import type { Ids } from "../../ports/ids.ts";
import type { Passwords } from "../../ports/passwords.ts";
import type { ReadModelQuestions, ReadModels } from "../../ports/read-models.ts";
import type { Sealing } from "../../ports/sealing.ts";

/** The operator's operations that go on beside a running relay, by their names as commands. */
export interface Operations {
  /** Every tenant. */
  readonly tenants: () => Promise<readonly TenantDocument[]>;
  /** Creates a tenant, past the guards and limits of registration. Throws a Refusal (invalid, conflict). */
  readonly "create-tenant": (ordered: OrderedTenant) => Promise<CreatedTenant>;
  /** Sets an Owner's password. Throws a Refusal (invalid, not-found, rejected). */
  readonly "reset-owner-password": (owner: OwnersPassword) => Promise<void>;
  /** Erases a tenant; resolves to the number of its streams. Throws a Refusal (not-found, unavailable). */
  readonly "erase-tenant": (tenant: { readonly tenantId: string }) => Promise<number>;
}

/** A tenant to create. */
export interface OrderedTenant {
  readonly name: string;
  readonly ownerEmail: string;
  readonly ownerPassword: string;
}

/** An Owner by its email, and its new password. */
export interface OwnersPassword {
  readonly email: string;
  readonly password: string;
}

/** The inputs of the operations, from JSON. Each throws a Refusal (invalid) that names the field at fault. */
export const inputs: { readonly [Name in keyof Operations]: (json: JsonObject) => Parameters<Operations[Name]>[0] } = {
  tenants: () => undefined,
  "create-tenant": ({ value }) => ({
    name: textOf(value, "name"), ownerEmail: textOf(value, "ownerEmail"), ownerPassword: textOf(value, "ownerPassword"),
  }),
  "reset-owner-password": ({ value }) => ({ email: textOf(value, "email"), password: textOf(value, "password") }),
  "erase-tenant": ({ value }) => ({ tenantId: textOf(value, "tenantId") }),
};

function textOf(value: object, field: string): string {
  const text = (value as Readonly<Record<string, unknown>>)[field];
  return typeof text === "string" ? text : refuse("invalid", `${field}: must be a text`);
}

/** The parts that accounts are made of. */
export interface AccountParts {
  readonly store: EventStore;
  readonly state: ExpiringState;
  readonly sealing: Sealing;
  readonly passwords: Passwords;
  readonly aggregates: Aggregates;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly accessTokenTtlMs: number;
}

/** The people whose keys an operation remembers: it needs few. */
const peopleInMemory = 100;
/** The address for the turns of password hashing: of nobody but the operator. */
const address = "127.0.0.1";

/** Every tenant as the read models have it. */
export function everyTenant(readModels: Pick<ReadModelQuestions, "find">): Promise<readonly TenantDocument[]> {
  return everyDocument(readModels, tenants);
}

/** The erasure of tenants while no relay runs; `rebuild` builds the read models from the log. */
export function stoppedErasure(
  parts: Omit<AccountParts, "sealing" | "passwords" | "accessTokenTtlMs">, rebuild: () => Promise<void>,
): Erasure {
  const steps = { endWork: async () => undefined, forget: rebuild };
  return new Erasure({ ...parts, reservations: new Reservations(parts) }, steps);
}

/** The erasure of tenants while relays run. */
export function liveErasure(parts: Omit<AccountParts, "passwords"> & { readonly readModels: ReadModels }): Erasure {
  const services = withAccountServices(parts);
  const own = { ...services, freshness: new Freshness(parts.store, parts.readModels, parts.clock) };
  const purge = new PurgeCommands({ ...own, shown: new ShownEvents(own) });
  return new Erasure(own, new LiveErasure({ ...own, purge }));
}

/** The parts with the services of accounts that every operation uses. */
function withAccountServices<Parts extends Omit<AccountParts, "passwords">>(parts: Parts) {
  const keys = new PlatformKeys(parts);
  const sessions = new Sessions({ ...parts, keys, tokens: new JwtTokens() }, { ttlMs: parts.accessTokenTtlMs });
  return { ...parts, keys, sessions, reservations: new Reservations(parts) };
}

const readTenant = bodyReader<Inputs["createTenant"]>(createTenant);

/** The operations on accounts. */
export function accountOperations(parts: AccountParts): Pick<Operations, "create-tenant" | "reset-owner-password"> {
  const { ids } = parts;
  const own = { ...withAccountServices(parts), vault: new Vault(parts.sealing) };
  const people = new People(own, { max: peopleInMemory });
  const tenantCommands = new TenantCommands({ ...own, people, guards: openRegistration }, { creationLimit: null });
  return {
    "create-tenant": async (ordered) => {
      const input = readTenant(parseJsonObject(Buffer.from(JSON.stringify(ordered)), "tenant"));
      return tenantCommands.create(input, serviceOrigin("operator", ids), address);
    },
    "reset-owner-password": ({ email, password }) => resetOwnerPassword(own, email, password),
  };
}
