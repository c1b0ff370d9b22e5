import type { Clock } from "../ports/clock/clock.ts";
import type { EventStore } from "../ports/event-store.ts";
import type { ExpiringState, RateLimit } from "../ports/expiring-state.ts";
import type { Ids } from "../ports/ids.ts";
import type { Mappings } from "../ports/mapping.ts";
import type { OutboundClient } from "../ports/outbound.ts";
import type { Passwords } from "../ports/passwords.ts";
import type { ReadModels } from "../ports/read-models.ts";
import type { Sealing } from "../ports/sealing.ts";
import type { Logger, Metrics } from "../ports/telemetry.ts";
import type { Tokens } from "../ports/tokens.ts";
import { Forgetting } from "./accounts/forgetting.ts";
import { Login } from "./accounts/login.ts";
import { People } from "./accounts/people.ts";
import type { RegistrationGuards } from "./accounts/registration-guards.ts";
import { Reservations } from "./accounts/reservations.ts";
import { ServiceKeys } from "./accounts/service-keys.ts";
import { Sessions } from "./accounts/sessions.ts";
import type { Aggregates } from "./aggregates.ts";
import { ApiKeyCommands } from "./commands/api-keys.ts";
import { BulkCancel } from "./commands/bulk-cancel.ts";
import { BulkReplay } from "./commands/bulk-replay.ts";
import { DestinationCommands } from "./commands/destinations.ts";
import { EventCommands } from "./commands/events.ts";
import { InviteCommands } from "./commands/invites.ts";
import { PurgeCommands } from "./commands/purge.ts";
import { ReplayCommands } from "./commands/replays.ts";
import { SenderCommands } from "./commands/senders.ts";
import { ServiceAccountCommands } from "./commands/service-accounts.ts";
import { TenantCommands } from "./commands/tenants.ts";
import { TestEventCommands } from "./commands/test-events.ts";
import { UserCommands } from "./commands/users.ts";
import type { FirstAttempts } from "./delivery/first-attempts.ts";
import { ShownEvents } from "./events/shown-events.ts";
import { loadShown } from "./events/webhooks.ts";
import type { Freshness } from "./freshness.ts";
import type { CredentialLookup } from "./ingest/credential-lookup.ts";
import { Ingest } from "./ingest/ingest.ts";
import { ProducerAuthentication } from "./ingest/producer-authentication.ts";
import { RefusedRequests } from "./ingest/refused-requests.ts";
import { PlatformKeys } from "./keys/platform-keys.ts";
import type { Vault } from "./keys/vault.ts";
import { Live } from "./live/live.ts";
import { Moments } from "./moments.ts";
import { ApiKeyQueries } from "./queries/api-keys.ts";
import { AuditQueries } from "./queries/audit.ts";
import { DestinationQueries } from "./queries/destinations.ts";
import { EventExport } from "./queries/event-export.ts";
import { EventSearch } from "./queries/event-search.ts";
import { EventQueries } from "./queries/events.ts";
import { InviteQueries } from "./queries/invites.ts";
import { MeQueries } from "./queries/me.ts";
import { RefusalQueries } from "./queries/refusals.ts";
import { ReplayQueries } from "./queries/replays.ts";
import { SenderQueries } from "./queries/senders.ts";
import { ServiceAccountQueries } from "./queries/service-accounts.ts";
import { StatisticsQueries } from "./queries/statistics.ts";
import { TenantQueries } from "./queries/tenants.ts";
import { UserQueries } from "./queries/users.ts";
import { Replaying } from "./replays/replaying.ts";

/** The parts of the services; `aggregates` and `credentials` are fed by the log. */
export interface ServiceParts {
  readonly store: EventStore;
  readonly readModels: ReadModels;
  readonly state: ExpiringState;
  readonly sealing: Sealing;
  readonly passwords: Passwords;
  readonly tokens: Tokens;
  readonly mappings: Mappings;
  readonly outbound: Pick<OutboundClient, "refusalOf">;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly logger: Logger;
  readonly metrics: Metrics;
  readonly aggregates: Aggregates;
  readonly credentials: CredentialLookup;
  readonly freshness: Freshness;
  readonly vault: Vault;
  readonly firstAttempts: FirstAttempts;
  /** Called before the creation of a tenant. */
  readonly guards: RegistrationGuards;
}

/** The operator's settings of the services; a limit of null is none. */
export interface ServiceSettings {
  readonly accessTokenTtlMs: number;
  readonly limits: {
    readonly loginFailures: RateLimit | null;
    readonly tenantCreation: RateLimit | null;
    readonly inviteRegistration: RateLimit | null;
  };
  /** How long a login that fails takes at least. */
  readonly failedLoginMs: number;
  /** How many people's keys are kept in memory. */
  readonly peopleInMemory: number;
}

