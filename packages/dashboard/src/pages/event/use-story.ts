import {
  keepPreviousData, skipToken, useQuery, type UseQueryOptions, type UseQueryResult,
} from "@tanstack/react-query";
import { RelayError, type Schemas } from "@webhook-relay/client";
import { relay } from "../../api/relay.ts";
import { useMay } from "../../app/session.ts";
import type { Attempt } from "../../story/attempts.ts";
import { openTimes, type OpenCircuit } from "../../story/axis.ts";

/** The state of things at a moment; null for a thing that did not exist or that the reader may not see. */
export interface MomentState {
  readonly event: Schemas["Event"];
  readonly destination: Schemas["Destination"] | null;
  readonly tenant: Schemas["Tenant"] | null;
}

/** How often the story of an event that is not finished is asked for, ms. */
const liveMs = 2_000;
const finished: readonly Schemas["EventStatus"][] = ["Succeeded", "CriticalFailure", "Cancelled"];

/** When the state of an event is asked for again, ms; never once it is finished. */
export function pauseOf(status: Schemas["EventStatus"] | undefined): number | false {
  return status === undefined || finished.includes(status) ? false : liveMs;
}

/** The story up to the present. It is asked for again until the event is finished. */
export function storyQuery(id: string): UseQueryOptions<Schemas["Story"]> {
  return {
    queryKey: ["getEventStory", { id }],
    queryFn: () => relay.getEventStory({ id }),
    refetchInterval: ({ state }) => pauseOf(state.data?.event.status),
  };
}

/** The story of {@link storyQuery}. */
export function useStory(id: string): UseQueryResult<Schemas["Story"]> {
  return useQuery(storyQuery(id));
}

/** The entries of the log about an attempt: its request and its answer. */
export interface AttemptFacts {
  readonly started?: Schemas["DeliveryAttemptStartedFact"];
  /** The newest fact about its end: a late outcome follows the loss of a worker. */
  readonly ended?: Schemas["DeliverySucceededFact"] | Schemas["DeliveryFailedFact"];
}

/** The entries about an attempt; those of the former attempt stay until they are loaded. */
export function useAttemptFacts(id: string, attempt: Attempt | undefined): UseQueryResult<AttemptFacts> {
  return useQuery({
    queryKey: ["listEventHistory", { id }, attempt?.entries.map(({ position }) => position)],
    queryFn: attempt ? () => factsOf(id, attempt) : skipToken,
    staleTime: Infinity,
    placeholderData: keepPreviousData,
  });
}

async function factsOf(id: string, { entries }: Attempt): Promise<AttemptFacts> {
  let facts: AttemptFacts = {};
  const [first, last] = [entries[0], entries.at(-1)];
  if (!first || !last) return facts;
  const positions = new Set(entries.map(({ position }) => position));
  for await (const fact of relay.listEventHistory({ id, From: first.time, To: last.time, Qt: 100, Total: false })) {
    if (!positions.delete(fact.position)) continue;
    if (fact.type === "DeliveryAttemptStarted") facts = { ...facts, started: fact };
    if (fact.type === "DeliverySucceeded" || fact.type === "DeliveryFailed") facts = { ...facts, ended: fact };
    if (positions.size === 0) break;
  }
  return facts;
}

/** The story as it was at a position of the log; the one before stays until it is there. */
export function useStoryAt(id: string, at: string | undefined): UseQueryResult<Schemas["Story"]> {
  return useQuery({
    queryKey: ["getEventStory", { id, AsOf: at }],
    queryFn: () => relay.getEventStory({ id, ...at === undefined ? {} : { AsOf: at } }),
    enabled: at !== undefined,
    staleTime: Infinity,
    placeholderData: keepPreviousData,
  });
}

/** The state of the event, its destination and its tenant at a position of the log; now without one. */
export function useMomentState(
  event: Schemas["Event"], at: string | undefined, { enabled }: { readonly enabled: boolean },
): UseQueryResult<MomentState> {
  const allows = useMay();
  const { id, tenantId, destinationUrlId } = event;
  const asOf = at === undefined ? {} : { AsOf: at };
  return useQuery({
    queryKey: ["getEvent", { id, AsOf: at }, "with neighbours"],
    queryFn: async () => {
      const [then, destination, tenant] = await Promise.all([
        relay.getEvent({ id, ...asOf }),
        allows("getDestination") ? relay.getDestination({ id: destinationUrlId, ...asOf }).catch(absent) : null,
        allows("getTenant") ? relay.getTenant({ id: tenantId, ...asOf }).catch(absent) : null,
      ]);
      return { event: then, destination, tenant };
    },
    enabled: enabled && allows("getEvent"),
    staleTime: at === undefined ? 0 : Infinity,
    refetchInterval: at === undefined ? pauseOf(event.status) : false,
    placeholderData: keepPreviousData,
  });
}

/** When the circuit of the event's destination was open since its acceptance; nothing without the right to read it. */
export function useOpenCircuit(
  { destinationUrlId: id, acceptedAt: From, status }: Schemas["Event"],
): UseQueryResult<readonly OpenCircuit[]> {
  const allows = useMay();
  return useQuery({
    queryKey: ["listCircuitHistory", { id }, "open since", From],
    queryFn: async () => {
      const timesOf = async (Type: "CircuitOpened" | "CircuitClosed") =>
        (await relay.listCircuitHistory({ id, From, Type, Qt: 100, Total: false })).items.map(({ time }) => time);
      const [opened, closed] = await Promise.all([timesOf("CircuitOpened"), timesOf("CircuitClosed")]);
      return openTimes(opened, closed, From);
    },
    enabled: allows("listCircuitHistory"),
    refetchInterval: pauseOf(status),
  });
}

/** A thing that was deleted, or that the reader may not see, is no error of the page. */
function absent(error: unknown): null {
  if (error instanceof RelayError && ["not-found", "forbidden"].includes(error.code)) return null;
  throw error;
}
