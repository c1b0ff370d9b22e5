import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import type { ReactNode } from "react";
import { destinationNames } from "../../api/names.ts";
import { useMay } from "../../app/session.ts";
import type { ControlProps } from "../../parts/form.tsx";
import shared from "../../style/shared.module.css";

/** A link to a destination: its URL, or its id where it was deleted or may not be read. */
export function DestinationLink({ id, at }: { readonly id: string; readonly at?: string | undefined }): ReactNode {
  const mayList = useMay()("listDestinations");
  const { data } = useQuery(destinationNames);
  const url = data?.find((destination) => destination.id === id)?.name;
  if (!mayList) return <code>{id}</code>;
  return (
    <Link to="/destinations/$id" params={{ id }} search={at === undefined ? {} : { at }} className={shared.wraps}>
      {url ?? <code>{id}</code>}
    </Link>
  );
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
      {data.map(({ id, name }) => <option key={id} value={id}>{name}</option>)}
    </select>
  );
}
