import { useQuery } from "@tanstack/react-query";
import type { Schemas } from "../../../client/src/index.ts";
import { relay } from "../api/relay.ts";
import { useMay } from "../app/session.ts";

/** The most people and machines whose names are asked for; those beyond are shown by their ids. */
const namedAtMost = 100;

/** The words for who did something: an email, the name of a machine, or else what is known. */
export function useWho(): (actor: Schemas["Actor"]) => string {
  const allows = useMay();
  const page = { Qt: namedAtMost, Total: false };
  const users = useQuery({
    queryKey: ["listUsers", page],
    queryFn: () => relay.listUsers(page),
    enabled: allows("listUsers"),
  });
  const machines = useQuery({
    queryKey: ["listServiceAccounts", page],
    queryFn: () => relay.listServiceAccounts(page),
    enabled: allows("listServiceAccounts"),
  });
  const names = new Map([
    ...(users.data?.items ?? []).flatMap(({ id, email }) => email === null ? [] : [[id, email] as const]),
    ...(machines.data?.items ?? []).map(({ id, name }) => [id, name] as const),
  ]);
  return (actor) => whoText(actor, names);
}

const kinds: Readonly<Record<Schemas["Actor"]["type"], string>> = {
  user: "user", serviceAccount: "service account", apiKey: "API key", anonymous: "somebody not signed in",
  service: "the relay itself",
};

/** The words for an actor, with the names that are known by id. */
export function whoText({ type, id, part }: Schemas["Actor"], names: ReadonlyMap<string, string>): string {
  if (type === "service" && part === "operator") return "the operator";
  if (id === undefined) return kinds[type];
  return names.get(id) ?? `${kinds[type]} ${id.slice(0, 8)}…`;
}
