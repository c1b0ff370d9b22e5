import type { BodyOf, Schemas } from "@webhook-relay/client";
import { useId, type ReactNode } from "react";
import { relay } from "../../api/relay.ts";
import { ChangedSince } from "../../parts/changed-since.tsx";
import type { Fields } from "../../parts/fields.ts";
import { Form } from "../../parts/form.tsx";
import { useQuestion, type Question } from "../../parts/questions.tsx";
import shared from "../../style/shared.module.css";
import styles from "./destination.module.css";
import { useUpdate } from "./use-destination.ts";

/** A group of settings beside its title, its purpose, and the effect of a change on waiting events. */
export function SettingsGroup({ title, about, affects, children }: {
  readonly title: string; readonly about: string; readonly affects: ReactNode; readonly children: ReactNode;
}): ReactNode {
  const id = useId();
  return (
    <section aria-labelledby={id} className={styles.settingsGroup}>
      <div className={styles.settingsAbout}>
        <h2 id={id}>{title}</h2>
        <p className={shared.small}>{about}</p>
        <p className={shared.small}>{affects}</p>
      </div>
      <div className={styles.settingsOf}>{children}</div>
    </section>
  );
}

/** The form of a group. It sends changed settings only; `values` has the texts of all its fields. */
export function SettingsForm({ destination: { id, updatedAt }, values, changesOf, question, children }: {
  readonly destination: Schemas["Destination"];
  readonly values: Fields;
  readonly changesOf: (changed: Fields, fields: Fields) => BodyOf<"updateDestination">;
  /** The question before a change that stops work. */
  readonly question?: (changed: Fields) => Question | undefined;
  readonly children: ReactNode;
}): ReactNode {
  const update = useUpdate(id);
  const { ask, dialog } = useQuestion();
  const save = async (fields: Fields, changed: Fields) => {
    const asked = question?.(changed);
    if (asked && !await ask(asked)) return false;
    return update(changesOf(changed, fields));
  };
  return (
    <>
      <Form
        submit={save} label="Save" keeps
        of={{
          values,
          updatedAt,
          changedSince: (moment) => (
            <ChangedSince
              moment={moment} operation="listDestinationHistory" id={id}
              ask={(newest) => relay.listDestinationHistory({ id, ...newest })}
            />
          ),
        }}
      >
        {children}
      </Form>
      {dialog}
    </>
  );
}

/** A read-only list of the settings of a group, without unset ones. */
export function SettingsList({ settings }: {
  readonly settings: readonly (readonly [name: string, value: ReactNode])[];
}): ReactNode {
  return (
    <dl className={styles.settingsThen}>
      {settings.filter(([, value]) => value !== null && value !== undefined).map(([name, value]) => (
        <div key={name}><dt>{name}</dt><dd>{value}</dd></div>
      ))}
    </dl>
  );
}
