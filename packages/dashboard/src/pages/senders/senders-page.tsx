import type { ReactNode } from "react";
import { Page } from "../../parts/page.tsx";

export function SendersPage(): ReactNode {
  return <Page title="Senders">…</Page>;
}
