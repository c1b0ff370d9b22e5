import { Fragment, type ReactNode } from "react";
import { PageLink, usePath, useSearch } from "../../app/navigation.tsx";
import type { Search } from "../../app/search.ts";
import { Moment } from "../../parts/time.tsx";
import type { Piece, Reference, Words } from "../../story/words.ts";

/** Words on the page: its links lead to the entries that they are about. */
export function Told({ words }: { readonly words: Words }): ReactNode {
  return words.map((piece, index) => <Fragment key={index}><ToldPiece piece={piece} /></Fragment>);
}

function ToldPiece({ piece }: { readonly piece: Piece }): ReactNode {
  if (typeof piece === "string") return <>{piece}</>;
  if ("time" in piece) return <Moment at={piece.time} only="time" />;
  if ("eventId" in piece) return <PageLink to={`/events/${piece.eventId}`}>{piece.text}</PageLink>;
  return <EntryLink entry={piece.entry}>{piece.text}</EntryLink>;
}

/** A link to an entry: to the moment of one of the event, to the page of another thing as of that moment. */
export function EntryLink({ entry, children }: {
  readonly entry: Reference; readonly children: ReactNode;
}): ReactNode {
  const { position: at, type: fact, subject: { type, id } } = entry;
  if (type === "event") return <MomentLink position={at}>{children}</MomentLink>;
  const places: Readonly<Record<typeof type, readonly [to: string, search: Search]>> = {
    circuit: [`/destinations/${id}`, { tab: "circuit", at }],
    destination: [`/destinations/${id}`, { tab: "changes", at }],
    sender: [`/senders/${id}`, { tab: "changes", at }],
    tenant: ["/audit", { SubjectId: id, Type: fact }],
  };
  const [to, search] = places[type];
  return <PageLink to={to} search={search}>{children}</PageLink>;
}

/** A link to the same page as of a moment. */
export function MomentLink({ position, children }: {
  readonly position: string; readonly children: ReactNode;
}): ReactNode {
  const path = usePath();
  const [search] = useSearch();
  return (
    <PageLink to={path} search={{ ...search, at: position }}>{children}</PageLink>
  );
}
