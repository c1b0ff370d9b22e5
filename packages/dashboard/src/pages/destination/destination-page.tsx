import type { ReactNode } from "react";
import { Page } from "../../parts/page.tsx";

export function DestinationPage(): ReactNode {
  return <Page title="Destination">…</Page>;
}
