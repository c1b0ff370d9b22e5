import { Link, type LinkProps } from "@tanstack/react-router";
import type { ReactNode } from "react";
import shared from "../style/shared.module.css";
import { changesIn, fieldsIn, type FactSubject } from "./changes.ts";
import { Diff } from "./diff.tsx";
import type { Fact } from "./fact-words.ts";

/** The page of a thing that can be shown as of a moment. */
const pages: Readonly<Record<string, (id: string, at?: string) => LinkProps>> = {
  destination: (id, at) => ({ to: "/destinations/$id", params: { id }, search: { at } }),
  circuit: (id, at) => ({ to: "/destinations/$id", params: { id }, search: { at } }),
  sender: (id, at) => ({ to: "/senders/$id", params: { id }, search: { at } }),
  tenant: (_id, at) => ({ to: "/settings", search: { at } }),
};

/** The settings that an entry changed, or what it ordered, and links to the page of the thing then. */
export function FactChange({ fact, subject }: { readonly fact: Fact; readonly subject: FactSubject }): ReactNode {
  const changes = fact.changes ? changesIn(fact) : fieldsIn(fact, subject.id);
  return (
    <>
      {changes.length > 0 && <Diff changes={changes} />}
      <ThenLinks fact={fact} subject={subject} />
    </>
  );
}

function ThenLinks({ fact: { revision, position, time, changes = [] }, subject }: {
  readonly fact: Fact; readonly subject: FactSubject;
}): ReactNode {
  const page = pages[subject.type];
  if (page === undefined) return null;
  const isFirst = revision === 0 && subject.type !== "circuit";
  const isGone = changes.some(({ field, to }) => field === "status" && to === "Deleted");
  const before = new Date(Date.parse(time) - 1).toISOString();
  return (
    <p className={shared.acts}>
      {!isFirst && <Link {...page(subject.id, before)}>The page as it was before</Link>}
      {!isGone && <Link {...page(subject.id, position)}>The page as of this entry</Link>}
      {!isGone && <Link {...page(subject.id)}>The page now</Link>}
    </p>
  );
}
