import { useQuery } from "@tanstack/react-query";
import type { Moved } from "@webhook-relay/client";
import { useEffect, useRef, useState, type ReactNode } from "react";
import { relayClock } from "../../api/clock.ts";
import { relay } from "../../api/relay.ts";
import type { Search } from "../../app/search.ts";
import { useStream } from "../../live/stream.ts";
import { useThrottled } from "../../live/throttled.ts";
import { Icon, icons } from "../../parts/icon.tsx";
import type { Targets } from "../../parts/names.tsx";
import { Answered, Empty } from "../../parts/states.tsx";
import shared from "../../style/shared.module.css";
import { RowBones } from "./bones.tsx";
import { columnsParameter } from "./columns.ts";
import { EventList, type Showing } from "./event-list.tsx";
import styles from "./events.module.css";
import { parametersOf, type Item } from "./filters.ts";
import { moved } from "./moves.ts";
import type { Place } from "./places.ts";
import { freshMs, gatherMs, mayBeNew, order, pageSize } from "./rows.ts";
import { useSelection } from "./selection.ts";
import { lastMinute, withNewest } from "./tail.ts";
import { useAct } from "./use-act.tsx";

/** The newest events as they come, and their rate. The rows stand still while it is paused, or scrolled down. */
export function TailedEvents({ filters, place, showing, targets }: {
  readonly filters: Search; readonly place: Place; readonly showing: Showing; readonly targets: Targets;
}): ReactNode {
  const filter = { ...parametersOf(filters), ...columnsParameter(showing.columns) };
  const [isPaused, setPaused] = useState(false);
  const [isTop, setTop] = useState(true);
  const [rows, setRows] = useState<readonly Item[]>([]);
  const [arrivals, setArrivals] = useState<readonly number[]>([]);
  const selection = useSelection();
  const { act, dialog } = useAct();
  const query = useQuery({
    queryKey: ["listEvents", filter, "tail"],
    queryFn: async ({ signal }) => {
      const { items } = await relay.listEvents({ ...filter, ...order, Qt: pageSize, Total: false }, { signal });
      return items as readonly Item[];
    },
    gcTime: 0,
  });
  const { data: newest } = query;
  const isStill = isPaused || !isTop;
  useEffect(() => {
    if (newest && !isStill) setRows((before) => withNewest(before, newest));
  }, [newest, isStill]);
  useEffect(() => {
    const timer = setInterval(() => setArrivals((before) => lastMinute(before, relayClock.now())), 1_000);
    return () => clearInterval(timer);
  }, []);
  const asks = useThrottled(() => query.refetch(), freshMs);
  const waiting = useRef<Moved[]>([]);
  const changesRows = useThrottled(() => {
    const facts = Map.groupBy(waiting.current.splice(0), ({ eventId }) => eventId);
    setRows((before) => before.map((item) => (facts.get(item.id) ?? []).reduce(moved, item)));
  }, gatherMs);
  useStream(["event"], (frame) => {
    if (frame.event === "gone" || frame.event === "lagged") asks();
    if (frame.event !== "moved") return;
    waiting.current.push(frame.data);
    changesRows();
    if (!mayBeNew(frame.data, filter)) return;
    setArrivals((before) => [...before, relayClock.now()]);
    asks();
  });
  const behind = newest ? withNewest(rows, newest).length - rows.length : 0;
  return (
    <Answered query={query} loading={<RowBones />}>
      {() => (
        <>
          <div className={styles.listHead}>
            <p className={shared.small}>
              {isStill ? "Standing still" : "Following"}: {arrivals.length} in the last minute
              {isStill && behind > 0 && <>, {behind >= pageSize ? `${pageSize} or more` : behind} waiting</>}
            </p>
            <button type="button" aria-pressed={isPaused} onClick={() => setPaused(!isPaused)}>
              <Icon of={isPaused ? icons.play : icons.pause} size={14} /> {isPaused ? "Go on" : "Pause"}
            </button>
          </div>
          {rows.length === 0 ? <Empty>No event yet. The next one is shown here as it comes.</Empty> : (
            <EventList
              count={rows.length} at={(index) => rows[index]} selection={selection} {...showing}
              nameOf={targets.nameOf} place={place} act={act} scrolled={setTop}
            />
          )}
          {dialog}
        </>
      )}
    </Answered>
  );
}
