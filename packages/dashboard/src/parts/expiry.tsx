import type { ReactNode } from "react";
import { usePreferences } from "../app/preferences.tsx";
import { Field } from "./form.tsx";
import { TimeInput } from "./time-input.tsx";
import { zoneName, type Zone } from "./times.ts";
import { timeInField } from "./typed-time.ts";

/** Asks until when something works, in the zone of the preferences. Read it by {@link expiryOf}. */
export function ExpiryField(): ReactNode {
  const { zone } = usePreferences();
  return (
    <Field name="expiresAt" label={`Expires (optional), ${zoneName(zone)}`} hint="Empty: it works until it is revoked.">
      {(props) => <TimeInput {...props} />}
    </Field>
  );
}

/** The field of a request for a typed time: an ISO moment, or none for an empty text. */
export function expiryOf(typed: string | undefined, zone: Zone): { readonly expiresAt?: string } {
  if (typed === undefined || typed.trim() === "") return {};
  return { expiresAt: timeInField(typed, zone) };
}
