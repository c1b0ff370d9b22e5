import { tenants, type TenantDocument } from "../../../projections/tenants/tenants.ts";
import type { Inputs } from "../../../schemas/api.ts";
import createTenant from "../../../schemas/requests/create-tenant.json" with { type: "json" };
import { JwtTokens } from "../../engines/jose/jwt-tokens.ts";
import { ShownEvents } from "../../features/events/shown-events.ts";
import { People } from "../../features/people/persons/people.ts";
import { Sessions } from "../../features/people/sessions/sessions.ts";
import { resetOwnerPassword } from "../../features/people/users/commands.ts";
import { PurgeCommands } from "../../features/purges/commands.ts";
import { TenantCommands, type CreatedTenant } from "../../features/tenants/commands.ts";
import { Erasure, LiveErasure } from "../../features/tenants/erasure.ts";
import { openRegistration } from "../../features/tenants/registration-guards.ts";
import { Reservations } from "../../features/tenants/reservations/reservations.ts";
import { refuse } from "../../kernel/domain/refusal.ts";
import type { Aggregates } from "../../kernel/log/aggregates.ts";
import { serviceOrigin } from "../../kernel/log/origin.ts";
import { bodyReader } from "../../kernel/operations/body-reader.ts";
import { parseJsonObject, type JsonObject } from "../../kernel/operations/json-text.ts";
import type { Clock } from "../../kernel/ports/clock.ts";
import type { EventStore } from "../../kernel/ports/event-store.ts";
import type { ExpiringState } from "../../kernel/ports/expiring-state.ts";
import type { Ids } from "../../kernel/ports/ids.ts";
import type { Passwords } from "../../kernel/ports/passwords.ts";
import type { ReadModelQuestions, ReadModels } from "../../kernel/ports/read-models.ts";
import type { Sealing } from "../../kernel/ports/sealing.ts";
import { Freshness } from "../../kernel/read-models/freshness.ts";
import { everyDocument } from "../../kernel/read-models/scans.ts";
import { PlatformKeys } from "../../kernel/sealing/platform-keys.ts";
import { Vault } from "../../kernel/sealing/vault.ts";

/** The operator's operations on a running relay, by the names of the commands. */
export interface Operations {
  readonly tenants: () => Promise<readonly TenantDocument[]>;
  readonly "create-tenant": (ordered: OrderedTenant) => Promise<CreatedTenant>;
  readonly "reset-owner-password": (owner: OwnersPassword) => Promise<void>;
  /** Resolves to the number of the tenant's streams. Throws a Refusal (not-found, unavailable). */
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

/** Parsers of the operations' inputs. They throw a Refusal (invalid) that names the field. */
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

/** The dependencies of operations on accounts. */
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

/** The most people's keys in memory. */
const peopleInMemory = 100;
/** The operator's address in the queue of password hashing. */
const address = "127.0.0.1";

/** All tenants in the read models. */
export function everyTenant(readModels: Pick<ReadModelQuestions, "find">): Promise<readonly TenantDocument[]> {
  return everyDocument(readModels, tenants);
}

/** Erases tenants while no relay runs; `rebuild` builds the read models from the log. */
export function stoppedErasure(
  parts: Omit<AccountParts, "sealing" | "passwords" | "accessTokenTtlMs">, rebuild: () => Promise<void>,
): Erasure {
  const steps = { endWork: async () => undefined, forget: rebuild };
  return new Erasure({ ...parts, reservations: new Reservations(parts) }, steps);
}

/** Erases tenants while relays run. */
export function liveErasure(parts: Omit<AccountParts, "passwords"> & { readonly readModels: ReadModels }): Erasure {
  const services = withAccountServices(parts);
  const own = { ...services, freshness: new Freshness(parts.store, parts.readModels, parts.clock) };
  const purge = new PurgeCommands({ ...own, shown: new ShownEvents(own) });
  return new Erasure(own, new LiveErasure({ ...own, purge }));
}

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
