import { queryOptions } from "@tanstack/react-query";
import type { OperationId } from "@webhook-relay/client";
import { relay } from "./relay.ts";

/** A thing of the tenant, as it is chosen and named. */
export interface Named {
  readonly id: string;
  readonly name: string;
}

/** The names of things while they are read, and where the caller may not read them: always the same list. */
export const none: readonly Named[] = [];

const page = { Qt: 100, Total: false } as const;
/** Of a longer list, the first ones stand for all: others are shown by their ids. */
const mostNames = 1_000;

/** The destinations, by their URLs. */
export const destinationNames =
  namesBy("listDestinations", () => relay.listDestinations(page), ({ url }) => url);
/** The senders. */
export const senderNames = namesBy("listSenders", () => relay.listSenders(page), ({ name }) => name);
/** The people, by their emails. */
export const userNames = namesBy("listUsers", () => relay.listUsers(page), ({ email }) => email);
/** The service accounts. */
export const serviceAccountNames =
  namesBy("listServiceAccounts", () => relay.listServiceAccounts(page), ({ name }) => name);
/** The API keys. */
export const apiKeyNames = namesBy("listApiKeys", () => relay.listApiKeys(page), ({ name }) => name);

/**
 * The things of a list, sorted by name. A name that is null is left out: its thing is being deleted. The key begins
 * as those of the list's pages do, so that a change reads the names again, too.
 */
function namesBy<Item extends { readonly id: string }>(
  operation: OperationId, list: () => AsyncIterable<Item>, nameOf: (item: Item) => string | null,
) {
  return queryOptions({
    queryKey: [operation, "names"] as const,
    queryFn: async (): Promise<readonly Named[]> => {
      const all: Named[] = [];
      for await (const item of list()) {
        const name = nameOf(item);
        if (name !== null) all.push({ id: item.id, name });
        if (all.length === mostNames) break;
      }
      return all.sort((one, other) => one.name.localeCompare(other.name));
    },
    staleTime: 60_000,
  });
}
