import type { ReactNode } from "react";
import { Field } from "../../parts/form.tsx";
import { useFanOutSenders } from "./fan-out-senders.ts";

/** Chooses a sender that fans out. A single one is chosen already. */
export function SenderChoice(): ReactNode {
  const senders = useFanOutSenders();
  const [only, ...others] = senders;
  if (only && others.length === 0) return <input type="hidden" name="senderId" value={only.id} />;
  return (
    <Field name="senderId" label="Sender" hint="Whose messages the destination gets.">
      {(control) => (
        <select {...control} defaultValue="" required>
          <option value="" disabled>Choose a sender</option>
          {senders.map(({ id, name }) => <option key={id} value={id}>{name}</option>)}
        </select>
      )}
    </Field>
  );
}
