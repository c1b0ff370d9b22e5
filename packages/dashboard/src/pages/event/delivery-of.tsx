import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import type { ReactNode } from "react";
import { relay } from "../../api/relay.ts";
import { useMay } from "../../app/session.ts";
import { shortId } from "../../story/words.ts";
import shared from "../../style/shared.module.css";

/** Leads from a delivery to its message, which other receivers may have got, too. */
export function DeliveryOf({ messageId: id }: { readonly messageId: string }): ReactNode {
  const allows = useMay();
  const { data } = useQuery({
    queryKey: ["getMessage", { id }], queryFn: () => relay.getMessage({ id }), enabled: allows("getMessage"),
  });
  if (!allows("getMessage")) return null;
  const count = data?.deliveries.length;
  const which = count === undefined ? "A delivery" : count === 1 ? "The only delivery" : `One of ${count} deliveries`;
  return (
    <p className={shared.small}>
      {which} of message{" "}
      <Link to="/messages/$id" params={{ id }}>{data?.eventType ?? ""} <code>{shortId(id)}</code></Link>
    </p>
  );
}
