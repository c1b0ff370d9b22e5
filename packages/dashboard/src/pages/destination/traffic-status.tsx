import { useQuery } from "@tanstack/react-query";
import type { Schemas } from "@webhook-relay/client";
import type { ReactNode } from "react";
import { relay } from "../../api/relay.ts";
import { Status } from "../../parts/status.tsx";
import { Countdown } from "../../parts/time.tsx";
import { trafficOf } from "./figures.ts";

/** The state of a destination and of its traffic: one that fails is never called active alone. */
export function TrafficStatus({ destination: { status, suspendedUntil }, points }: {
  readonly destination: Schemas["Destination"]; readonly points: readonly Schemas["StatisticsPoint"][];
}): ReactNode {
  if (suspendedUntil !== null) {
    return (
      <>
        <Status value={status} word="Circuit open" title={status} />{" "}
        <small>tried again <Countdown to={suspendedUntil} /></small>
      </>
    );
  }
  if (status !== "Active") return <Status value={status} word="Switched off" title={status} />;
  const { state, failed } = trafficOf(points);
  if (state === "failing") return <Status value="Failed" word="Failing" title="Active: its last attempts failed" />;
  return <><Status value={status} />{failed > 0 && <>{" "}<small>{failed} failed in 24 h</small></>}</>;
}

/** The same of one destination, from its last 24 hours. */
export function DestinationStatus({ destination }: { readonly destination: Schemas["Destination"] }): ReactNode {
  const { id } = destination;
  const { data } = useQuery({
    queryKey: ["getStatistics", { DestinationUrlId: id, range: "24h" }, "status"],
    queryFn: () => relay.getStatistics({ DestinationUrlId: id, Bucket: "1h" }),
    refetchInterval: 15_000,
  });
  return <TrafficStatus destination={destination} points={data?.series[0]?.points ?? []} />;
}
