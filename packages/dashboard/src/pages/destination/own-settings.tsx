import { useState, type ReactNode } from "react";
import { Field } from "../../parts/form.tsx";

/** The value of an {@link OwnSettings} choice for settings of the destination's own. */
export const own = "own";

/** A choice between the settings of the tenant or the relay, and the destination's own, with their fields. */
export function OwnSettings({ name, label, otherwise, stored, children }: {
  readonly name: string;
  readonly label: string;
  /** The words for the settings that apply otherwise. */
  readonly otherwise: string;
  readonly stored: object | null;
  readonly children: ReactNode;
}): ReactNode {
  const [chosen, choose] = useState(stored === null ? "" : own);
  return (
    <>
      <Field name={name} label={label}>
        {(props) => (
          <select {...props} onChange={({ target }) => choose(target.value)}>
            <option value="">{otherwise}</option>
            <option value={own}>its own</option>
          </select>
        )}
      </Field>
      {chosen === own && children}
    </>
  );
}
