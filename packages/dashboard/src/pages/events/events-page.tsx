import { useSearch } from "@tanstack/react-router";
import { useMemo, type ReactNode } from "react";
import { useChange } from "../../app/navigation.tsx";
import { useMay } from "../../app/session.ts";
import { useTargets } from "../../parts/names.tsx";
import { Page } from "../../parts/page.tsx";
import { Failure, Loading, NotForYou } from "../../parts/states.tsx";
import { useLoaded } from "../../parts/use-loaded.ts";
import { classes } from "../../style/classes.ts";
import shared from "../../style/shared.module.css";
import { columnsOf } from "./columns.ts";
import styles from "./events.module.css";
import { FilterBar } from "./filter-bar.tsx";
import { filtersOf, searchOf } from "./filters.ts";
import { ListedEvents } from "./listed-events.tsx";
import { usePanelWidth } from "./panel-width.tsx";
import { usePlace } from "./places.ts";

const loadHistogram = () => import("./histogram.tsx");
const loadPanel = () => import("./event-panel.tsx");
const loadSearched = () => import("./searched-events.tsx");
const loadTail = () => import("./tailed-events.tsx");

/** Removes the parameters of an event's story: they do not fit another event. */
const noMoment = { at: undefined, attempt: undefined, with: undefined };

/** The events of the tenant: filters, outcomes over time, the list, and one event beside it. */
export function EventsPage(): ReactNode {
  const search = useSearch({ from: "/signed-in/events" });
  const change = useChange();
  const targets = useTargets();
  const filters = filtersOf(search);
  const payload = searchOf(search);
  const mayScan = useMay()("searchEvents");
  const opened = search["event"];
  // All are loaded after the rows, before a person needs them.
  const histogram = useLoaded(loadHistogram);
  const panel = useLoaded(loadPanel);
  const searched = useLoaded(loadSearched);
  const tail = useLoaded(loadTail);
  const width = usePanelWidth();
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
  // A change of filters starts a new list.
  const isTail = search["tail"] === "on" && payload === undefined;
  const key = JSON.stringify([filters, payload ?? null, isTail]);
  const { place, renew } = usePlace(key);
  const list = `${key} ${place.load}`;
  return (
    <Page title="Events" fill acts={<FilterBar search={search} targets={targets} />}>
      <section aria-label="Outcomes over time" className={styles.outcomes}>
        {histogram.module && <histogram.module.Histogram filters={filters} change={change} />}
      </section>
      <div className={styles.events} data-panel={opened !== undefined} style={width.style}>
        <section className={styles.eventsMain} aria-label="List of events">
          {isTail ? tail.module && (
            <tail.module.TailedEvents key={key} filters={filters} place={place} showing={showing} targets={targets} />
          ) : payload === undefined ? (
            <ListedEvents
              key={list} filters={filters} place={place} reload={renew} showing={showing} targets={targets}
            />
          ) : !mayScan ? <NotForYou /> : searched.module ? (
            <searched.module.SearchedEvents
              key={list} asked={payload} filters={filters} place={place} showing={showing} targets={targets}
            />
          ) : searched.error !== undefined && <Failure error={searched.error} />}
        </section>
        {opened !== undefined && (
          <>
            {width.handle}
            {panel.module
              ? <panel.module.EventPanel id={opened} close={showing.close} nameOf={targets.nameOf} />
              : (
                <aside className={classes(shared.panel, styles.eventPanel)} aria-label="Event">
                  {panel.error === undefined ? <Loading /> : <Failure error={panel.error} />}
                </aside>
              )}
          </>
        )}
      </div>
    </Page>
  );
}
