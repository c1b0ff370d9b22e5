import type { ReactNode } from "react";
import { Page } from "../../parts/page.tsx";

export function AuditPage(): ReactNode {
  return <Page title="Audit">…</Page>;
}
