import { useQuery } from "@tanstack/react-query";
import { useSearch } from "@tanstack/react-router";
import { RelayError } from "@webhook-relay/client";
import { useRef, useState, type ReactNode } from "react";
import { relay } from "../../api/relay.ts";
import { useChange } from "../../app/navigation.tsx";
import { eventFilterNames, payloadNames, type Search } from "../../app/search.ts";
import { useMay } from "../../app/session.ts";
import { fieldsOf } from "../../parts/fields.ts";
import { unlessComposing, useKeys } from "../../parts/keys.tsx";
import { TargetOptions, type Named, type Targets } from "../../parts/names.tsx";
import { textOf } from "../../parts/states.tsx";
import { EventStatus } from "../../parts/status.tsx";
import { classes } from "../../style/classes.ts";
import shared from "../../style/shared.module.css";
import { ColumnChoice } from "./column-choice.tsx";
import styles from "./events.module.css";
import { filtersOf, listed, parametersOf, statuses } from "./filters.ts";
import { SavedFiltersMenu } from "./saved-filters-menu.tsx";
import { Bound, Span } from "./time-range.tsx";

type Change = (changes: Search) => void;

/** All filters of the page. Each is in the address as soon as it is chosen. */
export function FilterBar({ search, change, targets, openEvent }: {
  readonly search: Search; readonly change: Change; readonly targets: Targets; readonly openEvent: (id: string) => void;
}): ReactNode {
  const rare = ["SenderId", "EventType", "OwnerId", "Tag", "Test", "CorrelationId", "MessageId", ...payloadNames]
    .filter((name) => search[name] !== undefined);
  const [open, setOpen] = useState(rare.length > 0);
  const allows = useMay();
  return (
    <search className={styles.filters}>
      <div className={styles.filterRow}>
        <Find change={change} openEvent={openEvent} chosen={search["IdempotencyKey"] ?? ""} />
        <Choice label="Destination" name="DestinationUrlId" any="all destinations" of={targets.destinations}
          search={search} change={change} />
        <Span search={search} change={change} />
        <button type="button" aria-expanded={open} onClick={() => setOpen(!open)}>
          More filters{rare.length > 0 && ` (${rare.length})`}
        </button>
        {Object.keys(search).some((name) => isFilter(name)) && <ClearFilters />}
        <ColumnChoice />
        <SavedFiltersMenu search={search} />
      </div>
      <StatusChoice search={search} change={change} />
      {open && (
        <div className={styles.filterRow}>
          <Bound label="From" name="From" search={search} change={change} />
          <Bound label="To" name="To" search={search} change={change} />
          <Text label="Event type" name="EventType" search={search} change={change} />
          <Text label="Owner" name="OwnerId" search={search} change={change} />
          <Text label="Tags" name="Tag" hint="name:value, …" search={search} change={change} />
          <Choice label="Sender" name="SenderId" any="all senders" of={targets.senders} search={search}
            change={change} />
          <Choice label="Test events" name="Test" any="with tests" of={tests} search={search} change={change} />
          <Text label="Request id" name="CorrelationId" search={search} change={change} />
          <Text label="Message id" name="MessageId" search={search} change={change} />
          {allows("searchEvents") && (
            <>
              <Text label="Payload contains" name="Text" search={search}
                change={(changes) => change({ ...changes, Pointer: undefined, Value: undefined })} />
              <PayloadValue
                key={`${search["Pointer"] ?? ""} ${search["Value"] ?? ""}`} search={search} change={change}
              />
            </>
          )}
        </div>
      )}
    </search>
  );
}

const tests: readonly Named[] = [{ id: "true", name: "tests only" }, { id: "false", name: "without tests" }];

/** Takes every filter out of the address. */
export function ClearFilters(): ReactNode {
  const search = useSearch({ from: "/signed-in/events" });
  const change = useChange();
  const set = Object.keys(search).filter((name) => isFilter(name));
  const none = Object.fromEntries(set.map((name) => [name, undefined]));
  return <button type="button" onClick={() => change(none)}>Clear filters</button>;
}

function isFilter(name: string): boolean {
  return ([...eventFilterNames, ...payloadNames] as readonly string[]).includes(name);
}

