import { useQuery } from "@tanstack/react-query";
import { Link, useSearch } from "@tanstack/react-router";
import type { ReactNode } from "react";
import { relay } from "../../api/relay.ts";
import { useMay } from "../../app/session.ts";
import { Page } from "../../parts/page.tsx";
import { Answered, Empty } from "../../parts/states.tsx";
import shared from "../../style/shared.module.css";
import { Attention } from "./attention.tsx";
import { Refusals } from "./refusals.tsx";
import { Totals } from "./totals.tsx";
import { Traffic } from "./traffic.tsx";

/** How often the numbers are read again, ms. */
const everyMs = 10_000;

/** The state of the tenant: work for a person first, then totals and the traffic of 24 hours. */
export function OverviewPage(): ReactNode {
  const allows = useMay();
  const { refused } = useSearch({ from: "/signed-in/" });
  const totals = useQuery({
    queryKey: ["countEvents", {}],
    queryFn: () => relay.countEvents(),
    refetchInterval: everyMs,
  });
  return (
    <Page title="Overview">
      <Attention everyMs={everyMs} />
      {refused !== undefined && <Refusals />}
      <Answered query={totals}>
        {(counted) => counted.total === 0 ? <FirstSteps /> : (
          <>
            <Totals totals={counted} />
            {allows("getStatistics") && <Traffic everyMs={everyMs * 6} />}
          </>
        )}
      </Answered>
    </Page>
  );
}

function FirstSteps(): ReactNode {
  return (
    <Empty act={<Link to="/start" className={shared.button}>Begin with the first steps</Link>}>
      No event yet. Totals and traffic of your webhooks will be here. Five steps lead to the first delivery: a
      destination, a key, an event, its delivery, and the check of its signature.
    </Empty>
  );
}
