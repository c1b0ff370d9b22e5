import { useSearch } from "@tanstack/react-router";
import { useState, type ReactNode } from "react";
import { useChange } from "../../app/navigation.tsx";
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
  const columns = columnsOf(search);
  const add = (column: string) => {
    const found = problemOfColumn(column, columns);
    setProblem(found);
    if (found === undefined) change(columnsChange([...columns, column]));
  };
  return (
    <>
      {columns.map((column) => (
        <span key={column} className={styles.choice}>
          <code className={styles.clipped}>{column}</code>
          <button
            type="button" className={shared.plain} aria-label={`Remove the column ${column}`}
            onClick={() => change(columnsChange(columns.filter((other) => other !== column)))}
          >
            <Icon of={icons.x} size={14} />
          </button>
        </span>
      ))}
      {columns.length < mostColumns && (
        <form className={styles.menuForm} onSubmit={(event) => {
          event.preventDefault();
          add(fieldsOf(event.currentTarget)["column"]?.trim() ?? "");
        }}>
          <label>Column from the payload
            <input
              key={columns.length} name="column" placeholder="/order/id" autoComplete="off"
              aria-invalid={problem !== undefined}
            />
          </label>
          <button type="submit">Add column</button>
        </form>
      )}
      {problem !== undefined && <p className={shared.problem} role="alert">{problem}</p>}
    </>
  );
}
