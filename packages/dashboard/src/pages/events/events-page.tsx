import { useState, type ReactNode } from "react";
import { useSearch } from "../../app/navigation.tsx";
import { Page } from "../../parts/page.tsx";
import { EventPanel } from "./event-panel.tsx";
import "./events.css";
import { FilterBar } from "./filter-bar.tsx";
import { filtersOf, searchOf } from "./filters.ts";
import { Histogram } from "./histogram.tsx";
import { ListedEvents } from "./listed-events.tsx";
import { useNames } from "./names.ts";
import { SearchedEvents } from "./searched-events.tsx";

/** The parameters of one event's story: another event has others. */
const noMoment = { at: undefined, attempt: undefined, with: undefined };

/** The events of the tenant: filters, outcomes over time, the list, and one event beside it. */
export function EventsPage(): ReactNode {
  const [search, change] = useSearch();
  const [load, setLoad] = useState(0);
  const names = useNames();
  const filters = filtersOf(search);
  const payload = searchOf(search);
  const opened = search["event"];
  const panel = {
    opened,
    open: (event: string) => change({ ...noMoment, event }, { replace: opened !== undefined }),
    close: () => {
      if (opened === undefined) return;
      change({ ...noMoment, event: undefined });
      document.querySelector<HTMLElement>("[role=listbox]")?.focus();
    },
  };
  // Other filters are another list, from its beginning.
  const key = JSON.stringify([filters, payload ?? null, load]);
  return (
    <Page title="Events">
      <FilterBar search={search} change={change} names={names} openEvent={panel.open} />
      <Histogram filters={filters} change={change} />
      <div className="events" data-panel={opened !== undefined}>
        <section className="events-main" aria-label="List of events">
          {payload === undefined
            ? <ListedEvents key={key} filters={filters} reload={() => setLoad(load + 1)} panel={panel} names={names} />
            : <SearchedEvents key={key} asked={payload} filters={filters} panel={panel} names={names} />}
        </section>
        {opened !== undefined && <EventPanel id={opened} close={panel.close} nameOf={names.destination} />}
      </div>
    </Page>
  );
}
