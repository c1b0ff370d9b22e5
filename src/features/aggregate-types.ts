import { evolve as evolveCircuit, type Circuit, type CircuitEvent } from "../delivery/circuit/facts.ts";
import { streams } from "../kernel/domain/streams.ts";
import type { Aggregates, AggregateType } from "../kernel/log/aggregates.ts";
import { evolve as evolveDestination, type Destination, type DestinationEvent } from "./destinations/facts.ts";
import { evolve as evolveApiKey, type ApiKey } from "./keys/api-keys/decide.ts";
import type { ApiKeyEvent } from "./keys/api-keys/facts.ts";
import {
  evolve as evolveServiceAccount, type ServiceAccount, type ServiceAccountEvent,
} from "./keys/service-accounts/facts.ts";
import { evolve as evolveInvite, type Invite } from "./people/invites/decide.ts";
import type { InviteEvent } from "./people/invites/facts.ts";
import { evolve as evolvePurges, type Purges, type PurgesEvent } from "./purges/facts.ts";
import { evolve as evolveSender, type Sender, type SenderEvent } from "./senders/facts.ts";
import { evolve as evolveTenant, type Tenant, type TenantEvent } from "./tenants/facts.ts";

/** Tenants with their users, by tenant id; undefined where one was erased. */
export const tenants: AggregateType<Tenant, TenantEvent> = {
  category: "tenant",
  stream: streams.tenant,
  evolve: evolveTenant,
};

/** Purges by the id of their tenant; undefined means {@link noPurges}. */
export const purges: AggregateType<Purges, PurgesEvent> = {
  category: "purges",
  stream: streams.purges,
  evolve: evolvePurges,
  whole: true,
};

/** Destinations by id, deleted ones too. */
export const destinations: AggregateType<Destination, DestinationEvent> = {
  category: "destination",
  stream: streams.destination,
  evolve: evolveDestination,
};

/** Senders by id, deleted ones too. */
export const senders: AggregateType<Sender, SenderEvent> = {
  category: "sender",
  stream: streams.sender,
  evolve: evolveSender,
};

/** Circuits by the id of their destination; undefined is a closed one to which nothing has happened, see newCircuit. */
export const circuits: AggregateType<Circuit, CircuitEvent> = {
  category: "circuit",
  stream: streams.circuit,
  evolve: evolveCircuit,
  whole: true,
};

/** API keys by id, revoked ones too. */
export const apiKeys: AggregateType<ApiKey, ApiKeyEvent> = {
  category: "apiKey",
  stream: streams.apiKey,
  evolve: evolveApiKey,
};

/** Service accounts by id, deleted ones too. */
export const serviceAccounts: AggregateType<ServiceAccount, ServiceAccountEvent> = {
  category: "serviceAccount",
  stream: streams.serviceAccount,
  evolve: evolveServiceAccount,
};

/** Invites by id, of any status. */
export const invites: AggregateType<Invite, InviteEvent> = {
  category: "invite",
  stream: streams.invite,
  evolve: evolveInvite,
};

/** Makes aggregates serve all of these. */
export function serveAll(aggregates: Aggregates): void {
  aggregates.register(tenants).register(purges).register(destinations).register(senders);
  aggregates.register(circuits).register(apiKeys).register(invites).register(serviceAccounts);
}
