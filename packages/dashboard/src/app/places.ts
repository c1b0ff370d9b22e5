import type { LinkProps } from "@tanstack/react-router";
import type { OperationId } from "@webhook-relay/client";

/** A page of the navigation: its path, its title, the key behind `g`, and an operation that it needs. */
export type Place = readonly [path: NonNullable<LinkProps["to"]>, title: string, key: string, needs: OperationId];

/** The pages of the navigation. */
export const places: readonly Place[] = [
  ["/", "Overview", "o", "getStatistics"],
  ["/events", "Events", "e", "listEvents"],
  ["/destinations", "Destinations", "d", "listDestinations"],
  ["/senders", "Senders", "s", "listSenders"],
  ["/operations", "Operations", "r", "listReplays"],
  ["/audit", "Audit", "a", "listAudit"],
  ["/keys", "Keys", "k", "listApiKeys"],
  ["/people", "People", "p", "listUsers"],
  ["/settings", "Settings", "t", "getTenant"],
];
