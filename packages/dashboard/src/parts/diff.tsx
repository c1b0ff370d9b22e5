import type { ReactNode } from "react";
import shared from "../style/shared.module.css";
import { settingName, type FieldChange } from "./changes.ts";
import styles from "./diff.module.css";

/** Changed fields, a block each: the value before, and the value after. */
export function Diff({ changes, nameOf = settingName }: {
  readonly changes: readonly FieldChange[]; readonly nameOf?: (field: string) => string;
}): ReactNode {
  if (changes.length === 0) return <p className={shared.small}>No field differs.</p>;
  return (
    <dl className={styles.diff}>
      {changes.map(({ field, before, after }) => (
        <div key={field}>
          <dt>{nameOf(field)}</dt>
          {before !== null && <dd className={styles.was}><span aria-hidden="true">−</span> <del>{before}</del></dd>}
          {after !== null && <dd className={styles.is}><span aria-hidden="true">+</span> <ins>{after}</ins></dd>}
        </div>
      ))}
    </dl>
  );
}

/** Changed fields in one line of text. */
export function InlineDiff({ changes }: { readonly changes: readonly FieldChange[] }): ReactNode {
  return changes.map(({ field, before, after }, index) => (
    <span key={field} className={styles.inline}>
      {index > 0 && "; "}
      {settingName(field)} {before !== null && <><del>{before}</del> → </>}<ins>{after}</ins>
    </span>
  ));
}

/** A value that was another one before. */
export function Changed({ was, children }: { readonly was: ReactNode; readonly children: ReactNode }): ReactNode {
  return <><mark>{children}</mark><small> was {was}</small></>;
}
