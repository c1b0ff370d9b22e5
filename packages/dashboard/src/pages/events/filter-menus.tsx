import { useQuery } from "@tanstack/react-query";
import { useState, type ReactNode } from "react";
import { relayClock } from "../../api/clock.ts";
import { relay } from "../../api/relay.ts";
import { usePreferences } from "../../app/preferences.tsx";
import type { Search } from "../../app/search.ts";
import { useMay } from "../../app/session.ts";
import { MiddleCut } from "../../parts/copy.tsx";
import { fieldsOf } from "../../parts/fields.ts";
import { titleOf, type Named, type Targets } from "../../parts/names.tsx";
import { EventStatus } from "../../parts/status.tsx";
import { TimeInput } from "../../parts/time-input.tsx";
import { hourMs, zoneName } from "../../parts/times.ts";
import { timeInField } from "../../parts/typed-time.ts";
import shared from "../../style/shared.module.css";
import styles from "./events.module.css";
import type { FilterKind } from "./filter-kinds.ts";
import { filtersOf, listed, parametersOf, statuses } from "./filters.ts";

export { ColumnChoice } from "./column-choice.tsx";
export { SavedFiltersMenu } from "./saved-filters-menu.tsx";

interface MenuProps {
  readonly search: Search;
  readonly change: (changes: Search) => void;
  readonly close: () => void;
}

const tests: readonly Named[] = [
  { id: "true", name: "Only test events" }, { id: "false", name: "Without test events" },
];

/** The content of a filter's menu. */
export function FilterMenu({ kind, targets, ...menu }: MenuProps & {
  readonly kind: FilterKind; readonly targets: Targets;
}): ReactNode {
  switch (kind.title) {
    case "Status": return <StatusMenu {...menu} />;
    case "Destination": return <ChoiceMenu {...menu} name="DestinationUrlId" of={targets.destinations} />;
    case "Sender": return <ChoiceMenu {...menu} name="SenderId" of={targets.senders} />;
    case "Test events": return <ChoiceMenu {...menu} name="Test" of={tests} />;
    case "Accepted": return <TimeMenu {...menu} begin="From" end="To" />;
    case "Finished": return <TimeMenu {...menu} begin="FinishedFrom" end="FinishedTo" />;
    case "Payload": return <PayloadMenu {...menu} />;
    default: return <TextMenu {...menu} kind={kind} />;
  }
}

function StatusMenu({ search, change }: MenuProps): ReactNode {
  const chosen = listed(search["Status"]);
  const { Status: _, ...counted } = filtersOf(search);
  const isCounted = useMay()("countEvents");
  const { data: totals } = useQuery({
    queryKey: ["countEvents", counted],
    queryFn: () => relay.countEvents(parametersOf(counted)),
    enabled: isCounted,
    placeholderData: (before) => before,
  });
  return statuses.map((status) => (
    <label key={status} className={styles.choice}>
      <input
        type="checkbox" checked={chosen.includes(status)}
        onChange={({ target: { checked } }) => change({
          Status: statuses.filter((each) => each === status ? checked : chosen.includes(each)).join(","),
        })}
      />
      <EventStatus value={status} />
      {isCounted && <small className={styles.choiceCount}>{totals?.statuses[status].toLocaleString("en")}</small>}
    </label>
  ));
}

/** From so many choices on, they can be searched. */
const manyChoices = 8;

function ChoiceMenu({ name, of, search, change, close }: MenuProps & {
  readonly name: string; readonly of: readonly Named[];
}): ReactNode {
  const [text, setText] = useState("");
  const found = of.filter((one) => titleOf(one).toLowerCase().includes(text.trim().toLowerCase()));
  return (
    <>
      {of.length >= manyChoices && (
        <input
          type="search" aria-label="Search" placeholder="Search" value={text} autoComplete="off"
          onChange={({ target }) => setText(target.value)}
        />
      )}
      {found.map((one) => (
        <button
          key={one.id} type="button" className={styles.choice} aria-pressed={search[name] === one.id}
          onClick={() => {
            change({ [name]: one.id });
            close();
          }}
        >
          <MiddleCut text={titleOf(one)} />
        </button>
      ))}
      {found.length === 0 && (
        <p className={shared.small}>{of.length === 0 ? "There is none yet." : "None has this name."}</p>
      )}
    </>
  );
}

function TextMenu({ kind: { title, names: [name = ""], example }, search, change, close }: MenuProps & {
  readonly kind: FilterKind;
}): ReactNode {
  return (
    <form className={styles.menuForm} onSubmit={(event) => {
      event.preventDefault();
      change({ [name]: fieldsOf(event.currentTarget)["text"]?.trim() });
      close();
    }}>
      <label>{title}<input name="text" defaultValue={search[name]} placeholder={example} autoComplete="off" /></label>
      <button type="submit">Apply</button>
    </form>
  );
}

function PayloadMenu({ search, change, close }: MenuProps): ReactNode {
  return (
    <>
      <form className={styles.menuForm} onSubmit={(event) => {
        event.preventDefault();
        const text = fieldsOf(event.currentTarget)["text"];
        change({ Text: text, Pointer: undefined, Value: undefined });
        close();
      }}>
        <label>Contains the text<input name="text" defaultValue={search["Text"]} autoComplete="off" /></label>
        <button type="submit">Search</button>
      </form>
      <hr />
      <form className={styles.menuForm} onSubmit={(event) => {
        event.preventDefault();
        const { pointer: Pointer = "", value: Value = "" } = fieldsOf(event.currentTarget);
        change({ Pointer, Value: Pointer === "" ? undefined : Value, Text: undefined });
        close();
      }}>
        <label>Payload field
          <input name="pointer" placeholder="/order/id" defaultValue={search["Pointer"]} autoComplete="off" />
        </label>
        <label>is<input name="value" defaultValue={search["Value"]} autoComplete="off" /></label>
        <button type="submit">Search</button>
      </form>
    </>
  );
}

const spans: readonly (readonly [name: string, ms: number])[] = [
  ["Last hour", hourMs], ["Last 24 hours", 24 * hourMs], ["Last 7 days", 168 * hourMs], ["Last 30 days", 720 * hourMs],
];

/** A time begins at a fixed moment, so that its address shows others the same. */
function TimeMenu({ begin, end, search, change, close }: MenuProps & {
  /** The names of its two parameters. */
  readonly begin: string;
  readonly end: string;
}): ReactNode {
  const { zone } = usePreferences();
  return (
    <>
      {spans.map(([name, ms]) => (
        <button key={name} type="button" className={styles.choice} onClick={() => {
          change({ [begin]: new Date(relayClock.now() - ms).toISOString(), [end]: undefined });
          close();
        }}>{name}</button>
      ))}
      <hr />
      <form className={styles.menuForm} onSubmit={(event) => {
        event.preventDefault();
        const { from = "", to = "" } = fieldsOf(event.currentTarget);
        change({ [begin]: timeInField(from, zone, search[begin]), [end]: timeInField(to, zone, search[end]) });
        close();
      }}>
        <label>From, {zoneName(zone)}<TimeInput name="from" at={search[begin]} /></label>
        <label>To, {zoneName(zone)}<TimeInput name="to" at={search[end]} /></label>
        <button type="submit">Apply</button>
      </form>
    </>
  );
}
