import type { ReactNode } from "react";
import { Page } from "../../parts/page.tsx";

export function SenderPage(): ReactNode {
  return <Page title="Sender">…</Page>;
}
