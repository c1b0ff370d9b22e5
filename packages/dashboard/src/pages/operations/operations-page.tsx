import type { ReactNode } from "react";
import { Page } from "../../parts/page.tsx";

export function OperationsPage(): ReactNode {
  return <Page title="Operations">…</Page>;
}
