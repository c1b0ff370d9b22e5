import { useQuery } from "@tanstack/react-query";
import type { ReactNode } from "react";
import { relay } from "../../api/relay.ts";
import { useMay, useMe } from "../../app/session.ts";
import { Page } from "../../parts/page.tsx";
import { Answered, NoRight } from "../../parts/states.tsx";
import { settingTexts } from "./setting-texts.ts";
import { SettingsForm } from "./settings-form.tsx";
import { SettingsHistory } from "./settings-history.tsx";
import styles from "./settings.module.css";

/** The tenant's settings, the effect of each, and their changes. */
export function SettingsPage(): ReactNode {
  const { tenant: { id } } = useMe();
  const allows = useMay();
  const query = useQuery({
    queryKey: ["getTenant", { id }],
    queryFn: () => relay.getTenant({ id }),
    // Another person may change them while this one looks at them.
    refetchInterval: 5_000,
  });
  return (
    <Page title="Settings">
      <div className={styles.settings}>
        <Answered query={query}>
          {(tenant) => allows("updateTenant") ? <SettingsForm tenant={tenant} /> : (
            <section aria-label="Settings">
              <dl className={styles.settingsValues}>
                {settingTexts(tenant).map(({ field, label, value, hint }) => (
                  <div key={field}><dt>{label}</dt><dd>{value}</dd><dd><small>{hint}</small></dd></div>
                ))}
              </dl>
              <NoRight>Owners and Admins can change settings.</NoRight>
            </section>
          )}
        </Answered>
        {allows("listTenantHistory") && <SettingsHistory tenantId={id} />}
      </div>
    </Page>
  );
}
