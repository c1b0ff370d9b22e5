import type { ReactNode } from "react";
import { Field } from "../../parts/form.tsx";

/** The choices for messages without a matching subscription. */
export const unmatchedWords = { accept: "accepted, without a delivery", refuse: "refused with 422" } as const;

/** Fields of a form for the settings of senders that fan out. */
export function FanOutFields(): ReactNode {
  return (
    <>
      <Field
        name="eventTypePath" label="Event type in the body (optional)"
        hint="A JSON Pointer such as /type. The header X-Event-Type comes before it."
      >
        {(control) => <input {...control} autoComplete="off" spellCheck={false} placeholder="/type" />}
      </Field>
      <Field name="unmatched" label="Messages that no subscription matches">
        {(control) => (
          <select {...control}>
            {Object.entries(unmatchedWords).map(([each, words]) => <option key={each} value={each}>{words}</option>)}
          </select>
        )}
      </Field>
    </>
  );
}
