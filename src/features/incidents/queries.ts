import {
  incidents, incidentsSelected, openCounter, standingCounter, standings, type IncidentDocument, type IncidentFilter,
  type Standing,
} from "../../../projections/incidents/incidents.ts";
import type { components } from "../../../schemas/api.ts";
import { requireOwn } from "../../kernel/callers/access.ts";
import type { Caller } from "../../kernel/callers/caller.ts";
import { refuse } from "../../kernel/domain/refusal.ts";
import { millis } from "../../kernel/domain/time.ts";
import type { KernelParts } from "../../kernel/kernel-parts.ts";
import { tenantCounter, type Bucket } from "../../kernel/ports/read-models.ts";
import { pageFrom, type Page, type PageRequest } from "../../kernel/read-models/paging.ts";
import { documentOf } from "../../kernel/read-models/scans.ts";
import { namesOf, type Naming } from "../names.ts";
import type { RefusalGroup, RefusedRequests } from "../refusals/refused-requests.ts";
import { suspectsOf, type Suspect } from "./suspects.ts";

/** An incident as the API shows it. */
export type IncidentView = Readonly<components["schemas"]["Incident"]>;

const mostFailures = 10;
/** The status of posts to a destination that takes none. */
const unprocessable = 422;

interface IncidentParts extends Pick<KernelParts, "store" | "readModels" | "freshness"> {
  readonly refused: RefusedRequests;
}

/** Queries about incidents. */
export class IncidentQueries {
  readonly #parts: IncidentParts;

  constructor(parts: IncidentParts) {
    this.#parts = parts;
  }

  /** Throws a Refusal (not-found, forbidden, unavailable). */
  async get(caller: Caller, id: string): Promise<IncidentView> {
    const { readModels, freshness } = this.#parts;
    return freshness.ask(async () => {
      const found = await documentOf(readModels, incidents, id);
      if (!found || found.state === "begun") refuse("not-found", "incident not found");
      requireOwn(found, caller, "incident");
      const [view] = await this.#views(caller, [found]);
      return view!;
    });
  }

  /** The incidents of the caller's tenant. Throws a Refusal (unavailable). */
  list(caller: Caller, filter: Omit<IncidentFilter, "tenantId">, page: PageRequest): Promise<Page<IncidentView>> {
    const { readModels, freshness } = this.#parts;
    const { tenantId } = caller;
    const { state, ...others } = filter;
    const selection = incidentsSelected({ ...filter, tenantId });
    const isPlain = Object.values(others).every((value) => value === undefined) && state !== "over";
    const counter = state === undefined ? tenantCounter(incidents, tenantId) : openCounter(tenantId);
    return freshness.ask(async () => {
      const { items, ...ends } = await pageFrom<IncidentDocument>(page, {
        count: () => (isPlain ? readModels.sum(counter) : readModels.count(selection)),
        find: async (slice) => (await readModels.find({ ...selection, ...slice })) as readonly IncidentDocument[],
        placeOf: ({ startedAt, id }) => ({ value: startedAt, key: id }),
      });
      return { ...ends, items: await this.#views(caller, items) };
    });
  }

  async #views(caller: Caller, found: readonly IncidentDocument[]): Promise<readonly IncidentView[]> {
    if (found.length === 0) return [];
    const { readModels, refused } = this.#parts;
    const ended = found.flatMap(({ endedBy }) => (endedBy ? [endedBy.actor, endedBy.subject] : []));
    const [refusals, suspects, stands, named] = await Promise.all([
      refused.of(caller.tenantId),
      suspectsOf(this.#parts, caller, found),
      Promise.all(found.map((incident) => readModels.buckets(standingCounter(incident)))),
      namesOf(this.#parts, caller, ended),
    ]);
    return found.map((incident, at) =>
      viewOf(incident, { refusals, suspects: suspects[at]!, stands: stands[at]!, named }));
  }
}

interface Around {
  readonly refusals: readonly RefusalGroup[];
  readonly suspects: Suspect[];
  readonly stands: readonly Bucket[];
  readonly named: Naming;
}

function viewOf(incident: IncidentDocument, { refusals, suspects, stands, named }: Around): IncidentView {
  const { id, destinationUrlId, state, startedAt, endedAt, failures, attempts, opened, probes, endedBy } = incident;
  const counts = Object.fromEntries(standings.map((standing, at) =>
    [standing, Math.max(0, stands.find(({ bucket }) => bucket === at)?.total ?? 0)])) as Record<Standing, number>;
  return {
    id, destinationUrlId, state: state === "over" ? state : "open", startedAt, endedAt,
    failures: failures.toSorted((one, other) => other.count - one.count).slice(0, mostFailures),
    events: { affected: Object.values(counts).reduce((sum, count) => sum + count, 0), ...counts },
    attempts,
    refused: refusals.filter((group) => isDuring(incident, group)).reduce((sum, { count }) => sum + count, 0),
    circuit: { opened, probes },
    suspects,
    endedBy: endedBy && { ...endedBy, subject: named(endedBy.subject), actor: named(endedBy.actor) },
  };
}

function isDuring({ destinationUrlId, startedAt, endedAt }: IncidentDocument, group: RefusalGroup): boolean {
  return group.status === unprocessable && group.destinationUrlId === destinationUrlId
    && millis(group.lastAt) >= millis(startedAt) && (endedAt === null || millis(group.firstAt) <= millis(endedAt));
}
