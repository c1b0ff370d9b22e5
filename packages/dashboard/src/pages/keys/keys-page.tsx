import type { ReactNode } from "react";
import { Page } from "../../parts/page.tsx";

export function KeysPage(): ReactNode {
  return <Page title="Keys">…</Page>;
}
