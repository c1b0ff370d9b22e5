import type { ReactNode } from "react";
import { Page } from "../../parts/page.tsx";

export function StartPage(): ReactNode {
  return <Page title="Start">…</Page>;
}
