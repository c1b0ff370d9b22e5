import asOf from "../../../schemas/requests/as-of.json" with { type: "json" };
import getStatistics from "../../../schemas/requests/get-statistics.json" with { type: "json" };
import listApiKeys from "../../../schemas/requests/list-api-keys.json" with { type: "json" };
import listAttempts from "../../../schemas/requests/list-attempts.json" with { type: "json" };
import listAudit from "../../../schemas/requests/list-audit.json" with { type: "json" };
import listDestinations from "../../../schemas/requests/list-destinations.json" with { type: "json" };
import listEvents from "../../../schemas/requests/list-events.json" with { type: "json" };
import listHistory from "../../../schemas/requests/list-history.json" with { type: "json" };
import listInvites from "../../../schemas/requests/list-invites.json" with { type: "json" };
import listRefusals from "../../../schemas/requests/list-refusals.json" with { type: "json" };
import listReplays from "../../../schemas/requests/list-replays.json" with { type: "json" };
import listSenders from "../../../schemas/requests/list-senders.json" with { type: "json" };
import listServiceAccounts from "../../../schemas/requests/list-service-accounts.json" with { type: "json" };
import listServiceKeys from "../../../schemas/requests/list-service-keys.json" with { type: "json" };
import listUsers from "../../../schemas/requests/list-users.json" with { type: "json" };
import searchEvents from "../../../schemas/requests/search-events.json" with { type: "json" };
import type { Included } from "../../application/queries/event-export.ts";
import type { BucketSize } from "../../application/queries/statistics.ts";
import type { DestinationView } from "../../application/views.ts";
import type { EventStatus } from "../../domain/event/events.ts";
import { auditTypes, histories, type HistoryName } from "../../domain/facts.ts";
import type { RoleCode } from "../../domain/roles.ts";
import type { UserStatusCode } from "../../domain/tenant/events.ts";
import { extended } from "./extended.ts";
import {
  listReader, queryReader, readerWithout, scanReader, type ListRequest, type QueryReader,
} from "./query-parameters.ts";

/** Filters of a list of events, as given. */
export interface EventFilters {
  readonly Status?: readonly EventStatus[];
  readonly DestinationUrlId?: string;
  readonly SenderId?: string;
  readonly EventType?: string;
  readonly OwnerId?: string;
  readonly MessageId?: string;
  readonly Tag?: readonly string[];
  readonly CorrelationId?: string;
  readonly Test?: boolean;
  readonly From?: string;
  readonly To?: string;
  readonly IdempotencyKey?: string;
}

/** Filters of the audit, as given. */
export interface AuditFilters {
  readonly Type?: string;
  readonly SubjectId?: string;
  readonly ActorId?: string;
  readonly CorrelationId?: string;
  readonly From?: string;
  readonly To?: string;
}

/** Filters of refused ingest requests, as given. */
export interface RefusalFilters {
  readonly Status?: number;
  readonly DestinationUrlId?: string;
  readonly SenderId?: string;
  readonly From?: string;
  readonly To?: string;
}

/** Filters of a history, as given. */
export interface HistoryFilters {
  readonly Type?: string;
  readonly From?: string;
  readonly To?: string;
}

/** The parameters of a history: its types are those of the facts that it can have. */
function historyReader(name: HistoryName): QueryReader<ListRequest<HistoryFilters>> {
  const $id = `${listHistory.$id}:${name}`;
  return listReader(extended(listHistory, { $id, properties: { Type: { enum: histories[name] } } }));
}

/** Query parameters of lists. */
export const lists = {
  users: listReader<{ readonly Status?: UserStatusCode; readonly Role?: RoleCode }>(listUsers),
  destinations: listReader<{ readonly Status?: DestinationView["status"] }>(listDestinations),
  senders: listReader<object>(listSenders),
  apiKeys: listReader<object>(listApiKeys),
  serviceAccounts: listReader<object>(listServiceAccounts),
  serviceKeys: listReader<object>(listServiceKeys),
  invites: listReader<object>(listInvites),
  events: listReader<EventFilters & { readonly View: "full" | "summary" }>(listEvents),
  attempts: listReader<object>(listAttempts),
  audit: listReader<AuditFilters>(extended(listAudit, { properties: { Type: { enum: auditTypes } } })),
  refusals: listReader<RefusalFilters>(listRefusals),
  replays: listReader<object>(listReplays),
} as const;

/** Query parameters of histories. */
export const historyLists = Object.fromEntries(Object.keys(histories).map((name) =>
  [name, historyReader(name as HistoryName)])) as Readonly<Record<HistoryName, ReturnType<typeof historyReader>>>;

/** The filters of the list of events, which searches, exports and totals have, too. */
const { CpOrd: _order, TpOrd: _direction, View: _view, ...eventFilters } = listEvents.properties;

/** Parameters of a search in payloads, as given. */
export interface SearchParameters extends EventFilters {
  readonly Text?: string;
  readonly Pointer?: string;
  readonly Value?: string;
}

/** Query parameters of a search in payloads. */
export const eventSearchQuery =
  scanReader<SearchParameters>({ ...searchEvents, properties: { ...searchEvents.properties, ...eventFilters } });

/** Query parameters of an export: the filters of the list of events. */
export const eventExportQuery = readerWithout(
  queryReader<EventFilters & { readonly Include?: readonly Included[] }>({
    type: "object",
    properties: {
      ...eventFilters,
      Include: {
        type: "array", "x-commas": true, minItems: 1, items: { type: "string", enum: ["attempts", "history"] },
        description: "What each event has beside its own fields: `attempts`, `history`, or both with a comma between.",
      },
    },
  }),
  ["Qt", "Pg", "Cursor", "CpOrd", "TpOrd", "Total", "View"],
  "is not possible here: an export has all events, in order of acceptance",
);

/** Query parameters of totals of events. */
export const eventTotalsQuery = queryReader<EventFilters>({ type: "object", properties: eventFilters });

/** Query parameters of an answer that may be of an earlier moment. */
export const asOfQuery = queryReader<{ readonly AsOf?: string }>(asOf);

/** Query parameters of statistics. */
export const statisticsQuery = queryReader<{
  readonly From?: string;
  readonly To?: string;
  readonly Bucket: BucketSize;
  readonly DestinationUrlId?: string;
  readonly EventType?: string;
  readonly GroupBy?: "destination";
}>(getStatistics);
