import type { ReactNode } from "react";
import { usePreferences } from "../app/preferences.tsx";
import { Field } from "./form.tsx";
import { timeInField, type Zone } from "./times.ts";

/** Asks until when something works, in the zone of the preferences. Read it by {@link expiryOf}. */
export function ExpiryField(): ReactNode {
  const { zone } = usePreferences();
  const hint = `Empty: it works until it is revoked. The time is ${zone === "UTC" ? "in UTC" : "your local time"}.`;
  return (
    <Field name="expiresAt" label="Expires (optional)" hint={hint}>
      {(props) => <input {...props} type="datetime-local" />}
    </Field>
  );
}

/** The field of a request for a typed time: an ISO moment, or none for an empty text. */
export function expiryOf(typed: string | undefined, zone: Zone): { readonly expiresAt?: string } {
  if (typed === undefined || typed === "") return {};
  return { expiresAt: timeInField(typed, zone) };
}
