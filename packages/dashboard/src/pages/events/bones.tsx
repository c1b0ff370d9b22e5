import { useEffect, useState, type ReactNode } from "react";
import { classes } from "../../style/classes.ts";
import styles from "./events.module.css";

const patienceMs = 150;
const lines = 12;

/** The list while it is being loaded: as high as it will be, with rows as high as its rows. */
export function RowBones(): ReactNode {
  const [isShown, setShown] = useState(false);
  useEffect(() => {
    const timer = setTimeout(() => setShown(true), patienceMs);
    return () => clearTimeout(timer);
  }, []);
  return (
    <>
      <div className={styles.listHead} />
      <div className={styles.eventList} role="status" aria-label="Loading">
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
