import type { LinkProps } from "@tanstack/react-router";
import type { OperationId } from "@webhook-relay/client";
import { icons, type IconPath } from "../parts/icon.tsx";

/** A page of the navigation. */
export interface SidebarPage {
  readonly path: NonNullable<LinkProps["to"]>;
  readonly title: string;
  readonly icon: IconPath;
  /** The key behind `g`. */
  readonly key: string;
  /** An operation that the page needs. */
  readonly needs: OperationId;
  /** Whether a line is above it in the sidebar. */
  readonly begins?: boolean;
}

/** The pages of the navigation: traffic first, then administration. */
export const places: readonly SidebarPage[] = [
  { path: "/", title: "Overview", icon: icons.layoutDashboard, key: "o", needs: "getStatistics" },
  { path: "/incidents", title: "Incidents", icon: icons.triangleAlert, key: "i", needs: "listIncidents" },
  { path: "/events", title: "Events", icon: icons.activity, key: "e", needs: "listEvents" },
  { path: "/messages", title: "Messages", icon: icons.split, key: "m", needs: "listMessages" },
  { path: "/destinations", title: "Destinations", icon: icons.send, key: "d", needs: "listDestinations" },
  { path: "/senders", title: "Senders", icon: icons.arrowRightLeft, key: "s", needs: "listSenders" },
  { path: "/operations", title: "Operations", icon: icons.listRestart, key: "r", needs: "listReplays" },
  { path: "/audit", title: "Audit", icon: icons.history, key: "a", needs: "listAudit", begins: true },
  { path: "/keys", title: "Keys", icon: icons.keyRound, key: "k", needs: "listApiKeys" },
  { path: "/people", title: "People", icon: icons.users, key: "p", needs: "listUsers" },
  { path: "/settings", title: "Settings", icon: icons.settings, key: "t", needs: "getTenant" },
];
