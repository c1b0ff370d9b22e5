import { useQueryClient, useSuspenseQuery } from "@tanstack/react-query";
import type { OperationId, Schemas } from "@webhook-relay/client";
import { may, meQuery } from "../api/queries.ts";
import { relay } from "../api/relay.ts";
import { tellTabs } from "./tabs.ts";

/** The caller; for pages behind the sign-in. */
export function useMe(): Schemas["Me"] {
  return useSuspenseQuery(meQuery).data;
}

/** Whether the caller may call each operation: controls for others are not shown. */
export function useMay(): (operation: OperationId) => boolean {
  const me = useMe();
  return (operation) => may(me, operation);
}

/** Opens a session and forgets the answers to the former caller. */
export function useSignIn(): (...login: Parameters<typeof relay.openSession>) => Promise<void> {
  const queries = useQueryClient();
  return async (...login) => {
    await relay.openSession(...login);
    queries.clear();
    tellTabs();
  };
}

/** Ends the session and forgets all answers. */
export function useSignOut(): () => Promise<void> {
  const queries = useQueryClient();
  return async () => {
    await relay.endSession();
    queries.clear();
    tellTabs();
  };
}
