import type { ReactNode } from "react";
import { relayClock } from "../../api/clock.ts";
import { usePreferences } from "../../app/preferences.tsx";
import type { Search } from "../../app/search.ts";
import { unlessComposing } from "../../parts/keys.tsx";
import { TimeInput } from "../../parts/time.tsx";
import { hourMs, timeInField } from "../../parts/times.ts";
import styles from "./events.module.css";

const spans: readonly (readonly [name: string, ms: number])[] = [
  ["last hour", hourMs], ["last 24 hours", 24 * hourMs], ["last 7 days", 168 * hourMs], ["last 30 days", 720 * hourMs],
];

/** The time in which events were accepted. It begins at a fixed moment, so that its address shows others the same. */
export function Span({ search, change }: {
  readonly search: Search; readonly change: (changes: Search) => void;
}): ReactNode {
  return (
    <label className={styles.filter}>
      Accepted in
      <select value="" onChange={({ target: { value } }) => change(value === "any"
        ? { From: undefined, To: undefined }
        : { From: new Date(relayClock.now() - Number(value)).toISOString(), To: undefined })}>
        <option value="" hidden>{search["From"] ?? search["To"] ? "chosen time" : "any time"}</option>
        <option value="any">any time</option>
        {spans.map(([name, ms]) => <option key={name} value={ms}>{name}</option>)}
      </select>
    </label>
  );
}

/** The beginning or the end of that time, to the millisecond, in the zone of the preferences. */
export function Bound({ label, name, search, change }: {
  readonly label: string; readonly name: "From" | "To";
  readonly search: Search; readonly change: (changes: Search) => void;
}): ReactNode {
  const { zone } = usePreferences();
  const at = search[name];
  const apply = ({ value: text, validity }: HTMLInputElement) => {
    // A time that is typed in part only has no text yet.
    if (validity.badInput) return;
    const chosen = timeInField(text, zone, at);
    if (chosen !== (at ?? "")) change({ [name]: chosen });
  };
  return (
    <label className={styles.filter}>
      {label}
      <TimeInput
        key={`${zone} ${at ?? ""}`} at={at}
        onBlur={({ target }) => apply(target)}
        onKeyDown={unlessComposing<HTMLInputElement>(({ key, currentTarget }) => {
          if (key === "Enter") apply(currentTarget);
        })}
      />
    </label>
  );
}
