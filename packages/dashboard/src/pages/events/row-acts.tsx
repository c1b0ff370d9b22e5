import type { ReactNode } from "react";
import { useMay } from "../../app/session.ts";
import { Icon, icons, type IconPath } from "../../parts/icon.tsx";
import styles from "./events.module.css";
import type { Item } from "./filters.ts";

/** An act on one event, by its operation. */
export type RowAct = "replayEvent" | "resendEvent" | "retryEvent" | "cancelEvent";

/** The acts by the status that each fits. */
const acts: readonly (readonly [act: RowAct, title: string, icon: IconPath, statuses: readonly Item["status"][]])[] = [
  ["replayEvent", "Replay", icons.rotateCw, ["CriticalFailure"]],
  ["resendEvent", "Resend", icons.rotateCw, ["Succeeded"]],
  ["retryEvent", "Retry now", icons.play, ["WaitingRetry"]],
  ["cancelEvent", "Cancel", icons.ban, ["Pending", "WaitingRetry"]],
];

/** The act of `r` on an event in a status. */
export function againOf(status: Item["status"]): RowAct | undefined {
  return acts.find(([act, , , statuses]) => act !== "cancelEvent" && statuses.includes(status))?.[0];
}

/**
 * The acts on an event, for the pointer: the list handles their clicks by `data-act`. The keyboard has them in the
 * panel, as an option of a list box has no buttons.
 */
export function RowActs({ item: { status, test } }: { readonly item: Item }): ReactNode {
  const may = useMay();
  return (
    <span className={styles.rowActs} aria-hidden="true">
      {acts.map(([act, title, icon, statuses]) => !test && statuses.includes(status) && may(act) && (
        <span key={act} data-act={act} title={title}><Icon of={icon} size={14} />{title}</span>
      ))}
      <span data-act="tab" title="Open its page in a tab"><Icon of={icons.externalLink} size={14} /></span>
    </span>
  );
}
