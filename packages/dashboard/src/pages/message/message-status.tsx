import type { Schemas } from "@webhook-relay/client";
import type { ReactNode } from "react";
import { EventStatus, Status } from "../../parts/status.tsx";

/** The status that sums the deliveries of a message up: while one is open, it is under way. */
export function MessageStatus({ value }: { readonly value: Schemas["EventStatus"] }): ReactNode {
  return value === "Pending" ? <Status value={value} word="Under way" title={value} /> : <EventStatus value={value} />;
}
