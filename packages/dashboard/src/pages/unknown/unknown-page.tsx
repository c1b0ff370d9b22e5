import type { ReactNode } from "react";
import { PageLink } from "../../app/navigation.tsx";
import { Page } from "../../parts/page.tsx";
import { Empty } from "../../parts/states.tsx";

/** An address without a page. */
export function UnknownPage(): ReactNode {
  return (
    <main className="alone">
      <Page title="No such page">
        <Empty act={<PageLink to="/" className="button">Go to the overview</PageLink>}>Nothing has this address.</Empty>
      </Page>
    </main>
  );
}
