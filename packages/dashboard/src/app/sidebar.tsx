import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { useRef, type ReactNode } from "react";
import { relay } from "../api/relay.ts";
import { Icon, icons, type IconPath } from "../parts/icon.tsx";
import { classes } from "../style/classes.ts";
import mark from "../style/icon.svg";
import shared from "../style/shared.module.css";
import { places, type SidebarPage } from "./places.ts";
import { usePreferences } from "./preferences.tsx";
import { useMay } from "./session.ts";
import styles from "./shell.module.css";

/** The id of the sidebar, for the button that opens it as a menu on narrow screens. */
export const sidebarId = "sidebar";

/** The navigation: icons and words, icons alone where collapsed, and a menu on narrow screens. */
export function Sidebar(): ReactNode {
  const allows = useMay();
  const { sidebar, change } = usePreferences();
  const nav = useRef<HTMLElement>(null);
  const needsStart = useNeedsStart();
  const openIncidents = useOpenIncidents();
  const hasMessages = useHasMessages();
  const isCollapsed = sidebar === "collapsed";
  const toggle = isCollapsed ? "Expand the sidebar" : "Collapse the sidebar";
  const entry = ({ path, title, icon, begins = false }: Pick<SidebarPage, "path" | "title" | "icon" | "begins">) => (
    <li key={path} className={begins ? styles.begins : undefined}>
      <Link to={path} activeOptions={{ exact: path === "/" }} title={isCollapsed ? title : undefined}>
        <Entry icon={icon} title={title} />
        {path === "/incidents" && openIncidents > 0 && (
          <span className={styles.badge}><span className={shared.hiddenText}> open: </span>{openIncidents}</span>
        )}
      </Link>
    </li>
  );
  return (
    <nav
      ref={nav} id={sidebarId} aria-label="Pages" className={styles.sidebar} popover="auto"
      onClick={({ target }) => {
        if (target instanceof Element && target.closest("a") && nav.current?.matches(":popover-open")) {
          nav.current.hidePopover();
        }
      }}
    >
      <Link
        to="/" className={styles.home} activeOptions={{ exact: true }} title={isCollapsed ? "Webhook Relay" : undefined}
      >
        <img src={mark} alt="" width="24" height="24" /><span className={styles.word}>Webhook Relay</span>
      </Link>
      <ul>
        {places.filter(({ needs }) => allows(needs) && (needs !== "listMessages" || hasMessages)).map(entry)}
        {needsStart && entry({ path: "/start", title: "Start", icon: icons.rocket })}
      </ul>
      <button
        type="button" className={classes(shared.plain, styles.collapse)} aria-expanded={!isCollapsed}
        title={isCollapsed ? toggle : undefined}
        onClick={() => change({ sidebar: isCollapsed ? "expanded" : "collapsed" })}
      >
        <Entry
          icon={isCollapsed ? icons.panelLeftOpen : icons.panelLeftClose} title={isCollapsed ? toggle : "Collapse"}
        />
      </button>
    </nav>
  );
}

function Entry({ icon, title }: { readonly icon: IconPath; readonly title: string }): ReactNode {
  return <><Icon of={icon} /><span className={styles.word}>{title}</span></>;
}

const incidentsEveryMs = 15_000;

/** How many incidents are open. */
function useOpenIncidents(): number {
  const { data = 0 } = useQuery({
    queryKey: ["listIncidents", "open"],
    queryFn: async () => (await relay.listIncidents({ State: "open", Qt: 1 })).total ?? 0,
    refetchInterval: incidentsEveryMs,
  });
  return data;
}

/** Whether the tenant has messages; few have a sender that fans out. */
function useHasMessages(): boolean {
  const allows = useMay();
  const { data = false } = useQuery({
    queryKey: ["listMessages", "any"],
    queryFn: async () => (await relay.listMessages({ Qt: 1, Total: false })).items.length > 0,
    enabled: allows("listMessages"),
    staleTime: ({ state }) => state.data === true ? Infinity : 60_000,
  });
  return data;
}

/** Whether the first steps are still of use: nothing was delivered yet. */
function useNeedsStart(): boolean {
  const allows = useMay();
  const { data } = useQuery({
    queryKey: ["listEvents", "first delivery"],
    queryFn: async () => {
      const { items } = await relay.listEvents({ Status: ["Succeeded"], Qt: 1, View: "summary", Total: false });
      return items.length === 0;
    },
    enabled: allows("listEvents"),
    staleTime: ({ state }) => state.data === false ? Infinity : 60_000,
  });
  return data === true;
}
