import type { KernelParts } from "../kernel/kernel-parts.ts";
import type { Aggregates } from "../kernel/log/aggregates.ts";
import { Moments } from "../kernel/log/moments.ts";
import type { RateLimit } from "../kernel/ports/expiring-state.ts";
import { PlatformKeys } from "../kernel/sealing/platform-keys.ts";
import { AuditQueries } from "./audit/queries.ts";
import { BulkCancel, BulkReplay } from "./bulk/commands.ts";
import { circuits } from "./circuits/facts.ts";
import { DestinationCommands } from "./destinations/commands.ts";
import { destinations } from "./destinations/facts.ts";
import { DestinationQueries } from "./destinations/queries.ts";
import { DestinationSigning } from "./destinations/signing/signing.ts";
import { EventCommands, TestEventCommands } from "./events/commands.ts";
import { EventExport } from "./events/export.ts";
import { EventQueries } from "./events/queries.ts";
import { EventSearch } from "./events/search.ts";
import { ShownEvents } from "./events/shown-events.ts";
import { loadShown } from "./events/webhooks.ts";
import { IncidentQueries } from "./incidents/queries.ts";
import type { CredentialLookup } from "./ingest/credential-lookup.ts";
import { Duplicates } from "./ingest/duplicates.ts";
import type { FirstAttempts } from "./ingest/first-attempts.ts";
import { Ingest } from "./ingest/ingest.ts";
import { MessageIntake } from "./ingest/message-intake.ts";
import { ProducerAuthentication } from "./ingest/producer-authentication.ts";
import { ApiKeyCommands } from "./keys/api-keys/commands.ts";
import { apiKeys } from "./keys/api-keys/decide.ts";
import { ApiKeyQueries } from "./keys/api-keys/queries.ts";
import { ServiceAccountCommands } from "./keys/service-accounts/commands.ts";
import { serviceAccounts } from "./keys/service-accounts/facts.ts";
import { ServiceAccountQueries, ServiceKeys } from "./keys/service-accounts/queries.ts";
import { Live } from "./live/live.ts";
import { LookupQueries } from "./lookup/queries.ts";
import { EventOrMessageCommands } from "./messages/commands.ts";
import { MessageQueries } from "./messages/queries.ts";
import { NotificationCommands } from "./notifications/commands.ts";
import { notifications } from "./notifications/facts.ts";
import { NotificationQueries } from "./notifications/queries.ts";
import { InviteCommands } from "./people/invites/commands.ts";
import { invites } from "./people/invites/decide.ts";
import { InviteQueries } from "./people/invites/queries.ts";
import { Forgetting } from "./people/persons/forgetting.ts";
import { People } from "./people/persons/people.ts";
import { Login } from "./people/sessions/login.ts";
import { Sessions } from "./people/sessions/sessions.ts";
import { UserCommands } from "./people/users/commands.ts";
import { MeQueries, UserQueries } from "./people/users/queries.ts";
import { PortalLinkCommands } from "./portal/commands.ts";
import { portalLinks } from "./portal/facts.ts";
import { PortalLinkQueries, type PortalBrand } from "./portal/queries.ts";
import { PortalSessions } from "./portal/sessions.ts";
import { PurgeCommands } from "./purges/commands.ts";
import { purges } from "./purges/facts.ts";
import { RefusalQueries, RefusedRequests } from "./refusals/refused-requests.ts";
import { ReplayCommands } from "./replays/commands.ts";
import { ReplayQueries } from "./replays/queries.ts";
import { Replaying } from "./replays/replay-run.ts";
import { SenderCommands } from "./senders/commands.ts";
import { senders } from "./senders/facts.ts";
import { MappingPreview } from "./senders/mapping-preview.ts";
import { SenderQueries } from "./senders/queries.ts";
import { StatisticsQueries } from "./statistics/queries.ts";
import { SubscriptionCommands } from "./subscriptions/commands.ts";
import { subscriptions as subscriptionStreams } from "./subscriptions/facts.ts";
import { SubscriptionQueries } from "./subscriptions/queries.ts";
import { RoutingTrial } from "./subscriptions/trial.ts";
import { TenantCommands } from "./tenants/commands.ts";
import { tenants } from "./tenants/facts.ts";
import { TenantQueries } from "./tenants/queries.ts";
import type { RegistrationGuards } from "./tenants/registration-guards.ts";
import { Reservations } from "./tenants/reservations/reservations.ts";
import { ViewCommands } from "./views/commands.ts";
import { views } from "./views/facts.ts";
import { ViewQueries } from "./views/queries.ts";

/** The parts of the services. */
export interface ServiceParts extends KernelParts {
  readonly credentials: CredentialLookup;
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
  readonly peopleInMemory: number;
  readonly portal: {
    /** How browsers reach the relay, without a slash at the end; called once the relay listens. */
    readonly publicUrl: () => string;
    readonly brand: PortalBrand;
  };
}

