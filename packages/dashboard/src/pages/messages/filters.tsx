import { useSearch } from "@tanstack/react-router";
import { useRef, type ReactNode } from "react";
import { useChange } from "../../app/navigation.tsx";
import type { Search } from "../../app/search.ts";
import { fieldsOf } from "../../parts/fields.ts";
import { TargetOptions, useTargets } from "../../parts/names.tsx";
import shared from "../../style/shared.module.css";
import styles from "./messages.module.css";

const names = ["SenderId", "EventType", "OwnerId"] as const;

/** The changes that remove all filters. */
export const withoutFilters = Object.fromEntries(names.map((name) => [name, undefined]));

/** The filters in an address. */
export function filtersIn(search: Search): Readonly<Record<string, string>> {
  return Object.fromEntries(names.flatMap((name) => search[name] ? [[name, search[name]]] : []));
}

/** The filter bar of the messages. A choice applies at once, a text with Enter or the button. */
export function MessageFilters(): ReactNode {
  const search = useSearch({ from: "/signed-in/messages" });
  const change = useChange();
  const { senders } = useTargets();
  const form = useRef<HTMLFormElement>(null);
  const filters = filtersIn(search);
  const apply = () => {
    if (!form.current) return;
    const fields = fieldsOf(form.current);
    change(Object.fromEntries(names.map((name) => [name, fields[name]?.trim() ?? ""])));
  };
  const control = (name: typeof names[number]) => ({ name, defaultValue: search[name] ?? "" });
  return (
    // The fields follow the address.
    <form ref={form} key={JSON.stringify(filters)} className={styles.filters} onSubmit={(event) => {
      event.preventDefault();
      apply();
    }}>
      <label>Sender <select {...control("SenderId")} onChange={apply}>
        <TargetOptions targets={senders} any="all" chosen={search.SenderId ?? ""} />
      </select></label>
      <label>Type <input {...control("EventType")} placeholder="invoice.paid" autoComplete="off" /></label>
      <label>Owner <input {...control("OwnerId")} autoComplete="off" /></label>
      <p className={shared.acts}>
        <button type="submit">Filter</button>
        {Object.keys(filters).length > 0 && (
          <button type="button" onClick={() => change(withoutFilters)}>Clear filters</button>
        )}
      </p>
    </form>
  );
}
