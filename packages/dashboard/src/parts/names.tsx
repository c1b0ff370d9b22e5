import { queryOptions, useQuery } from "@tanstack/react-query";
import type { OperationId, Schemas } from "@webhook-relay/client";
import { useMemo, type ReactNode } from "react";
import { relay } from "../api/relay.ts";
import { useMe } from "../app/session.ts";

/** A thing of the tenant, as it is chosen and named. */
export interface Named {
  readonly id: string;
  readonly name: string;
  /** The URL of a destination. */
  readonly url?: string;
  /** Whether a sender fans out. */
  readonly fanOut?: boolean;
}

/** The name of a thing in a list to choose from; of a destination with a name its URL, too. */
export function titleOf({ name, url = name }: Named): string {
  return url === name ? name : `${name} – ${url}`;
}

/** Always the same list, for names that are being read or may not be read. */
const none: readonly Named[] = [];

const page = { Qt: 100, Total: false } as const;
/** Of a longer list, the first ones stand for all: others are shown by their ids. */
const mostNames = 1_000;

/** The destinations, by their names, or else by their URLs. */
export const destinationNames = namesBy(
  "listDestinations", () => relay.listDestinations(page), ({ name, url }) => name ?? url, ({ url }) => ({ url }));
/** The senders. */
export const senderNames =
  namesBy("listSenders", () => relay.listSenders(page), ({ name }) => name, ({ fanOut }) => ({ fanOut }));
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
  more?: (item: Item) => Partial<Named>,
) {
  return queryOptions({
    queryKey: [operation, "names"] as const,
    queryFn: async (): Promise<readonly Named[]> => {
      const all: Named[] = [];
      for await (const item of list()) {
        const name = nameOf(item);
        if (name !== null) all.push({ id: item.id, name, ...more?.(item) });
        if (all.length === mostNames) break;
      }
      return all.sort((one, other) => one.name.localeCompare(other.name));
    },
    staleTime: 60_000,
  });
}

/** The destinations and senders, for filters and for their names. */
export interface Targets {
  /** The destinations by their names or URLs; none where the caller may not list them. */
  readonly destinations: readonly Named[];
  /** The senders by their names; none where the caller may not list them. */
  readonly senders: readonly Named[];
  /** The name of a destination or sender; its id where it is deleted, or may not be read; `…` while it is read. */
  readonly nameOf: (id: string) => string;
}

/** The destinations and senders of the tenant. */
export function useTargets(): Targets {
  const { data: destinations = none, isLoading: destinationsLoad } = useQuery(destinationNames);
  const { data: senders = none, isLoading: sendersLoad } = useQuery(senderNames);
  const isLoading = destinationsLoad || sendersLoad;
  const names = useMemo(
    () => new Map([...destinations, ...senders].map(({ id, name }) => [id, name])), [destinations, senders]);
  return { destinations, senders, nameOf: (id) => names.get(id) ?? (isLoading ? "…" : id) };
}

/**
 * The options of a select for targets; `any` is the text for none of them. The chosen one is always an option, also
 * while the others are loaded, or where it is deleted: without its option the select would fall back to `any`.
 */
export function TargetOptions({ targets, any, chosen }: {
  readonly targets: readonly Named[]; readonly any: string; readonly chosen: string;
}): ReactNode {
  const isKnown = chosen === "" || targets.some(({ id }) => id === chosen);
  const all = isKnown ? targets : [...targets, { id: chosen, name: chosen }];
  return (
    <>
      <option value="">{any}</option>
      {all.map((each) => <option key={each.id} value={each.id}>{titleOf(each)}</option>)}
    </>
  );
}

/** The names of people, service accounts and API keys by id: the caller's own, and those that the caller may list. */
export function useActorNames(): ReadonlyMap<string, string> {
  const { principal } = useMe();
  const { data: users = none } = useQuery(userNames);
  const { data: accounts = none } = useQuery(serviceAccountNames);
  const { data: keys = none } = useQuery(apiKeyNames);
  return useMemo(() => new Map([
    ...(principal.name === null ? [] : [[principal.id, principal.name] as const]),
    ...[...users, ...accounts, ...keys].map(({ id, name }) => [id, name] as const),
  ]), [principal, users, accounts, keys]);
}

const kinds: Readonly<Record<Schemas["Actor"]["type"], string>> = {
  user: "User", serviceAccount: "Service account", portalLink: "Portal link", apiKey: "API key",
  anonymous: "Someone not signed in", service: "The relay",
};

/** The words for an actor at the beginning of a line: an email, the name of a machine or key, or the kind and id. */
export function whoOf({ type, id, part, name }: Schemas["Actor"]): string {
  if (type === "service" && part === "operator") return "The operator";
  return id === undefined ? kinds[type] : name ?? `${kinds[type]} ${id}`;
}

/** The words for actors whose names the relay does not give along with them. */
export function useWho(): (actor: Schemas["Actor"]) => string {
  const names = useActorNames();
  return (actor) => whoOf({ ...actor, name: names.get(actor.id ?? "") ?? null });
}
