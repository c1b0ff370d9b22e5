import { queryOptions } from "@tanstack/react-query";
import type { Schemas } from "../../../client/src/index.ts";
import { relay } from "./relay.ts";

const pageSize = 100;

/** All destinations of the tenant, by their URLs: for choices, and for the names of destinations elsewhere. */
export const destinationsQuery = queryOptions({
  queryKey: ["listDestinations", "all"],
  queryFn: async (): Promise<readonly Schemas["Destination"][]> => {
    const all: Schemas["Destination"][] = [];
    for await (const destination of relay.listDestinations({ Qt: pageSize, Total: false })) all.push(destination);
    return all.sort((one, other) => one.url.localeCompare(other.url));
  },
  staleTime: 30_000,
});
