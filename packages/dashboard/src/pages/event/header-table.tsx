import type { ReactNode } from "react";

/** Headers by name; with those of another attempt, what differs is marked with what it was. */
export function HeaderTable({ name, headers, before, absent }: {
  readonly name: string;
  readonly headers: Readonly<Record<string, string>> | undefined;
  readonly before: Readonly<Record<string, string>> | undefined;
  /** Takes the place of the table where there are no headers. */
  readonly absent: string;
}): ReactNode {
  if (!headers) return <p className="small">{absent}</p>;
  const rows = Object.entries(headers);
  const gone = Object.entries(before ?? {}).filter(([header]) => !Object.hasOwn(headers, header));
  if (rows.length + gone.length === 0) return <p className="small">{absent}</p>;
  return (
    <table className="headers">
      <caption className="hidden-text">{name}</caption>
      <tbody>
        {rows.map(([header, value]) => {
          const was = before && (Object.hasOwn(before, header) ? before[header] : "absent");
          return (
            <tr key={header}>
              <th scope="row" className="hostile">{header}</th>
              <td className="hostile">
                {was === undefined || was === value ? value : <><mark>{value}</mark> <small>was {was}</small></>}
              </td>
            </tr>
          );
        })}
        {gone.map(([header, value]) => (
          <tr key={header}>
            <th scope="row" className="hostile">{header}</th>
            <td className="hostile"><mark>absent</mark> <small>was {value}</small></td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}
