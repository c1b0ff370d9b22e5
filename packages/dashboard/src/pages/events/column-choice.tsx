import { useState, type ReactNode } from "react";
import { useSearch } from "../../app/navigation.tsx";
import { useMay } from "../../app/session.ts";
import { columnsChange, columnsOf, mostColumns, problemOfColumn } from "./columns.ts";

/** The columns from payloads: each can be removed, and another one added, by its JSON Pointer. */
export function ColumnChoice(): ReactNode {
  const [search, change] = useSearch();
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
    <div className="columns" role="group" aria-label="Columns from the payload">
      {columns.map((column) => (
        <button
          key={column} type="button" className="chip" aria-label={`Remove the column ${column}`}
          onClick={() => change(columnsChange(columns.filter((other) => other !== column)))}
        >
          <code>{column}</code> ✕
        </button>
      ))}
      {columns.length < mostColumns && (
        <form className="find-row" onSubmit={(event) => {
          event.preventDefault();
          const { column } = event.currentTarget.elements as unknown as { readonly column: HTMLInputElement };
          add(column.value.trim());
        }}>
          <input
            key={columns.length} name="column" aria-label="Column from the payload" placeholder="/order/id"
            autoComplete="off" aria-invalid={problem !== undefined}
          />
          <button type="submit">Add column</button>
        </form>
      )}
      {problem !== undefined && <span className="problem" role="alert">{problem}</span>}
    </div>
  );
}
