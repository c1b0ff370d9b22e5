import { Link } from "@tanstack/react-router";
import type { ReactNode } from "react";
import { Page } from "../../parts/page.tsx";
import { Empty } from "../../parts/states.tsx";

/** An address without a page. */
export function UnknownPage(): ReactNode {
  return (
    <main className="alone">
      <Page title="No such page">
        <Empty act={<Link to="/" className="button">Go to the overview</Link>}>Nothing has this address.</Empty>
      </Page>
    </main>
  );
}
