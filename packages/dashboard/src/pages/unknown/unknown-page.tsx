import { Link } from "@tanstack/react-router";
import type { ReactNode } from "react";
import { LonePage } from "../../parts/page.tsx";
import { Empty } from "../../parts/states.tsx";
import shared from "../../style/shared.module.css";

/** An address without a page. */
export function UnknownPage(): ReactNode {
  return (
    <LonePage title="No such page">
      <Empty act={<Link to="/" className={shared.button}>Go to the overview</Link>}>Nothing has this address.</Empty>
    </LonePage>
  );
}
