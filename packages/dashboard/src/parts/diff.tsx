import type { ReactNode } from "react";
import shared from "../style/shared.module.css";
import { changesOf, type Values } from "./changes.ts";
import styles from "./diff.module.css";

/** Changed fields: for each what it was, and what it is. `labels` names fields for people. */
export function Diff({ before, after, labels = {} }: {
  readonly before: Values; readonly after: Values; readonly labels?: Readonly<Record<string, string>>;
}): ReactNode {
  const changes = changesOf(before, after);
  if (changes.length === 0) return <p className={shared.small}>No field differs.</p>;
  return (
    <dl className={styles.diff}>
      {changes.map(({ field, before: was, after: is }) => (
        <div key={field}>
          <dt>{labels[field] ?? field}</dt>
          {was !== null && <dd className={styles.was}><span aria-hidden="true">−</span> <del>{was}</del></dd>}
          {is !== null && <dd className={styles.is}><span aria-hidden="true">+</span> <ins>{is}</ins></dd>}
        </div>
      ))}
    </dl>
  );
}
