import { Link, type LinkProps } from "@tanstack/react-router";
import type { OperationId } from "@webhook-relay/client";
import { Fragment, type ReactNode } from "react";
import { relayClock } from "../../api/clock.ts";
import { useMay } from "../../app/session.ts";
import { Countdown, Moment } from "../../parts/time.tsx";
import type { Piece, Reference, Words } from "../../story/words.ts";
import styles from "./event.module.css";

/** Words on the page: its links lead to the entries that they are about. */
export function Told({ words }: { readonly words: Words }): ReactNode {
  return words.map((piece, index) => <Fragment key={index}><ToldPiece piece={piece} /></Fragment>);
}

function ToldPiece({ piece }: { readonly piece: Piece }): ReactNode {
  const allows = useMay();
  if (typeof piece === "string") return <>{piece}</>;
  if ("quote" in piece) return <q className={styles.quote}>{piece.quote}</q>;
  if ("time" in piece) {
    return (
      <>
        <Moment at={piece.time} only="time" />
        {piece.counts && Date.parse(piece.time) > relayClock.now() && <> (<Countdown to={piece.time} />)</>}
      </>
    );
  }
  if ("eventId" in piece) return <Link to="/events/$id" params={{ id: piece.eventId }}>{piece.text}</Link>;
  if ("entry" in piece) return <EntryLink entry={piece.entry}>{piece.text}</EntryLink>;
  if ("messageId" in piece && allows("getMessage")) {
    return <Link to="/messages/$id" params={{ id: piece.messageId }}>{piece.text}</Link>;
  }
  if ("senderId" in piece && allows("getSender")) {
    return <Link to="/senders/$id" params={{ id: piece.senderId }}>{piece.text}</Link>;
  }
  return <>{piece.text}</>;
}

/**
 * A link to an entry: to the moment of one of the event, to the page of another thing as of that moment. Without the
 * right to that page it is its text.
 */
export function EntryLink({ entry, children }: {
  readonly entry: Reference; readonly children: ReactNode;
}): ReactNode {
  const allows = useMay();
  const { position: at, type: fact, subject: { type, id } } = entry;
  if (type === "event") return <MomentLink position={at}>{children}</MomentLink>;
  const links: Readonly<Record<typeof type, readonly [needs: OperationId, link: LinkProps]>> = {
    circuit: ["getDestination", { to: "/destinations/$id", params: { id }, search: { tab: "circuit", at } }],
    destination: ["getDestination", { to: "/destinations/$id", params: { id }, search: { tab: "changes", at } }],
    sender: ["getSender", { to: "/senders/$id", params: { id }, search: { tab: "changes", at } }],
    tenant: ["listAudit", { to: "/audit", search: { SubjectId: id, Type: fact } }],
  };
  const [needs, link] = links[type];
  return allows(needs) ? <Link {...link}>{children}</Link> : children;
}

/** A link to the same page as of a moment. */
export function MomentLink({ position, children }: {
  readonly position: string; readonly children: ReactNode;
}): ReactNode {
  return <Link to="." search={(search) => ({ ...search, at: position })}>{children}</Link>;
}
