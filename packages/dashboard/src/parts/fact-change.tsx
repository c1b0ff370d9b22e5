import { useQuery } from "@tanstack/react-query";
import { Link, type LinkProps } from "@tanstack/react-router";
import type { OperationId } from "@webhook-relay/client";
import type { ReactNode } from "react";
import { relay } from "../api/relay.ts";
import { useMe } from "../app/session.ts";
import shared from "../style/shared.module.css";
import { valuesAfter, type FactSubject } from "./changes.ts";
import { Diff } from "./diff.tsx";
import { factType, type Fact } from "./fact-words.ts";
import { Answered } from "./states.tsx";

type Listing = (id: string, tenantId: string) => AsyncIterable<Fact>;
type Histories = Readonly<Record<string, readonly [OperationId, Listing]>>;

const pageSize = { Qt: 100, Total: false } as const;

/** By type of subject, the history that has its earlier values. */
const histories: Histories = {
  tenant: ["listTenantHistory", (id) => relay.listTenantHistory({ id, ...pageSize })],
  user: ["listTenantHistory", (_id, tenantId) => relay.listTenantHistory({ id: tenantId, ...pageSize })],
  destination: ["listDestinationHistory", (id) => relay.listDestinationHistory({ id, ...pageSize })],
  sender: ["listSenderHistory", (id) => relay.listSenderHistory({ id, ...pageSize })],
  apiKey: ["listApiKeyHistory", (id) => relay.listApiKeyHistory({ id, ...pageSize })],
  serviceAccount: ["listServiceAccountHistory", (id) => relay.listServiceAccountHistory({ id, ...pageSize })],
  invite: ["listInviteHistory", (id) => relay.listInviteHistory({ id, ...pageSize })],
};

/** The page of a thing that can be shown as of a moment. */
const pages: Readonly<Record<string, (id: string, at?: string) => LinkProps>> = {
  destination: (id, at) => ({ to: "/destinations/$id", params: { id }, search: { at } }),
  circuit: (id, at) => ({ to: "/destinations/$id", params: { id }, search: { at } }),
  sender: (id, at) => ({ to: "/senders/$id", params: { id }, search: { at } }),
  tenant: (_id, at) => ({ to: "/settings", search: { at } }),
};

/** The fields that an entry changed, with their values before and after, and links to the page of the thing then. */
export function FactChange({ fact, subject }: { readonly fact: Fact; readonly subject: FactSubject }): ReactNode {
  const { tenant } = useMe();
  const [operation, list] = histories[subject.type] ?? [];
  const query = useQuery({
    queryKey: [operation ?? "none", subject, "before", fact.position],
    queryFn: async () => {
      const earlier: Fact[] = [];
      if (!list) return earlier;
      for await (const other of list(subject.id, tenant.id)) {
        // A history is in the order of the log, and positions sort as text.
        if (other.position >= fact.position) break;
        if (isAbout(other, subject)) earlier.push(other);
      }
      return earlier;
    },
    staleTime: Infinity,
  });
  return (
    <Answered query={query}>
      {(earlier) => (
        <>
          <Diff before={valuesAfter(earlier, subject)} after={valuesAfter([...earlier, fact], subject)} />
          <ThenLinks fact={fact} subject={subject} before={earlier.at(-1)?.position} />
        </>
      )}
    </Answered>
  );
}

/** Whether an entry of a history is about the subject: a tenant's history has its users', too. */
function isAbout({ data }: Fact, { type, id }: FactSubject): boolean {
  const userId = "userId" in data ? data.userId : undefined;
  return type === "user" ? userId === id : type !== "tenant" || userId === undefined;
}

function ThenLinks({ fact: { type, position }, subject, before }: {
  readonly fact: Fact; readonly subject: FactSubject; readonly before: string | undefined;
}): ReactNode {
  const page = pages[subject.type];
  if (page === undefined) return null;
  const isGone = factType(type).sets?.["status"] === "Deleted";
  return (
    <p className={shared.acts}>
      {before !== undefined && <Link {...page(subject.id, before)}>The page as it was before</Link>}
      {!isGone && <Link {...page(subject.id, position)}>The page as of this entry</Link>}
      {!isGone && <Link {...page(subject.id)}>The page now</Link>}
    </p>
  );
}
