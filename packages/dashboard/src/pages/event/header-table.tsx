import type { ReactNode } from "react";
import { Changed } from "../../parts/diff.tsx";
import { Table } from "../../parts/table.tsx";
import shared from "../../style/shared.module.css";
import styles from "./event.module.css";

/** Headers by name; those that differ from another attempt are marked, with the former value. */
export function HeaderTable({ name, headers, before, absent }: {
  readonly name: string;
  readonly headers: Readonly<Record<string, string>> | undefined;
  readonly before: Readonly<Record<string, string>> | undefined;
  /** Takes the place of a table without headers. */
  readonly absent: string;
}): ReactNode {
  if (!headers) return <p className={shared.small}>{absent}</p>;
  const rows = Object.entries(headers);
  const gone = Object.entries(before ?? {}).filter(([header]) => !Object.hasOwn(headers, header));
  if (rows.length + gone.length === 0) return <p className={shared.small}>{absent}</p>;
  return (
    <Table
      className={styles.headers} caption={<span className={shared.hiddenText}>{name}</span>}
      rows={[...rows, ...gone]} keyOf={([header]) => header}
      columns={[
        { kind: "header", className: styles.hostile, cell: ([header]) => header },
        {
          className: styles.hostile, cell: ([header, value]) => {
            if (!Object.hasOwn(headers, header)) return <Changed was={value}>absent</Changed>;
            const was = before && (Object.hasOwn(before, header) ? before[header] : "absent");
            return was === undefined || was === value ? value : <Changed was={was}>{value}</Changed>;
          },
        },
      ]}
    />
  );
}
