import { useQuery } from "@tanstack/react-query";
import type { ReactNode } from "react";
import { relay } from "../../api/relay.ts";
import { changesIn, changesOf, type FactChange } from "../../parts/changes.ts";
import { InlineDiff } from "../../parts/diff.tsx";
import { useWho } from "../../parts/names.tsx";
import { Answered } from "../../parts/states.tsx";
import { Moment } from "../../parts/time.tsx";
import { settingFacts, settingLabels, valuesAfterFact, type SettingFact } from "./setting-texts.ts";
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
            {changesIn(facts, valuesAfterFact).filter(isChange).toReversed().map(({ fact, before, after }) => (
              <li key={fact.position}>
                <Moment at={fact.time} />
                <span>
                  {fact.type === "TenantCreated" && "Created: "}
                  <InlineDiff before={before} after={after} labels={settingLabels} />
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

function isChange({ before, after }: FactChange<SettingFact>): boolean {
  return changesOf(before, after).length > 0;
}

/** Facts with settings in the order of the log: the newest of each type. */
async function settingHistory(id: string): Promise<readonly SettingFact[]> {
  const pages = await Promise.all(settingFacts.map((Type) =>
    relay.listTenantHistory({ id, Type, Qt: read, TpOrd: "Desc", Total: false })));
  return pages.flatMap(({ items }) => items as readonly SettingFact[])
    .toSorted((a, b) => a.revision - b.revision);
}
