import { useRef, type ReactNode } from "react";
import { Field } from "../../parts/form.tsx";
import { linesIn } from "../../parts/pairs.ts";
import { useKnownTypes } from "./known-types.ts";
import styles from "./subscriptions.module.css";

/** The event types of a subscription, one a line, and those that are known, to be added by a click. */
export function EventTypesField({ senderId }: { readonly senderId?: string | undefined }): ReactNode {
  const known = useKnownTypes(senderId);
  const text = useRef<HTMLTextAreaElement>(null);
  const add = (type: string) => {
    const area = text.current;
    if (!area) return;
    area.value = [...new Set([...linesIn(area.value), type])].join("\n");
    // The form learns of typed text by this event.
    area.dispatchEvent(new Event("input", { bubbles: true }));
  };
  return (
    <>
      <Field
        name="eventTypes" label="Event types (optional)"
        hint="One a line: invoice.paid, or invoice.* for all below it. Empty: every message, with any type or none."
      >
        {(control) => <textarea ref={text} {...control} rows={3} spellCheck={false} />}
      </Field>
      {known.length > 0 && (
        <div role="group" aria-label="Known event types" className={styles.known}>
          {known.map((type) => (
            <button key={type} type="button" aria-label={`Add ${type}`} onClick={() => add(type)}>+ {type}</button>
          ))}
        </div>
      )}
    </>
  );
}
