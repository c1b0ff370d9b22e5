import type { ReactNode } from "react";
import { Page } from "../../parts/page.tsx";

export function DestinationsPage(): ReactNode {
  return <Page title="Destinations">…</Page>;
}
