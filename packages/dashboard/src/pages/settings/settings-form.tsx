import { useQueryClient } from "@tanstack/react-query";
import { useState, type ReactNode } from "react";
import type { Schemas } from "../../../../client/src/index.ts";
import { relayClock } from "../../api/clock.ts";
import { meQuery } from "../../api/queries.ts";
import { relay } from "../../api/relay.ts";
import { useMay } from "../../app/session.ts";
import { Confirm } from "../../parts/dialog.tsx";
import { Field, Form } from "../../parts/form.tsx";
import { changesOf, settingTexts } from "./setting-texts.ts";

const dayMs = 86_400_000;

/** A change that deletes events, and how many. */
interface Loss {
  readonly changes: Schemas["UpdateTenantRequest"];
  readonly matched: number;
}

/** The form of the tenant's settings. A retention that purges events now counts them first. */
export function SettingsForm({ tenant }: { readonly tenant: Schemas["Tenant"] }): ReactNode {
  const queries = useQueryClient();
  const allows = useMay();
  const [said, setSaid] = useState("");
  const [loss, setLoss] = useState<Loss>();
  const { id } = tenant;
  const save = async (changes: Schemas["UpdateTenantRequest"]) => {
    await relay.updateTenant({ id }, changes);
    await Promise.all([["getTenant"], ["listTenantHistory"], meQuery.queryKey]
      .map((queryKey) => queries.invalidateQueries({ queryKey })));
    setSaid("Saved.");
  };
  const submit = async (fields: Readonly<Record<string, string>>) => {
    const changes = changesOf(tenant, fields);
    setSaid("");
    if (Object.keys(changes).length === 0) return setSaid("Nothing was changed.");
    const matched = allows("purgeEvents") ? await countLost(changes) : 0;
    return matched > 0 ? setLoss({ changes, matched }) : save(changes);
  };
  return (
    <section aria-label="Settings" className="settings-form">
      <Form submit={submit} label="Save" keeps>
        {settingTexts(tenant).map(({ field, label, unit, hint }) => (
          <Field key={field} name={field} label={unit === undefined ? label : `${label}, ${unit}`} hint={hint}>
            {(props) => (
              <input
                {...props} defaultValue={tenant[field] ?? ""} autoComplete="off"
                {...(field === "name" ? {} : { inputMode: "numeric", className: "settings-number" })}
              />
            )}
          </Field>
        ))}
      </Form>
      <p role="status">{said}</p>
      {loss && (
        <Confirm
          title="Purge for the new retention" act="Save and purge" type={String(loss.matched)}
          run={() => save(loss.changes)} close={() => setLoss(undefined)}
        >
          <p>
            {loss.matched === 1 ? "1 finished event is" : `${loss.matched} finished events are`} older than
            {" "}{loss.changes.retentionDays} days. The relay purges them soon after this is saved. They do not come
            back.
          </p>
        </Confirm>
      )}
    </section>
  );
}

/** How many finished events a change of the retention purges at once; 0 where the relay will refuse the change. */
async function countLost({ retentionDays }: Schemas["UpdateTenantRequest"]): Promise<number> {
  if (!Number.isInteger(retentionDays) || Number(retentionDays) < 1 || Number(retentionDays) > 3_650) return 0;
  const before = new Date(relayClock.now() - Number(retentionDays) * dayMs).toISOString();
  const counted = await relay.purgeEvents({ before, dryRun: true });
  return counted?.matched ?? 0;
}
