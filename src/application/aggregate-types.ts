import { evolve as evolveApiKey, type ApiKey } from "../domain/api-key/api-key.ts";
import type { ApiKeyEvent } from "../domain/api-key/events.ts";
import { evolve as evolveCircuit, type Circuit, type CircuitEvent } from "../domain/circuit/circuit.ts";
import { evolve as evolveDestination, type Destination, type DestinationEvent } from "../domain/destination/events.ts";
import type { InviteEvent } from "../domain/invite/events.ts";
import { evolve as evolveInvite, type Invite } from "../domain/invite/invite.ts";
import { evolve as evolvePurges, type Purges, type PurgesEvent } from "../domain/purges/purges.ts";
import { evolve as evolveSender, type Sender, type SenderEvent } from "../domain/sender/events.ts";
import {
  evolve as evolveServiceAccount, type ServiceAccount, type ServiceAccountEvent,
} from "../domain/service-account/events.ts";
import { streams } from "../domain/streams.ts";
import { evolve as evolveTenant, type Tenant, type TenantEvent } from "../domain/tenant/events.ts";
import type { Aggregates, AggregateType } from "./aggregates.ts";

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
