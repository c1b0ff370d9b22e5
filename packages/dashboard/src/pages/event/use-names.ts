import { useQuery } from "@tanstack/react-query";
import { useMemo } from "react";
import { relay } from "../../api/relay.ts";
import { useMay } from "../../app/session.ts";

const page = { Qt: 100, Total: false };

/** The names of users, service accounts and API keys by id, of those that the reader may see; the first 100 of each. */
export function useNames(): ReadonlyMap<string, string> {
  const allows = useMay();
  const users = useQuery({
    queryKey: ["listUsers", page], queryFn: () => relay.listUsers(page), enabled: allows("listUsers"),
    staleTime: 60_000,
  });
  const accounts = useQuery({
    queryKey: ["listServiceAccounts", page], queryFn: () => relay.listServiceAccounts(page),
    enabled: allows("listServiceAccounts"), staleTime: 60_000,
  });
  const keys = useQuery({
    queryKey: ["listApiKeys", page], queryFn: () => relay.listApiKeys(page), enabled: allows("listApiKeys"),
    staleTime: 60_000,
  });
  return useMemo(() => new Map([
    ...(users.data?.items ?? []).flatMap(({ id, email }) => (email === null ? [] : [[id, email] as const])),
    ...[...accounts.data?.items ?? [], ...keys.data?.items ?? []].map(({ id, name }) => [id, name] as const),
  ]), [users.data, accounts.data, keys.data]);
}
