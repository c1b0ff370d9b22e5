import { useEffect, useMemo, useState, type ReactNode } from "react";
import { useSearch } from "../../app/navigation.tsx";
import { useMay } from "../../app/session.ts";
import { Page } from "../../parts/page.tsx";
import { Loading, NotForYou } from "../../parts/states.tsx";
import { useTargets } from "../../parts/targets.tsx";
import { columnsOf } from "./columns.ts";
import "./events.css";
import { FilterBar } from "./filter-bar.tsx";
import { filtersOf, searchOf } from "./filters.ts";
import { Histogram } from "./histogram.tsx";
import { ListedEvents } from "./listed-events.tsx";
import { SearchedEvents } from "./searched-events.tsx";

/** The parameters of one event's story: another event has others. */
const noMoment = { at: undefined, attempt: undefined, with: undefined };

/** The events of the tenant: filters, outcomes over time, the list, and one event beside it. */
export function EventsPage(): ReactNode {
  const [search, change] = useSearch();
  const [load, setLoad] = useState(0);
  const targets = useTargets();
  const filters = filtersOf(search);
  const payload = searchOf(search);
  const mayScan = useMay()("searchEvents");
  const opened = search["event"];
  const EventPanel = useEventPanel();
  const reload = () => setLoad(load + 1);
  const columns = useMemo(() => columnsOf(search), [search]);
  const showing = {
    opened, columns,
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
      <FilterBar search={search} change={change} targets={targets} openEvent={showing.open} />
      <Histogram filters={filters} change={change} />
      <div className="events" data-panel={opened !== undefined}>
        <section className="events-main" aria-label="List of events">
          {payload === undefined
            ? <ListedEvents key={key} filters={filters} reload={reload} showing={showing} targets={targets} />
            : mayScan
              ? <SearchedEvents key={key} asked={payload} filters={filters} showing={showing} targets={targets} />
              : <NotForYou />}
        </section>
        {opened !== undefined && (EventPanel
          ? <EventPanel id={opened} close={showing.close} nameOf={targets.nameOf} />
          : <aside className="panel event-panel" aria-label="Event"><Loading /></aside>)}
      </div>
    </Page>
  );
}

type Panel = typeof import("./event-panel.tsx").EventPanel;

/**
 * The panel of an event: the rows come first, it is there by the time that somebody opens it. Not by `lazy`: React
 * shows what takes its place for some 500 ms then, even where it is there.
 */
function useEventPanel(): Panel | undefined {
  const [panel, setPanel] = useState<Panel>();
  const [failure, setFailure] = useState<Error>();
  useEffect(() => {
    import("./event-panel.tsx").then(({ EventPanel }) => setPanel(() => EventPanel), setFailure);
  }, []);
  // As where a page cannot be loaded.
  if (failure !== undefined) throw failure;
  return panel;
}
