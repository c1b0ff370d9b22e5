import { standings, standingOf } from "../../projections/incidents/incidents.ts";
import type { AnyEvent } from "../../src/features/facts.ts";
import type { DomainEvent } from "../../src/kernel/domain/domain-event.ts";

/** An incident as a plain fold keeps it: with all its failed attempts and all its events. */
interface Run {
  readonly id: string;
  readonly tenantId: string;
  readonly destinationUrlId: string;
  readonly failed: { readonly eventId: string; readonly at: string; readonly reason: string }[];
  opened: number;
  probes: number;
  state: "begun" | "open" | "over";
  endedAt: string | null;
  endedBy: string | null;
}

/** The incidents that facts lead to, by id, folded in the plainest way. `idOf`: the id of the n-th entry. */
export function incidentsOf(facts: readonly DomainEvent[], idOf: (at: number) => string) {
  const runs: Run[] = [];
  const current = new Map<string, Run>();
  const destinations = new Set<string>();
  const standing = new Map<string, string>();
  const end = (destinationId: string, endedAt: string, endedBy: string | null) => {
    const run = current.get(destinationId);
    current.delete(destinationId);
    if (!run) return;
    if (run.state === "begun") runs.splice(runs.indexOf(run), 1);
    else Object.assign(run, { state: "over", endedAt, endedBy });
  };
  const moved = ({ eventId, to }: { readonly eventId: string; readonly to: Parameters<typeof standingOf>[0] }) =>
    standing.set(eventId, standingOf(to));
  for (const [at, fact] of (facts as readonly AnyEvent[]).entries()) {
    if ("test" in fact.data) continue;
    switch (fact.type) {
      case "DestinationRegistered":
        destinations.add(fact.data.destinationId);
        break;
      case "DestinationDeleted":
        destinations.delete(fact.data.destinationId);
        end(fact.data.destinationId, fact.data.at, fact.type);
        break;
      case "DeliverySucceeded":
        moved(fact.data);
        end(fact.data.destinationId, fact.data.at, null);
        break;
      case "DeliveryFailed": {
        moved(fact.data);
        const { tenantId, destinationId: destinationUrlId, reason, answer, eventId, at: time } = fact.data;
        const counts = !["not sent", "outcome unknown"].includes(reason) && answer?.statusCode !== 429;
        if (!counts || !destinations.has(destinationUrlId)) break;
        let run = current.get(destinationUrlId);
        if (!run) {
          run = {
            id: idOf(at), tenantId, destinationUrlId, failed: [], opened: 0, probes: 0, state: "begun", endedAt: null,
            endedBy: null,
          };
          current.set(destinationUrlId, run);
          runs.push(run);
        }
        run.failed.push({ eventId, at: time, reason });
        if (run.failed.length === 3) run.state = "open";
        break;
      }
      case "DeliveryExhausted":
      case "EventCancelled":
      case "EventReplayed":
        moved(fact.data);
        break;
      case "CircuitOpened": {
        const run = current.get(fact.data.destinationId);
        if (run) Object.assign(run, { opened: run.opened + 1, state: "open" });
        break;
      }
      case "CircuitProbeClaimed": {
        const run = current.get(fact.data.destinationId);
        if (run) run.probes += 1;
        break;
      }
      default:
    }
  }
  const shown = runs.filter(({ state }) => state !== "begun");
  return Object.fromEntries(shown.map(({ failed, ...run }) => {
    const events = [...new Set(failed.map(({ eventId }) => eventId))];
    const stand = standings.map((name) => events.filter((id) => standing.get(id) === name).length);
    const failures = Object.groupBy(failed, ({ reason }) => reason);
    const causes = Object.fromEntries(Object.entries(failures).map(([reason, of = []]) =>
      [reason, [of.length, of.at(-1)!.eventId]]));
    return [run.id, { ...run, startedAt: failed[0]!.at, attempts: failed.length, causes, stand }];
  }));
}
