import type { ReactNode } from "react";
import styles from "../../parts/listed.module.css";
import { Moment, useNow } from "../../parts/time.tsx";
import shared from "../../style/shared.module.css";

/** The cells of a key's name and of its last characters. */
export function KeyName({ of }: {
  readonly of: { readonly name: string; readonly prefix: string; readonly last4: string };
}): ReactNode {
  return (
    <>
      <td className={styles.main}>{of.name}</td>
      <td><code>{of.prefix}…{of.last4}</code></td>
    </>
  );
}

/** When a key stops working, and whether it has. */
export function Expiry({ at }: { readonly at: string | null }): ReactNode {
  const now = useNow();
  if (at === null) return "never";
  return <>{Date.parse(at) <= now && <span className={shared.off}>— expired </span>}<Moment at={at} /></>;
}
