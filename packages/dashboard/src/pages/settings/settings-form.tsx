import { useQueryClient } from "@tanstack/react-query";
import type { Schemas } from "@webhook-relay/client";
import type { ReactNode } from "react";
import { relayClock } from "../../api/clock.ts";
import { meQuery } from "../../api/queries.ts";
import { relay } from "../../api/relay.ts";
import { ChangedSince } from "../../parts/changed-since.tsx";
import type { Fields } from "../../parts/fields.ts";
import { Field, Form } from "../../parts/form.tsx";
import { useQuestion, type Question } from "../../parts/questions.tsx";
import { dayMs } from "../../parts/times.ts";
import { updateOf, settingTexts } from "./setting-texts.ts";
import styles from "./settings.module.css";

/** The form of the tenant's settings. A shorter retention and fewer tries are asked about first. */
export function SettingsForm({ tenant }: { readonly tenant: Schemas["Tenant"] }): ReactNode {
  const queries = useQueryClient();
  const { ask, dialog } = useQuestion();
  const { id, updatedAt } = tenant;
  const submit = async (_fields: Fields, changed: Fields) => {
    const changes = updateOf(changed);
    const question = await questionOf(tenant, changes);
    if (question && !await ask(question)) return false;
    await relay.updateTenant({ id }, changes);
    return Promise.all([["getTenant"], ["listTenantHistory"], meQuery.queryKey]
      .map((queryKey) => queries.invalidateQueries({ queryKey })));
  };
  const settings = settingTexts(tenant);
  return (
    <section aria-label="Settings" className={styles.settingsForm}>
      <Form
        submit={submit} label="Save" keeps
        of={{
          values: Object.fromEntries(settings.map(({ field }) => [field, String(tenant[field] ?? "")])),
          updatedAt,
          changedSince: (moment) => (
            <ChangedSince
              moment={moment} operation="listTenantHistory" id={id}
              ask={(newest) => relay.listTenantHistory({ id, ...newest })}
            />
          ),
        }}
      >
        {settings.map(({ field, label, unit, hint }) => (
          <Field key={field} name={field} label={unit === undefined ? label : `${label}, ${unit}`} hint={hint}>
            {(props) => (
              <input
                {...props} autoComplete="off"
                {...(field === "name" ? {} : { inputMode: "numeric", className: styles.settingsNumber })}
              />
            )}
          </Field>
        ))}
      </Form>
      {dialog}
    </section>
  );
}

/** The question before a change that purges events or gives them up; undefined for other changes. */
async function questionOf(
  tenant: Schemas["Tenant"], { retentionDays, maxTrys }: Schemas["UpdateTenantRequest"],
): Promise<Question | undefined> {
  const days = isWithin(retentionDays, 3_650) && retentionDays < (tenant.retentionDays ?? Infinity)
    ? retentionDays : undefined;
  const tries = isWithin(maxTrys, 10_000) && maxTrys < tenant.maxTrys ? maxTrys : undefined;
  if (days === undefined && tries === undefined) return undefined;
  const purged = days === undefined ? 0 : await countOlder(days);
  const daysText = days === 1 ? "1 day" : `${days} days`;
  return {
    title: days === undefined ? "Allow fewer tries?" : "Shorten the retention?",
    act: purged > 0 ? "Save and purge" : "Save",
    ...(purged > 0 && { type: String(purged) }),
    children: (
      <>
        {days !== undefined && (
          <p>
            {purged === 0 ? `No finished event is older than ${daysText} yet.`
              : `${purged} finished ${purged === 1 ? "event is" : "events are"} older than ${daysText}: the relay `
                + `purges ${purged === 1 ? "it" : "them"} soon after this is saved.`}
            {" "}From then on it purges finished events as soon as they are as old. They do not come back.
          </p>
        )}
        {tries !== undefined && (
          <p>
            Events that have failed {tries} {tries === 1 ? "time" : "times"} or more fail for good at their next
            failure, and a destination is suspended after {tries} failed{" "}
            {tries === 1 ? "attempt" : "attempts in a row"}, in place of {tenant.maxTrys}.
          </p>
        )}
      </>
    ),
  };
}

/** Whether the relay will take a value as a whole number from 1. */
function isWithin(value: number | null | undefined, most: number): value is number {
  return Number.isInteger(value) && Number(value) >= 1 && Number(value) <= most;
}

/** How many finished events were accepted more than so many days ago. */
async function countOlder(days: number): Promise<number> {
  const before = new Date(relayClock.now() - days * dayMs).toISOString();
  return (await relay.purgeEvents({ before, dryRun: true }))?.matched ?? 0;
}
