import { useQuery } from "@tanstack/react-query";
import type { ReactNode } from "react";
import type { Schemas } from "../../../client/src/index.ts";
import { relay } from "../api/relay.ts";
import { useMay } from "../app/session.ts";
import { factWords, type Fact } from "./fact-words.ts";
import { Moment } from "./time.tsx";

/** An entry of a history or of the audit in words: when, who, and what they did. */
export function FactLine({ fact, children }: {
  readonly fact: Fact;
  /** What follows the words, such as a link to the event that caused it. */
  readonly children?: ReactNode;
}): ReactNode {
  return (
    <p className="fact">
      <Moment at={fact.time} /> <span><Actor actor={fact.actor} /> <Words text={factWords(fact)} />{children}</span>
    </p>
  );
}

const time = /(\d{4}-\d\d-\d\dT[\d:.]+Z)/;

/** A text whose times show in the zone of the preferences. */
function Words({ text }: { readonly text: string }): ReactNode {
  return text.split(time).map((part, place) =>
    place % 2 === 1 ? <Moment key={place} at={part} /> : part);
}

/** Who did something: a person's email or a service account's name where the caller may read it, else the id. */
export function Actor({ actor }: { readonly actor: Schemas["Actor"] }): ReactNode {
  const { type, id } = actor;
  if (type === "user" && id !== undefined) return <Named kind="user" id={id} />;
  if (type === "serviceAccount" && id !== undefined) return <Named kind="service account" id={id} />;
  if (type === "apiKey" && id !== undefined) return <strong>API key <code>{id}</code></strong>;
  return <strong>{type === "anonymous" ? "Someone unknown" : "The relay"}</strong>;
}

const lookups = {
  user: { operation: "getUser", name: async (id: string) => (await relay.getUser({ id })).email },
  "service account": {
    operation: "getServiceAccount", name: async (id: string) => (await relay.getServiceAccount({ id })).name,
  },
} as const;

function Named({ kind, id }: { readonly kind: keyof typeof lookups; readonly id: string }): ReactNode {
  const { operation, name } = lookups[kind];
  const { data } = useQuery({
    queryKey: [operation, { id }, "name"],
    // A deleted one has no name any longer.
    queryFn: () => name(id).catch(() => null),
    enabled: useMay()(operation),
    staleTime: 300_000,
  });
  return <strong title={id}>{data ?? <>{kind} <code>{id}</code></>}</strong>;
}
