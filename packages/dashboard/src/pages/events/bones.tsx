import type { ReactNode } from "react";
import { useIsSlow } from "../../parts/states.tsx";
import { classes } from "../../style/classes.ts";
import styles from "./events.module.css";

const lines = 12;

/** The list while it is being loaded: as high as it will be, with rows as high as its rows. */
export function RowBones(): ReactNode {
  const isShown = useIsSlow();
  return (
    <>
      <div className={styles.listHead} />
      <div className={styles.eventList} role="status" aria-label="Loading" data-shown={isShown}>
        <div className={classes(styles.eventRow, styles.eventHead)} />
        <div className={styles.eventBox}>
          {isShown && Array.from({ length: lines }, (_, line) => (
            <div key={line} className={classes(styles.eventRow, styles.boneRow)}>
              <span className={styles.bone} />
            </div>
          ))}
        </div>
      </div>
    </>
  );
}
