import { useQuery } from "@tanstack/react-query";
import { useSearch } from "@tanstack/react-router";
import type { ReactNode } from "react";
import { relay } from "../../api/relay.ts";
import { useChange } from "../../app/navigation.tsx";
import { useMay, useMe } from "../../app/session.ts";
import { InlineDiff } from "../../parts/diff.tsx";
import { whoOf } from "../../parts/names.tsx";
import { Page, Tabs } from "../../parts/page.tsx";
import { Answered, NoRight } from "../../parts/states.tsx";
import { Ago } from "../../parts/time.tsx";
import { Notifications } from "./notifications.tsx";
import { PortalLinks } from "./portal-links.tsx";
import { settingChangesIn, settingFacts, settingTexts, type SettingFact } from "./setting-texts.ts";
import { SettingsForm } from "./settings-form.tsx";
import styles from "./settings.module.css";

const tabs = { tenant: "Tenant", notifications: "Notifications", portal: "Portal" };

/** The settings of the tenant, its notifications, and its links to the portal. */
export function SettingsPage(): ReactNode {
  const { tab } = useSearch({ from: "/signed-in/settings" });
  const change = useChange();
  const chosen = tab === "notifications" || tab === "portal" ? tab : "tenant";
  return (
    <Page title="Settings">
      <Tabs label="Settings" tabs={tabs} chosen={chosen}
        choose={(next) => change({ tab: next === "tenant" ? undefined : next })} />
      {chosen === "tenant" && <TenantSettings />}
      {chosen === "notifications" && <Notifications />}
      {chosen === "portal" && <PortalLinks />}
    </Page>
  );
}

/** The tenant's settings, the effect of each, and their changes. */
function TenantSettings(): ReactNode {
  const { tenant: { id } } = useMe();
  const allows = useMay();
  const query = useQuery({
    queryKey: ["getTenant", { id }],
    queryFn: () => relay.getTenant({ id }),
    // Another person may change them while this one looks at them.
    refetchInterval: 5_000,
  });
  return (
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
  );
}

/** How many facts of each type are read, the newest. */
const read = 50;

/** The changes of the settings, newest first, a line each. */
function SettingsHistory({ tenantId }: { readonly tenantId: string }): ReactNode {
  const query = useQuery({
    queryKey: ["listTenantHistory", { id: tenantId, Type: settingFacts }],
    queryFn: () => settingHistory(tenantId),
  });
  return (
    <section aria-label="Changes" className={styles.settingsHistory}>
      <h2>Changes</h2>
      <Answered query={query}>
        {(facts) => (
          <ul className={styles.settingsChanges}>
            {facts.filter(({ changes }) => changes).map((fact) => (
              <li key={fact.position}>
                <Ago to={fact.time} />
                <span>
                  <strong>{whoOf(fact.actor)}</strong>{" "}
                  {fact.type === "TenantCreated" && "created it: "}
                  <InlineDiff changes={settingChangesIn(fact)} />
                </span>
              </li>
            ))}
          </ul>
        )}
      </Answered>
    </section>
  );
}

/** Facts with settings, the newest first: the newest of each type. */
async function settingHistory(id: string): Promise<readonly SettingFact[]> {
  const pages = await Promise.all(settingFacts.map((Type) =>
    relay.listTenantHistory({ id, Type, Qt: read, TpOrd: "Desc", Total: false })));
  return pages.flatMap(({ items }) => items as readonly SettingFact[])
    .toSorted((a, b) => b.revision - a.revision);
}
