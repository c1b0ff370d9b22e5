import type { ReactNode } from "react";
import { Page } from "../../parts/page.tsx";

export function PeoplePage(): ReactNode {
  return <Page title="People">…</Page>;
}
