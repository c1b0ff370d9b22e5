import { useSearch } from "@tanstack/react-router";
import { useMemo, useState, type ReactNode } from "react";
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
import { Histogram } from "./histogram.tsx";
import { ListedEvents } from "./listed-events.tsx";
import { SearchedEvents } from "./searched-events.tsx";

const loadPanel = () => import("./event-panel.tsx");

/** Removes the parameters of an event's story: they do not fit another event. */
const noMoment = { at: undefined, attempt: undefined, with: undefined };

/** The events of the tenant: filters, outcomes over time, the list, and one event beside it. */
export function EventsPage(): ReactNode {
  const search = useSearch({ from: "/signed-in/events" });
  const change = useChange();
  const [load, setLoad] = useState(0);
  const targets = useTargets();
  const filters = filtersOf(search);
  const payload = searchOf(search);
  const mayScan = useMay()("searchEvents");
  const opened = search["event"];
  // Loaded after the rows, before a person opens it.
  const panel = useLoaded(loadPanel);
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
  // A change of filters starts a new list.
  const key = JSON.stringify([filters, payload ?? null, load]);
  return (
    <Page title="Events" wide>
      <FilterBar search={search} change={change} targets={targets} openEvent={showing.open} />
      <Histogram filters={filters} change={change} />
      <div className={styles.events} data-panel={opened !== undefined}>
        <section className={styles.eventsMain} aria-label="List of events">
          {payload === undefined
            ? <ListedEvents key={key} filters={filters} reload={reload} showing={showing} targets={targets} />
            : mayScan
              ? <SearchedEvents key={key} asked={payload} filters={filters} showing={showing} targets={targets} />
              : <NotForYou />}
        </section>
        {opened !== undefined && (panel.module
          ? <panel.module.EventPanel id={opened} close={showing.close} nameOf={targets.nameOf} />
          : (
            <aside className={classes(shared.panel, styles.eventPanel)} aria-label="Event">
              {panel.error === undefined ? <Loading /> : <Failure error={panel.error} />}
            </aside>
          ))}
      </div>
    </Page>
  );
}