/** Everything the API can do. */
export interface Services {
  readonly commands: {
    readonly tenants: TenantCommands;
    readonly users: UserCommands;
    readonly destinations: DestinationCommands;
    readonly senders: SenderCommands;
    readonly apiKeys: ApiKeyCommands;
    readonly serviceAccounts: ServiceAccountCommands;
    readonly invites: InviteCommands;
    readonly events: EventCommands;
    readonly bulkReplay: BulkReplay;
    readonly bulkCancel: BulkCancel;
    readonly testEvents: TestEventCommands;
    readonly purge: PurgeCommands;
    readonly replays: ReplayCommands;
  };
  readonly queries: {
    readonly tenants: TenantQueries;
    readonly users: UserQueries;
    readonly destinations: DestinationQueries;
    readonly senders: SenderQueries;
    readonly apiKeys: ApiKeyQueries;
    readonly serviceAccounts: ServiceAccountQueries;
    readonly invites: InviteQueries;
    readonly events: EventQueries;
    readonly search: EventSearch;
    readonly export: EventExport;
    readonly audit: AuditQueries;
    readonly me: MeQueries;
    readonly refusals: RefusalQueries;
    readonly statistics: StatisticsQueries;
    readonly replays: ReplayQueries;
  };
  readonly sessions: Sessions;
  readonly serviceKeys: ServiceKeys;
  readonly login: Login;
  readonly producers: ProducerAuthentication;
  readonly ingest: Ingest;
  readonly refused: RefusedRequests;
  readonly forgetting: Forgetting;
  readonly replaying: Replaying;
  readonly live: Live;
}

/** Puts the services together. */
export function createServices(parts: ServiceParts, settings: ServiceSettings): Services {
  const { limits } = settings;
  const keys = new PlatformKeys(parts);
  const reservations = new Reservations(parts);
  const people = new People(parts, { max: settings.peopleInMemory });
  const sessions = new Sessions({ ...parts, keys }, { ttlMs: settings.accessTokenTtlMs });
  const users = new UserQueries({ ...parts, people });
  const moments = new Moments(parts);
  const destinations = new DestinationQueries({ ...parts, moments });
  const senders = new SenderQueries({ ...parts, moments });
  const serviceAccounts = new ServiceAccountQueries(parts);
  const shown = new ShownEvents(parts);
  const own = { ...parts, moments, keys, reservations, people, sessions, shown };
  const tenantQueries = new TenantQueries(own);
  const events = new EventQueries(own);
  const forgetting = new Forgetting(own);
  const refused = new RefusedRequests(parts);
  return {
    commands: {
      tenants: new TenantCommands(own, { creationLimit: limits.tenantCreation }),
      users: new UserCommands({ ...own, users, forgetting }),
      destinations: new DestinationCommands({ ...own, queries: destinations }),
      senders: new SenderCommands({ ...own, queries: senders }),
      apiKeys: new ApiKeyCommands(own),
      serviceAccounts: new ServiceAccountCommands({ ...own, queries: serviceAccounts }),
      invites: new InviteCommands(own, { registrationLimit: limits.inviteRegistration }),
      events: new EventCommands(own),
      bulkReplay: new BulkReplay(own),
      bulkCancel: new BulkCancel(own),
      testEvents: new TestEventCommands(own),
      purge: new PurgeCommands(own),
      replays: new ReplayCommands(own),
    },
    queries: {
      tenants: tenantQueries,
      users,
      destinations,
      senders,
      apiKeys: new ApiKeyQueries(own),
      serviceAccounts,
      invites: new InviteQueries(own),
      events,
      search: new EventSearch(own),
      export: new EventExport({ ...own, events }),
      audit: new AuditQueries(parts),
      me: new MeQueries({ tenants: tenantQueries, users }),
      refusals: new RefusalQueries(refused),
      statistics: new StatisticsQueries(parts),
      replays: new ReplayQueries(parts),
    },
    sessions,
    serviceKeys: new ServiceKeys(parts),
    login: new Login(own, { limit: limits.loginFailures, failedMs: settings.failedLoginMs }),
    producers: new ProducerAuthentication(own),
    ingest: new Ingest(own),
    refused,
    forgetting,
    replaying: new Replaying(own),
    live: new Live({
      ...parts,
      isShown: async (tenantId, eventId) => (await loadShown(parts, tenantId, eventId)).state !== undefined,
    }),
  };
}
