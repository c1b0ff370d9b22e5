import { destinations } from "../../../projections/destinations/destinations.ts";
import { eventsCounter } from "../../../projections/events/counters.ts";
import { tenants } from "../../../projections/tenants/tenants.ts";
import { usersCounter } from "../../../projections/users/users.ts";
import { tenantCounter } from "../../kernel/ports/read-models.ts";
import { documentOf } from "../../kernel/read-models/scans.ts";
import type { RelaySettings } from "../relay.ts";
import { counted } from "./counted.ts";
import { withReadModels } from "./stored-read-models.ts";

/**
 * The tenant's name and the numbers of its users, destinations and events to be deleted, as far as the log was
 * projected; a relay may be running. Rejects where there is no such tenant.
 */
export function describeErasure({ config, logger }: RelaySettings, tenantId: string): Promise<string> {
  return withReadModels(config, logger, async (readModels) => {
    const tenant = await documentOf(readModels, tenants, tenantId);
    if (!tenant) throw new Error(`there is no tenant ${tenantId}`);
    const counters = [
      ["user", usersCounter({ tenantId })],
      ["destination", tenantCounter(destinations, tenantId)],
      ["event", eventsCounter({ tenantId }, "all"), eventsCounter({ tenantId, test: true }, "all")],
    ] as const;
    const going = await Promise.all(counters.map(async ([thing, ...scopes]) => {
      const counts = await Promise.all(scopes.map((scope) => readModels.sum(scope)));
      return counted(counts.reduce((sum, count) => sum + count, 0), thing);
    }));
    return `tenant ${tenantId} ${JSON.stringify(tenant.name)}: ${going.join(", ")} and all else of it`;
  });
}
