import type { ReactNode } from "react";
import { classes } from "../style/classes.ts";
import shared from "../style/shared.module.css";
import styles from "./table.module.css";

/** A column of a {@link Table}. */
export interface Column<Row> {
  readonly head?: ReactNode;
  readonly cell: (row: Row) => ReactNode;
  /**
   * `main` names the row, as `header` does where tables have no head; `acts` are the buttons of the row. Main and `cut`
   * columns share the width that the others leave: their texts stay on one line.
   */
  readonly kind?: "main" | "cut" | "header" | "number" | "acts";
  /** Names the cell on narrow screens, which have no head. */
  readonly label?: string;
  readonly className?: string | undefined;
}

/** The head of a column of buttons. */
export const actsHead: ReactNode = <span className={shared.hiddenText}>Acts</span>;

/** Rows by columns. A table that is `stacked` shows each row in several lines where it is narrow. */
export function Table<Row>({ rows, keyOf, columns, caption, stacked = false, className }: {
  readonly rows: readonly Row[];
  readonly keyOf: (row: Row) => string;
  readonly columns: readonly Column<Row>[];
  readonly caption?: ReactNode;
  readonly stacked?: boolean;
  readonly className?: string | undefined;
}): ReactNode {
  const table = (
    <table className={classes(stacked && styles.stacked, className) || undefined}>
      {caption !== undefined && <caption>{caption}</caption>}
      {columns.some(({ head }) => head !== undefined) && (
        <thead>
          <tr>
            {columns.map(({ head, kind }, place) => (
              <th key={place} className={kind === "number" ? shared.number : undefined}>{head}</th>
            ))}
          </tr>
        </thead>
      )}
      <tbody>
        {rows.map((row) => (
          <tr key={keyOf(row)}>
            {columns.map((column, place) => <Cell key={place} column={column} row={row} />)}
          </tr>
        ))}
      </tbody>
    </table>
  );
  return stacked ? <div className={styles.stackedBox}>{table}</div> : table;
}

const kinds = {
  main: classes(styles.main, styles.cut), cut: styles.cut, number: shared.number, acts: styles.acts, header: undefined,
};

function Cell<Row>({ column: { cell, kind, label, className }, row }: {
  readonly column: Column<Row>; readonly row: Row;
}): ReactNode {
  const name = classes(kind && kinds[kind], className) || undefined;
  if (kind === "header") return <th scope="row" className={name}>{cell(row)}</th>;
  return <td className={name} data-label={label}>{cell(row)}</td>;
}
