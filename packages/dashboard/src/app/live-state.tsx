import type { ReactNode } from "react";
import { useConnection } from "../live/stream.ts";
import { Moment } from "../parts/time.tsx";
import { classes } from "../style/classes.ts";
import shared from "../style/shared.module.css";
import styles from "./shell.module.css";

const words = { connecting: "", live: "Live", reconnecting: "Reconnecting", offline: "Offline since " };

/** Whether the pages are live now. */
export function LiveState(): ReactNode {
  const connection = useConnection();
  if (!connection) return null;
  const { state } = connection;
  const since = connection.state === "offline" && new Date(connection.since).toISOString();
  return (
    <span role="status" className={classes(shared.small, styles.liveState)} data-state={state}>
      {words[state]}
      {since && <Moment at={since} only="minute" />}
    </span>
  );
}
