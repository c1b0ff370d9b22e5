import { useQuery } from "@tanstack/react-query";
import type { Schemas } from "@webhook-relay/client";
import { useMemo } from "react";
import { apiKeyNames, none, serviceAccountNames, userNames } from "../api/names.ts";
import { useMe } from "../app/session.ts";

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
  user: "User", serviceAccount: "Service account", apiKey: "API key", anonymous: "Someone not signed in",
  service: "The relay",
};

/** The words for who did something, as a line begins: an email, the name of a machine or key, else what is known. */
export function useWho(): (actor: Schemas["Actor"]) => string {
  const names = useActorNames();
  return ({ type, id, part }) => {
    if (type === "service" && part === "operator") return "The operator";
    if (id === undefined) return kinds[type];
    return names.get(id) ?? `${kinds[type]} ${id}`;
  };
}