/** Opens an event by its id, or lists one by its idempotency key. */
function Find({ change, openEvent, chosen }: {
  readonly change: Change; readonly openEvent: (id: string) => void; readonly chosen: string;
}): ReactNode {
  const input = useRef<HTMLInputElement>(null);
  const [problem, setProblem] = useState("");
  const mayGet = useMay()("getEvent");
  useKeys({ "/": { does: "Go to the search field", run: () => input.current?.focus() } });
  const find = async (text: string) => {
    setProblem("");
    if (mayGet && /^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/i.test(text)) {
      try {
        const { id } = await relay.getEvent({ id: text });
        return openEvent(id);
      } catch (error) {
        // A key may look like an id.
        if (!(error instanceof RelayError && error.code === "not-found")) return setProblem(textOf(error));
      }
    }
    return change({ IdempotencyKey: text });
  };
  return (
    <form className={classes(styles.filter, styles.find)} onSubmit={(event) => {
      event.preventDefault();
      void find(input.current?.value.trim() ?? "");
    }}>
      <label htmlFor="find">Event id or idempotency key</label>
      <span className={styles.findRow}>
        <input key={chosen} ref={input} id="find" type="search" defaultValue={chosen} autoComplete="off" />
        <button type="submit">Find</button>
      </span>
      {problem !== "" && <span className={shared.problem} role="alert">{problem}</span>}
    </form>
  );
}

function StatusChoice({ search, change }: { readonly search: Search; readonly change: Change }): ReactNode {
  const chosen = listed(search["Status"]);
  const { Status: _, ...counted } = filtersOf(search);
  const isCounted = useMay()("countEvents");
  const { data: totals } = useQuery({
    queryKey: ["countEvents", counted],
    queryFn: () => relay.countEvents(parametersOf(counted)),
    enabled: isCounted,
    placeholderData: (before) => before,
  });
  const counts = isCounted ? totals?.statuses : undefined;
  return (
    <fieldset className={styles.statuses}>
      <legend className={shared.hiddenText}>Status</legend>
      {statuses.map((status) => (
        <label key={status} className={styles.chip}>
          <input
            type="checkbox" checked={chosen.includes(status)}
            onChange={({ target: { checked } }) => change({
              Status: statuses.filter((each) => each === status ? checked : chosen.includes(each)).join(","),
            })}
          />
          <EventStatus value={status} />{isCounted && <small>{counts?.[status]}</small>}
        </label>
      ))}
    </fieldset>
  );
}

interface FilterProps {
  readonly label: string;
  readonly name: string;
  readonly search: Search;
  readonly change: Change;
}

/** A text filter; Enter, or leaving the field, applies it. */
function Text({ label, name, hint, search, change }: FilterProps & { readonly hint?: string }): ReactNode {
  const value = search[name] ?? "";
  const apply = (text: string) => {
    if (text.trim() !== value) change({ [name]: text.trim() });
  };
  return (
    <label className={styles.filter}>
      {label}
      <input
        key={value} defaultValue={value} placeholder={hint} autoComplete="off"
        onBlur={({ target }) => apply(target.value)}
        onKeyDown={unlessComposing<HTMLInputElement>(({ key, currentTarget }) => {
          if (key === "Enter") apply(currentTarget.value);
        })}
      />
    </label>
  );
}

function Choice({ label, name, any, of, search, change }: FilterProps & {
  /** The words for no filter. */
  readonly any: string; readonly of: readonly Named[];
}): ReactNode {
  const value = search[name] ?? "";
  return (
    <label className={styles.filter}>
      {label}
      <select value={value} onChange={({ target }) => change({ [name]: target.value })}>
        <TargetOptions targets={of} any={any} chosen={value} />
      </select>
    </label>
  );
}

function PayloadValue({ search, change }: { readonly search: Search; readonly change: Change }): ReactNode {
  return (
    <form className={styles.filter} onSubmit={(event) => {
      event.preventDefault();
      const { pointer: Pointer = "", value: Value = "" } = fieldsOf(event.currentTarget);
      change({ Pointer, Value: Pointer === "" ? undefined : Value, Text: undefined });
    }}>
      <label htmlFor="pointer">Payload field</label>
      <span className={styles.findRow}>
        <input
          id="pointer" name="pointer" placeholder="/order/id" defaultValue={search["Pointer"]} autoComplete="off"
        />
        <label htmlFor="pointer-value">is</label>
        <input id="pointer-value" name="value" defaultValue={search["Value"]} autoComplete="off" />
        <button type="submit">Search</button>
      </span>
    </form>
  );
}
