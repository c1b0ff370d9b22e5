import { useQuery, useQueryClient } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import type { BodyOf } from "@webhook-relay/client";
import { useState, type ReactNode } from "react";
import { relay } from "../../api/relay.ts";
import { usePreferences } from "../../app/preferences.tsx";
import type { Search } from "../../app/search.ts";
import { useMay } from "../../app/session.ts";
import { Dialog } from "../../parts/dialog.tsx";
import { useKeys } from "../../parts/keys.tsx";
import type { Targets } from "../../parts/names.tsx";
import { Confirm } from "../../parts/questions.tsx";
import { Answered, NoRight } from "../../parts/states.tsx";
import { momentText } from "../../parts/times.ts";
import shared from "../../style/shared.module.css";
import styles from "./events.module.css";
import { bulkOfFilters, bulkOfIds, bulkWords, type BulkFilter, type BulkOperation } from "./filters.ts";
import type { Selection } from "./selection.ts";

interface BulkOrder {
  readonly operation: BulkOperation;
  readonly filter: BulkFilter;
}

const verbs: Record<BulkOperation, string> = { orderReplay: "Replay", cancelEvents: "Cancel" };

/** Replays or cancels the selected events, or all that match. Each act counts first, and is confirmed. */
export function BulkActs({ filters, newest, selection, targets }: {
  readonly filters: Search;
  /** When the newest event of the list was accepted; undefined where only selected ones can be acted on. */
  readonly newest: string | undefined;
  readonly selection: Selection;
  readonly targets: Targets;
}): ReactNode {
  const may = useMay();
  const [asked, setAsked] = useState<BulkOrder>();
  const [outcome, setOutcome] = useState<ReactNode>();
  const { ids } = selection;
  const operations = (["orderReplay", "cancelEvents"] as const).filter((operation) => may(operation));
  const askSelected = (operation: BulkOperation) => setAsked({ operation, filter: bulkOfIds(operation, ids) });
  useKeys(ids.length > 0 && may("orderReplay")
    ? { r: { does: "Replay the selected events", run: () => askSelected("orderReplay") } } : {});
  const askAll = (operation: BulkOperation, to: string) => {
    const filter = bulkOfFilters(operation, filters, to);
    if (typeof filter === "string") setOutcome(filter);
    else setAsked({ operation, filter });
  };
  if (operations.length === 0) return <NoRight>Developers and higher roles replay and cancel events.</NoRight>;
  return (
    <>
      <div className={shared.acts} role="group" aria-label="Acts on many events">
        {ids.length > 0 ? (
          <>
            <span>{ids.length} selected</span>
            {operations.map((operation) => (
              <button key={operation} type="button" onClick={() => askSelected(operation)}>
                {verbs[operation]} selection…
              </button>
            ))}
            <button type="button" className={shared.plain} onClick={selection.clear}>Clear selection</button>
          </>
        ) : newest !== undefined && operations.map((operation) => (
          <button key={operation} type="button" onClick={() => askAll(operation, newest)}>
            {verbs[operation]} all…
          </button>
        ))}
      </div>
      <p className={styles.bulkOutcome} role="status">{outcome}</p>
      {asked && (
        <BulkDialog
          asked={asked} targets={targets} close={() => setAsked(undefined)}
          done={(text) => {
            setOutcome(text);
            selection.clear();
          }}
        />
      )}
    </>
  );
}

/** Counts, shows the filter in words, and acts once the number is typed. */
function BulkDialog({ asked, targets, close, done }: {
  readonly asked: BulkOrder;
  readonly targets: Targets;
  readonly close: () => void;
  readonly done: (outcome: ReactNode) => void;
}): ReactNode {
  const { operation, filter } = asked;
  const queries = useQueryClient();
  const { zone } = usePreferences();
  const count = useQuery({
    queryKey: [operation, filter, "dryRun"], queryFn: () => send(operation, filter, true), gcTime: 0, staleTime: 0,
  });
  const title = `${verbs[operation]} events`;
  const words = bulkWords(filter, {
    moment: (at) => `${momentText(at, zone)}${zone === "UTC" ? " UTC" : ""}`, destination: targets.nameOf,
  });
  const run = async () => {
    const { matched, cancelled } = await send(operation, filter, false);
    await queries.invalidateQueries({ queryKey: ["listEvents"] });
    await queries.invalidateQueries({ queryKey: ["countEvents"] });
    done(operation === "orderReplay"
      ? <>{matched} events are being replayed. <Link to="/operations">Follow the replay</Link></>
      : `${cancelled ?? 0} of ${matched} events cancelled.`);
  };
  if (count.data === undefined || count.data.matched === 0) {
    return (
      <Dialog title={title} close={close}>
        <p>{words}</p>
        <Answered query={count}>{() => <p><strong>No event matches.</strong> Nothing would be done.</p>}</Answered>
        <p className={shared.acts}><button type="button" onClick={close}>Close</button></p>
      </Dialog>
    );
  }
  const { matched } = count.data;
  const others = (filter.ids?.length ?? matched) - matched;
  return (
    <Confirm
      title={title} act={`${verbs[operation]} ${matched} ${matched === 1 ? "event" : "events"}`} type={String(matched)}
      isHarmless={operation === "orderReplay"} run={run} close={close}
    >
      <p>{words}</p>
      <p><strong>{matched === 1 ? "1 event matches." : `${matched} events match.`}</strong>
        {others > 0 && ` ${others} of the selected ${others === 1 ? "stays as it is" : "stay as they are"}.`}</p>
    </Confirm>
  );
}

interface Counted {
  readonly matched: number;
  readonly cancelled?: number | undefined;
}

async function send(operation: BulkOperation, filter: BulkFilter, dryRun: boolean): Promise<Counted> {
  return operation === "orderReplay"
    ? relay.orderReplay({ ...filter, dryRun } as BodyOf<"orderReplay">)
    : relay.cancelEvents({ ...filter, dryRun } as BodyOf<"cancelEvents">);
}
