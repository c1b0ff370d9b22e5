import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import type { Schemas } from "@webhook-relay/client";
import type { ReactNode } from "react";
import { useMay } from "../app/session.ts";
import { MiddleCut } from "./copy.tsx";
import type { ControlProps } from "./form.tsx";
import { destinationNames, titleOf } from "./names.tsx";

/** A link to a destination: its name with the URL beside it, or its id where it was deleted or may not be read. */
export function DestinationLink({ id, at }: { readonly id: string; readonly at?: string | undefined }): ReactNode {
  const mayList = useMay()("listDestinations");
  const { data, isLoading } = useQuery(destinationNames);
  const { name, url } = data?.find((destination) => destination.id === id) ?? {};
  if (!mayList) return <code>{id}</code>;
  return (
    <>
      <Link to="/destinations/$id" params={{ id }} search={at === undefined ? {} : { at }} aria-label={name ?? id}>
        {name === undefined ? isLoading ? "…" : <code>{id}</code> : <MiddleCut text={name} />}
      </Link>
      {url !== undefined && url !== name && <> <small><MiddleCut text={url} /></small></>}
    </>
  );
}

/** Where the events of a sender go: a link to its destination, or that it has subscriptions. */
export function SenderTarget({ sender }: { readonly sender: Schemas["Sender"] }): ReactNode {
  const { destinationUrlId, asOf } = sender;
  if (destinationUrlId === null) return "matching subscriptions";
  return <DestinationLink id={destinationUrlId} at={asOf?.position} />;
}

/** Chooses a destination of the tenant. One that is chosen and was deleted since stays in the list, by its id. */
export function DestinationChoice({ control, chosen }: {
  readonly control: ControlProps; readonly chosen?: string;
}): ReactNode {
  const { data = [], isLoading } = useQuery(destinationNames);
  const isGone = chosen !== undefined && !isLoading && !data.some(({ id }) => id === chosen);
  // The chosen one can be set only once it is among the options.
  return (
    <select key={String(isLoading)} {...control} defaultValue={chosen ?? ""} required>
      <option value="" disabled>{isLoading ? "Loading…" : "Choose a destination"}</option>
      {isGone && <option value={chosen}>{chosen} (deleted)</option>}
      {data.map((each) => <option key={each.id} value={each.id}>{titleOf(each)}</option>)}
    </select>
  );
}
