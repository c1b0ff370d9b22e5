import type { ReactNode } from "react";
import { useConnection } from "../live/stream.ts";
import { momentText } from "../parts/time.tsx";
import { classes } from "../style/classes.ts";
import shared from "../style/shared.module.css";
import { usePreferences } from "./preferences.tsx";
import styles from "./shell.module.css";

const words = { connecting: "", live: "Live", reconnecting: "Reconnecting", offline: "Offline since " };

/** The characters of a time's hours and minutes. */
const minutes = "00:00".length;

/** Whether what the pages show changes by itself now. */
export function LiveState(): ReactNode {
  const connection = useConnection();
  const { zone } = usePreferences();
  if (!connection) return null;
  const { state } = connection;
  const since = connection.state === "offline" && new Date(connection.since).toISOString();
  return (
    <span role="status" className={classes(shared.small, styles.liveState)} data-state={state}>
      {words[state]}
      {since && <time dateTime={since} title={since}>{momentText(since, zone, "time").slice(0, minutes)}</time>}
    </span>
  );
}
