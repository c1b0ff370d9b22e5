import type { ReactNode } from "react";
import { PageLink } from "../../app/navigation.tsx";

/** The changes of a sender. */
export function SenderChanges({ id }: { readonly id: string }): ReactNode {
  return <PageLink to="/audit" search={{ SubjectId: id }}>Changes of this sender in the audit</PageLink>;
}