/** Everything the API can do. */
export interface Services {
  readonly commands: {
    readonly tenants: TenantCommands;
    readonly users: UserCommands;
    readonly destinations: DestinationCommands;
    readonly signing: DestinationSigning;
    readonly senders: SenderCommands;
    readonly subscriptions: SubscriptionCommands;
    readonly apiKeys: ApiKeyCommands;
    readonly serviceAccounts: ServiceAccountCommands;
    readonly invites: InviteCommands;
    readonly events: EventCommands;
    readonly acts: EventOrMessageCommands;
    readonly bulkReplay: BulkReplay;
    readonly bulkCancel: BulkCancel;
    readonly testEvents: TestEventCommands;
    readonly purge: PurgeCommands;
    readonly replays: ReplayCommands;
    readonly views: ViewCommands;
    readonly notifications: NotificationCommands;
    readonly portalLinks: PortalLinkCommands;
  };
  readonly queries: {
    readonly tenants: TenantQueries;
    readonly users: UserQueries;
    readonly destinations: DestinationQueries;
    readonly senders: SenderQueries;
    readonly subscriptions: SubscriptionQueries;
    readonly routingTrial: RoutingTrial;
    readonly mappingPreview: MappingPreview;
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
    readonly lookup: LookupQueries;
    readonly views: ViewQueries;
    readonly notifications: NotificationQueries;
    readonly portalLinks: PortalLinkQueries;
    readonly messages: MessageQueries;
    readonly incidents: IncidentQueries;
  };
  readonly sessions: Sessions;
  readonly serviceKeys: ServiceKeys;
  readonly portalSessions: PortalSessions;
  readonly login: Login;
  readonly producers: ProducerAuthentication;
  readonly ingest: Ingest;
  readonly refused: RefusedRequests;
  readonly forgetting: Forgetting;
  readonly replaying: Replaying;
  readonly live: Live;
  readonly keys: PlatformKeys;
}

/** Puts the services together. */
export function createServices(parts: ServiceParts, settings: ServiceSettings): Services {
  const { limits, portal } = settings;
  const keys = new PlatformKeys(parts);
  const reservations = new Reservations(parts);
  const people = new People(parts, { max: settings.peopleInMemory });
  const sessions = new Sessions({ ...parts, keys }, { ttlMs: settings.accessTokenTtlMs });
  const users = new UserQueries({ ...parts, people });
  const moments = new Moments(parts);
  const destinations = new DestinationQueries({ ...parts, moments });
  const senders = new SenderQueries({ ...parts, moments });
  const subscriptionQueries = new SubscriptionQueries({ ...parts, moments });
  const subscriptions = new SubscriptionCommands({ ...parts, queries: subscriptionQueries });
  const serviceAccounts = new ServiceAccountQueries(parts);
  const shown = new ShownEvents(parts);
  const own = { ...parts, moments, keys, reservations, people, sessions, shown };
  const tenantQueries = new TenantQueries(own);
  const messages = new MessageQueries(parts);
  const eventCommands = new EventCommands(own);
  const duplicates = new Duplicates({ ...own, messages });
  const events = new EventQueries({ ...own, messages });
  const savedViews = new ViewCommands(parts);
  const forgetting = new Forgetting({ ...own, views: savedViews });
  const refused = new RefusedRequests(parts);
  return {
    keys,
    commands: {
      tenants: new TenantCommands(own, { creationLimit: limits.tenantCreation }),
      users: new UserCommands({ ...own, users, forgetting }),
      destinations: new DestinationCommands({ ...own, queries: destinations, subscriptions }),
      signing: new DestinationSigning(own),
      senders: new SenderCommands({ ...own, queries: senders, subscriptions }),
      subscriptions,
      apiKeys: new ApiKeyCommands(own),
      serviceAccounts: new ServiceAccountCommands({ ...own, queries: serviceAccounts }),
      invites: new InviteCommands(own, { registrationLimit: limits.inviteRegistration }),
      events: eventCommands,
      acts: new EventOrMessageCommands({ events: eventCommands, messages }),
      bulkReplay: new BulkReplay(own),
      bulkCancel: new BulkCancel(own),
      testEvents: new TestEventCommands(own),
      purge: new PurgeCommands(own),
      replays: new ReplayCommands(own),
      views: savedViews,
      notifications: new NotificationCommands(parts),
      portalLinks: new PortalLinkCommands({ ...parts, ...portal }),
    },
    queries: {
      tenants: tenantQueries,
      users,
      destinations,
      senders,
      subscriptions: subscriptionQueries,
      routingTrial: new RoutingTrial(own),
      mappingPreview: new MappingPreview(own),
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
      replays: new ReplayQueries(own),
      lookup: new LookupQueries(own),
      views: new ViewQueries(parts),
      notifications: new NotificationQueries(parts),
      portalLinks: new PortalLinkQueries({ ...parts, ...portal }),
      messages,
      incidents: new IncidentQueries({ ...parts, refused }),
    },
    sessions,
    serviceKeys: new ServiceKeys(parts),
    portalSessions: new PortalSessions(parts),
    login: new Login(own, { limit: limits.loginFailures, failedMs: settings.failedLoginMs }),
    producers: new ProducerAuthentication(own),
    ingest: new Ingest({ ...own, duplicates, messageIntake: new MessageIntake({ ...own, duplicates }) }),
    refused,
    forgetting,
    replaying: new Replaying(own),
    live: new Live({
      ...parts,
      isShown: async (tenantId, eventId) => (await loadShown(parts, tenantId, eventId)).state !== undefined,
    }),
  };
}

/** Makes aggregates serve all of these. */
export function serveAll(aggregates: Aggregates): void {
  aggregates.register(tenants).register(purges).register(destinations).register(senders);
  aggregates.register(circuits).register(apiKeys).register(invites).register(serviceAccounts);
  aggregates.register(views).register(notifications).register(subscriptionStreams).register(portalLinks);
}
