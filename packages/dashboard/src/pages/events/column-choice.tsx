import { useSearch } from "@tanstack/react-router";
import { useState, type ReactNode } from "react";
import { useChange } from "../../app/navigation.tsx";
import { useMay } from "../../app/session.ts";
import { fieldsOf } from "../../parts/fields.ts";
import { Icon, icons } from "../../parts/icon.tsx";
import shared from "../../style/shared.module.css";
import { columnsChange, columnsOf, mostColumns, problemOfColumn } from "./columns.ts";
import styles from "./events.module.css";

/** The columns from payloads: each can be removed, and another one added, by its JSON Pointer. */
export function ColumnChoice(): ReactNode {
  const search = useSearch({ from: "/signed-in/events" });
  const change = useChange();
  const [problem, setProblem] = useState<string>();
  const may = useMay();
  const columns = columnsOf(search);
  if (!may("getEvent")) return null;
  const add = (column: string) => {
    const found = problemOfColumn(column, columns);
    setProblem(found);
    if (found === undefined) change(columnsChange([...columns, column]));
  };
  return (
    <details className={styles.filterDetails}>
      <summary>Columns{columns.length > 0 && ` (${columns.length})`}</summary>
      <ul>
        {columns.map((column) => (
          <li key={column}>
            <code>{column}</code>
            <button
              type="button" className={shared.plain} aria-label={`Remove the column ${column}`}
              onClick={() => change(columnsChange(columns.filter((other) => other !== column)))}
            >
              <Icon of={icons.x} size={14} />
            </button>
          </li>
        ))}
      </ul>
      {columns.length < mostColumns && (
        <form className={styles.findRow} onSubmit={(event) => {
          event.preventDefault();
          add(fieldsOf(event.currentTarget)["column"]?.trim() ?? "");
        }}>
          <input
            key={columns.length} name="column" aria-label="Column from the payload" placeholder="/order/id"
            autoComplete="off" aria-invalid={problem !== undefined}
          />
          <button type="submit">Add column</button>
        </form>
      )}
      {problem !== undefined && <p className={shared.problem} role="alert">{problem}</p>}
    </details>
  );
}
