import type { ReactNode } from "react";
import shared from "../../style/shared.module.css";
import styles from "./event.module.css";

/** Headers by name; with those of another attempt, what differs is marked with what it was. */
export function HeaderTable({ name, headers, before, absent }: {
  readonly name: string;
  readonly headers: Readonly<Record<string, string>> | undefined;
  readonly before: Readonly<Record<string, string>> | undefined;
  /** Takes the place of the table where there are no headers. */
  readonly absent: string;
}): ReactNode {
  if (!headers) return <p className={shared.small}>{absent}</p>;
  const rows = Object.entries(headers);
  const gone = Object.entries(before ?? {}).filter(([header]) => !Object.hasOwn(headers, header));
  if (rows.length + gone.length === 0) return <p className={shared.small}>{absent}</p>;
  return (
    <table className={styles.headers}>
      <caption className={shared.hiddenText}>{name}</caption>
      <tbody>
        {rows.map(([header, value]) => {
          const was = before && (Object.hasOwn(before, header) ? before[header] : "absent");
          return (
            <tr key={header}>
              <th scope="row" className={styles.hostile}>{header}</th>
              <td className={styles.hostile}>
                {was === undefined || was === value ? value : <><mark>{value}</mark> <small>was {was}</small></>}
              </td>
            </tr>
          );
        })}
        {gone.map(([header, value]) => (
          <tr key={header}>
            <th scope="row" className={styles.hostile}>{header}</th>
            <td className={styles.hostile}><mark>absent</mark> <small>was {value}</small></td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}
