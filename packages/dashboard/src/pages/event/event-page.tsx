import type { ReactNode } from "react";
import { Page } from "../../parts/page.tsx";

export function EventPage(): ReactNode {
  return <Page title="Event">…</Page>;
}
