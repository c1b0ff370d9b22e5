import type { ReactNode } from "react";
import { Page } from "../parts/page.tsx";
import shared from "../style/shared.module.css";
import styles from "./portal.module.css";
import { ReturnLink } from "./return-link.tsx";
import { last } from "./visitor.ts";

/** In place of the portal: the link was used, is too old or was deleted, or its session is over. */
export function LinkOverPage(): ReactNode {
  const returnUrl = last.session?.returnUrl ?? null;
  return (
    <main className={styles.over}>
      <Page title="This link is over">
        <div className={shared.section}>
          <p>A link to these pages opens them once, within a minute, and for a limited time.</p>
          <p>
            To get a new one, go back to the site that led you here, and open the pages there again.
          </p>
          {returnUrl !== null && <p><ReturnLink url={returnUrl} className={shared.button} /></p>}
        </div>
      </Page>
    </main>
  );
}
