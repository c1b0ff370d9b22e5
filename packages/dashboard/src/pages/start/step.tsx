import type { ReactNode } from "react";
import { classes } from "../../style/classes.ts";
import shared from "../../style/shared.module.css";
import styles from "./start.module.css";

/** A step: its number, whether the API says that it is done, and its instructions. */
export function Step({ number, title, done, current, children }: {
  readonly number: number;
  readonly title: string;
  readonly done: boolean;
  readonly current: boolean;
  readonly children: ReactNode;
}): ReactNode {
  return (
    <li className={styles.step} aria-current={current ? "step" : undefined}>
      <span className={classes(styles.stepMark, done ? shared.ok : shared.info)} aria-hidden="true">
        {done ? "✓" : number}
      </span>
      <div>
        <h2>{title} <span className={shared.hiddenText}>{done ? "(done)" : "(to do)"}</span></h2>
        {children}
      </div>
    </li>
  );
}
