import { useQuery } from "@tanstack/react-query";
import { useSearch } from "@tanstack/react-router";
import { facts } from "@webhook-relay/client";
import { useRef, type ReactNode } from "react";
import { useChange } from "../../app/navigation.tsx";
import { usePreferences } from "../../app/preferences.tsx";
import { auditFilterNames, type Search } from "../../app/search.ts";
import { useMay } from "../../app/session.ts";
import { title } from "../../parts/changes.ts";
import { fieldsOf } from "../../parts/fields.ts";
import { serviceAccountNames, TargetOptions, userNames } from "../../parts/names.tsx";
import { TimeInput } from "../../parts/time-input.tsx";
import { zoneName } from "../../parts/times.ts";
import { timeInField } from "../../parts/typed-time.ts";
import shared from "../../style/shared.module.css";
import styles from "./audit.module.css";

type Facts = typeof facts;
type Known = Facts[keyof Facts];
type Subject = Extract<Known, { readonly subject: string }>["subject"];

/** The kinds by which the types of entries are grouped, by the types of subjects. */
const kinds: Readonly<Record<Subject, string>> = {
  tenant: "Tenant", user: "People", invite: "People", destination: "Destinations", circuit: "Destinations",
  sender: "Senders", subscription: "Senders", apiKey: "Keys", serviceAccount: "Keys",
  purge: "Operations", replay: "Operations", cancellation: "Operations", view: "Views",
  notificationSubscription: "Notifications", portalLink: "Portal links",
};

const bySubject = Object.groupBy(Object.entries(facts).flatMap(([type, fact]) =>
  "subject" in fact ? [{ type, subject: fact.subject }] : []), ({ subject }) => subject);

/** All types of entries of the audit, by kind. */
const auditTypes = Object.groupBy(
  (Object.keys(kinds) as Subject[]).flatMap((subject) => bySubject[subject] ?? []), ({ subject }) => kinds[subject]);

/** A filter that the relay refuses, and its sentence. */
interface FilterProblem {
  readonly field: string;
  readonly text: string;
}

/** The filters in an address. */
export function filtersIn(search: Search): Readonly<Record<string, string>> {
  return Object.fromEntries(auditFilterNames.flatMap((name) => search[name] ? [[name, search[name]]] : []));
}

/** The changes that remove all filters, and the open entry. */
export const withoutFilters =
  Object.fromEntries([...auditFilterNames, "open"].map((name) => [name, undefined]));

/** The filter bar of the audit. A choice applies at once, a text with Enter or the button. */
export function AuditFilters({ problem }: { readonly problem: FilterProblem | undefined }): ReactNode {
  const search = useSearch({ from: "/signed-in/audit" });
  const change = useChange();
  const { zone } = usePreferences();
  const form = useRef<HTMLFormElement>(null);
  const apply = () => {
    if (!form.current?.reportValidity()) return;
    const fields = fieldsOf(form.current);
    const given = (name: string) => fields[name]?.trim() ?? "";
    change({
      ...withoutFilters,
      ...Object.fromEntries(auditFilterNames.map((name) => [name, given(name)])),
      From: timeInField(given("From"), zone, search["From"]), To: timeInField(given("To"), zone, search["To"]),
    });
  };
  const filters = filtersIn(search);
  const control = (name: typeof auditFilterNames[number]) => ({
    name, defaultValue: search[name] ?? "", "aria-invalid": problem?.field === name,
  });
  return (
    // The fields follow the address.
    <form ref={form} key={JSON.stringify([filters, zone])} className={styles.auditFilters} onSubmit={(event) => {
      event.preventDefault();
      apply();
    }}>
      <label>Person or machine <Actors control={control("ActorId")} apply={apply} /></label>
      <label>Type <select {...control("Type")} onChange={apply}>
        <option value="">all</option>
        {Object.entries(auditTypes).map(([kind, types = []]) => (
          <optgroup key={kind} label={kind}>
            {types.map(({ type }) => <option key={type} value={type}>{title(type)}</option>)}
          </optgroup>
        ))}
      </select></label>
      <label>
        Thing <input {...control("SubjectId")} className={shared.mono} placeholder="its id" autoComplete="off" />
      </label>
      <label>
        Request{" "}
        <input {...control("CorrelationId")} className={shared.mono} placeholder="X-Request-Id" autoComplete="off" />
      </label>
      {(["From", "To"] as const).map((name) => (
        <label key={name}>
          {name}, {zoneName(zone)}{" "}
          <TimeInput {...control(name)} at={search[name]} />
        </label>
      ))}
      <p className={shared.acts}>
        <button type="submit">Filter</button>
        {Object.keys(filters).length > 0 && (
          <button type="button" onClick={() => change(withoutFilters)}>Clear filters</button>
        )}
      </p>
      {problem && <p className={shared.problem} role="alert">{problem.text}</p>}
    </form>
  );
}

/** The people and service accounts of the tenant; where the caller may list neither, a field for an id. */
function Actors({ control, apply }: {
  readonly control: { readonly name: string; readonly defaultValue: string; readonly "aria-invalid": boolean };
  readonly apply: () => void;
}): ReactNode {
  const allows = useMay();
  const [users, accounts] = [useQuery(userNames), useQuery(serviceAccountNames)];
  if (!allows("listUsers") && !allows("listServiceAccounts")) {
    return <input {...control} className={shared.mono} placeholder="id" autoComplete="off" />;
  }
  return (
    <select {...control} onChange={apply}>
      <TargetOptions
        targets={[...users.data ?? [], ...accounts.data ?? []]} any="all" chosen={control.defaultValue}
      />
    </select>
  );
}
