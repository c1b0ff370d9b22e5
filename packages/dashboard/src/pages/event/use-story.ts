import { keepPreviousData, useQuery, useQueryClient, type UseQueryResult } from "@tanstack/react-query";
import { RelayError, type Schemas } from "../../../../client/src/index.ts";
import { relay } from "../../api/relay.ts";
import { isEventFact, type EventFact } from "../../story/attempts.ts";

/** A story, and the data of the event's own entries. */
export interface StoryAndFacts {
  readonly story: Schemas["Story"];
  readonly facts: readonly EventFact[];
}

/** How things stood at a moment; null where a thing did not exist, or the reader may not see it. */
export interface MomentState {
  readonly event: Schemas["Event"];
  readonly destination: Schemas["Destination"] | null;
  readonly tenant: Schemas["Tenant"] | null;
}

/** How often the story of an event that is not finished is asked for, ms. */
const liveMs = 2_000;
const finished: readonly Schemas["EventStatus"][] = ["Succeeded", "CriticalFailure", "Cancelled"];

function pauseOf(status: Schemas["EventStatus"] | undefined): number | false {
  return status === undefined || finished.includes(status) ? false : liveMs;
}

/** The story up to the present. It is asked for again until the event is finished. */
export function useStory(id: string): UseQueryResult<StoryAndFacts> {
  const queries = useQueryClient();
  // The third part keeps answers of one operation apart from those that are put together of several.
  const queryKey = ["getEventStory", { id }, "with facts"] as const;
  return useQuery({
    queryKey,
    queryFn: async () => {
      const story = await relay.getEventStory({ id });
      const before = queries.getQueryData<StoryAndFacts>(queryKey)?.facts ?? [];
      const newest = story.chapters.flatMap(({ entries }) => entries)
        .filter(({ subject }) => subject.type === "event").map(({ position }) => position).sort().at(-1);
      const isKnown = newest !== undefined && before.some(({ position }) => position === newest);
      return { story, facts: isKnown ? before : await factsOf(id) };
    },
    refetchInterval: ({ state }) => pauseOf(state.data?.story.event.status),
  });
}

async function factsOf(id: string): Promise<EventFact[]> {
  const facts: EventFact[] = [];
  for await (const fact of relay.listEventHistory({ id, Qt: 100, Total: false })) {
    if (isEventFact(fact)) facts.push(fact);
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

/** How the event and its neighbours stood at a position of the log; now without one. */
export function useMomentState(
  event: Schemas["Event"], at: string | undefined, { enabled = true }: { readonly enabled?: boolean } = {},
): UseQueryResult<MomentState> {
  const { id, tenantId, destinationUrlId } = event;
  const asOf = at === undefined ? {} : { AsOf: at };
  return useQuery({
    queryKey: ["getEvent", { id, AsOf: at }, "with neighbours"],
    queryFn: async () => {
      const [then, destination, tenant] = await Promise.all([
        relay.getEvent({ id, ...asOf }),
        relay.getDestination({ id: destinationUrlId, ...asOf }).catch(absent),
        relay.getTenant({ id: tenantId, ...asOf }).catch(absent),
      ]);
      return { event: then, destination, tenant };
    },
    enabled,
    staleTime: at === undefined ? 0 : Infinity,
    refetchInterval: at === undefined ? pauseOf(event.status) : false,
    placeholderData: keepPreviousData,
  });
}

/** A thing that was deleted, or that the reader may not see, is no error of the page. */
function absent(error: unknown): null {
  if (error instanceof RelayError && ["not-found", "forbidden"].includes(error.code)) return null;
  throw error;
}
