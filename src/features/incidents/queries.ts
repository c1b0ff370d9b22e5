import {
  incidents, openCounter, standingCounter, standings, type IncidentDocument, type Standing,
} from "../../../projections/incidents/incidents.ts";
import type { components } from "../../../schemas/api.ts";
import { requireOwn } from "../../kernel/callers/access.ts";
import type { Caller } from "../../kernel/callers/caller.ts";
import { refuse } from "../../kernel/domain/refusal.ts";
import { millis } from "../../kernel/domain/time.ts";
import type { KernelParts } from "../../kernel/kernel-parts.ts";
import { tenantCounter } from "../../kernel/ports/read-models.ts";
import { pageFrom, type Page, type PageRequest } from "../../kernel/read-models/paging.ts";
import { documentOf } from "../../kernel/read-models/scans.ts";
import type { RefusalGroup, RefusedRequests } from "../refusals/refused-requests.ts";
import { suspectsOf } from "./suspects.ts";

/** An incident as the API shows it. */
export type IncidentView = Readonly<components["schemas"]["Incident"]>;

/** Filters of incidents; `from` and `to` are inclusive, and of their begin. */
export interface IncidentFilter {
  readonly state?: "open" | "over" | undefined;
  readonly destinationUrlId?: string | undefined;
  readonly from?: string | undefined;
  readonly to?: string | undefined;
}

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
      return this.#view(found, await this.#refusals(caller));
    });
  }

  /** The incidents of the caller's tenant. Throws a Refusal (unavailable). */
  async list({ tenantId }: Caller, filter: IncidentFilter, page: PageRequest): Promise<Page<IncidentView>> {
    const { readModels, freshness } = this.#parts;
    const { state, destinationUrlId, from, to } = filter;
    const range = { field: "startedAt", ...(from !== undefined && { from }), ...(to !== undefined && { to }) };
    const selection = {
      collection: incidents.name,
      where: { tenantId, ...(destinationUrlId !== undefined && { destinationUrlId }) },
      anyOf: { field: "state", values: state === undefined ? ["open", "over"] : [state] },
      ...((from ?? to) !== undefined && { range }),
    };
    const isPlain = [destinationUrlId, from, to].every((value) => value === undefined) && state !== "over";
    const counter = state === undefined ? tenantCounter(incidents, tenantId) : openCounter(tenantId);
    return freshness.ask(async () => {
      const { items, ...ends } = await pageFrom<IncidentDocument>(page, {
        count: () => (isPlain ? readModels.sum(counter) : readModels.count(selection)),
        find: async (slice) => (await readModels.find({ ...selection, ...slice })) as readonly IncidentDocument[],
        placeOf: ({ startedAt, id }) => ({ value: startedAt, key: id }),
      });
      const refusals = items.length > 0 ? await this.#refusals({ tenantId }) : [];
      return { ...ends, items: await Promise.all(items.map((incident) => this.#view(incident, refusals))) };
    });
  }

  #refusals({ tenantId }: Pick<Caller, "tenantId">): Promise<readonly RefusalGroup[]> {
    return this.#parts.refused.of(tenantId);
  }

  async #view(incident: IncidentDocument, refusals: readonly RefusalGroup[]): Promise<IncidentView> {
    const { id, destinationUrlId, state, startedAt, endedAt, failures, attempts, opened, probes, endedBy } = incident;
    const [buckets, suspects] = await Promise.all([
      this.#parts.readModels.buckets(standingCounter(incident)), suspectsOf(this.#parts, incident),
    ]);
    const counts = Object.fromEntries(standings.map((standing, at) =>
      [standing, buckets.find(({ bucket }) => bucket === at)?.total ?? 0])) as Record<Standing, number>;
    return {
      id, destinationUrlId, state: state === "over" ? state : "open", startedAt, endedAt,
      failures: failures.toSorted((one, other) => other.count - one.count).slice(0, mostFailures),
      events: { affected: Object.values(counts).reduce((sum, count) => sum + count, 0), ...counts },
      attempts,
      refused: refusals.filter((group) => isDuring(incident, group)).reduce((sum, { count }) => sum + count, 0),
      circuit: { opened, probes },
      suspects: [...suspects],
      endedBy,
    };
  }
}

function isDuring({ destinationUrlId, startedAt, endedAt }: IncidentDocument, group: RefusalGroup): boolean {
  return group.status === unprocessable && group.destinationUrlId === destinationUrlId
    && millis(group.lastAt) >= millis(startedAt) && (endedAt === null || millis(group.firstAt) <= millis(endedAt));
}
