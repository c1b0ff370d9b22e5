import { useQueryClient } from "@tanstack/react-query";

/** Asks for senders and their histories again after a change. */
export function useSenderChanged(): () => Promise<unknown> {
  const queries = useQueryClient();
  return () => Promise.all(["getSender", "listSenders", "listSenderHistory"].map((operation) =>
    queries.invalidateQueries({ queryKey: [operation] })));
}
