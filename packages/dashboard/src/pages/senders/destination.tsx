import { useQuery } from "@tanstack/react-query";
import type { ReactNode } from "react";
import { destinationsQuery } from "../../api/destinations.ts";
import { PageLink } from "../../app/navigation.tsx";
import { useMay } from "../../app/session.ts";
import type { ControlProps } from "../../parts/form.tsx";

/** A link to a destination: its URL, or its id where it was deleted or may not be read. */
export function DestinationLink({ id, at }: { readonly id: string; readonly at?: string | undefined }): ReactNode {
  const mayList = useMay()("listDestinations");
  const { data } = useQuery({ ...destinationsQuery, enabled: mayList });
  const url = data?.find((destination) => destination.id === id)?.url;
  if (!mayList) return <code>{id}</code>;
  return (
    <PageLink to={`/destinations/${id}`} search={at === undefined ? {} : { at }} className="wraps">
      {url ?? <code>{id}</code>}
    </PageLink>
  );
}

/** Chooses a destination of the tenant. One that is chosen and was deleted since stays in the list, by its id. */
export function DestinationChoice({ control, chosen }: {
  readonly control: ControlProps; readonly chosen?: string;
}): ReactNode {
  const { data = [], isPending } = useQuery(destinationsQuery);
  const isGone = chosen !== undefined && !isPending && !data.some(({ id }) => id === chosen);
  // The chosen one can be set only once it is among the options.
  return (
    <select {...control} key={String(isPending)} defaultValue={chosen ?? ""} required>
      <option value="" disabled>{isPending ? "Loading…" : "Choose a destination"}</option>
      {isGone && <option value={chosen}>{chosen} (deleted)</option>}
      {data.map(({ id, url }) => <option key={id} value={id}>{url}</option>)}
    </select>
  );
}
