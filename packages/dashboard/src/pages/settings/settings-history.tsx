import { useQuery } from "@tanstack/react-query";
import type { ReactNode } from "react";
import { relay } from "../../api/relay.ts";
import { Answered } from "../../parts/states.tsx";
import { Moment } from "../../parts/time.tsx";
import { useWho } from "../../parts/who.tsx";
import { changesOfFacts, labelOf, settingFacts, type SettingFact } from "./setting-texts.ts";
import styles from "./settings.module.css";

/** How many facts of each type are read, the newest. */
const read = 50;

/** The changes of the settings, newest first, a line each. */
export function SettingsHistory({ tenantId }: { readonly tenantId: string }): ReactNode {
  const who = useWho();
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
            {changesOfFacts(facts).toReversed().map(({ fact, changes }) => (
              <li key={fact.position}>
                <Moment at={fact.time} />
                <span>
                  {fact.type === "TenantCreated" && "Created: "}
                  {changes.map(({ field, before, after }, index) => (
                    <span key={field}>
                      {index > 0 && "; "}
                      {labelOf(field)} {before !== null && <><del>{before}</del> → </>}<ins>{after}</ins>
                    </span>
                  ))}
                </span>
                <small>{who(fact.actor)}</small>
              </li>
            ))}
          </ul>
        )}
      </Answered>
    </section>
  );
}

/** Facts with settings in the order of the log: the newest of each type. */
async function settingHistory(id: string): Promise<readonly SettingFact[]> {
  const pages = await Promise.all(settingFacts.map((Type) =>
    relay.listTenantHistory({ id, Type, Qt: read, TpOrd: "Desc", Total: false })));
  return pages.flatMap(({ items }) => items as readonly SettingFact[])
    .toSorted((a, b) => a.revision - b.revision);
}
