import type { ReactNode } from "react";
import shared from "../style/shared.module.css";
import { changesOf, type Values } from "./changes.ts";
import styles from "./diff.module.css";

interface DiffProps {
  readonly before: Values;
  readonly after: Values;
  /** Names of fields for people. */
  readonly labels?: Readonly<Record<string, string>>;
}

/** Changed fields, a block each: the value before, and the value after. */
export function Diff({ before, after, labels = {} }: DiffProps): ReactNode {
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

/** Changed fields in one line of text. */
export function InlineDiff({ before, after, labels = {} }: DiffProps): ReactNode {
  return changesOf(before, after).map(({ field, before: was, after: is }, index) => (
    <span key={field} className={styles.inline}>
      {index > 0 && "; "}
      {labels[field] ?? field} {was !== null && <><del>{was}</del> → </>}<ins>{is}</ins>
    </span>
  ));
}

/** A value that was another one before. */
export function Changed({ was, children }: { readonly was: ReactNode; readonly children: ReactNode }): ReactNode {
  return <><mark>{children}</mark><small> was {was}</small></>;
}
