import { useEffect, type ReactNode } from "react";
import { isPortal } from "../api/relay.ts";
import { classes } from "../style/classes.ts";
import mark from "../style/icon.svg";
import shared from "../style/shared.module.css";
import { Icon, icons } from "./icon.tsx";
import styles from "./page.module.css";

/** The name of all pages together; the portal has that of its brand. */
export const product = { name: isPortal ? "Webhooks" : "Webhook Relay" };

/**
 * A page: its title, also the tab's, acts beside it, and its content; `back` is the link to the list that it is of, and
 * `heading` the title as the page shows it. A `wide` one is as wide as the window. One that is to `fill` the window is
 * as high, too, and its acts take the line.
 */
export function Page({ title, heading = title, back, acts, wide = false, fill = false, children }: {
  readonly title: string;
  readonly heading?: ReactNode;
  readonly back?: ReactNode;
  readonly acts?: ReactNode;
  readonly wide?: boolean;
  readonly fill?: boolean;
  readonly children: ReactNode;
}): ReactNode {
  useEffect(() => {
    document.title = `${title} · ${product.name}`;
  }, [title]);
  return (
    <div className={classes(styles.page, (wide || fill) && styles.wide, fill && styles.fill)}>
      {back !== undefined && <p className={styles.back}><Icon of={icons.chevronLeft} size={14} />{back}</p>}
      <header className={shared.pageHead}>
        <h1>{heading}</h1>
        {acts !== undefined && <div className={shared.acts}>{acts}</div>}
      </header>
      {children}
    </div>
  );
}

/** A page outside the frame, such as the sign-in. */
export function LonePage({ title, children }: { readonly title: string; readonly children: ReactNode }): ReactNode {
  return (
    <main className={styles.alone}>
      <p className={styles.brand}><img src={mark} alt="" width={32} height={32} />Webhook Relay</p>
      <Page title={title}>{children}</Page>
    </main>
  );
}

/** Tabs of a page: the chosen one is in the address. As a `choice` they are one of the controls on the page. */
export function Tabs({ label, tabs, chosen, choose, kind = "tabs" }: {
  readonly kind?: "tabs" | "choice";
  readonly label: string;
  readonly tabs: Readonly<Record<string, string>>;
  readonly chosen: string;
  readonly choose: (tab: string) => void;
}): ReactNode {
  return (
    <div className={styles[kind]} role="group" aria-label={label}>
      {Object.entries(tabs).map(([tab, title]) => (
        <button key={tab} type="button" aria-pressed={tab === chosen} onClick={() => choose(tab)}>{title}</button>
      ))}
    </div>
  );
}
