import type { ReactNode } from "react";
import { Page } from "../../parts/page.tsx";

export function RegisterPage(): ReactNode {
  return <Page title="Register">…</Page>;
}
