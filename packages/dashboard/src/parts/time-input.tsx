import type { ComponentProps, ReactNode } from "react";
import { usePreferences } from "../app/preferences.tsx";
import { fieldTime, today, typedMoment, typedTimeRule } from "./typed-time.ts";

/** A field for a moment, typed in the zone and the format of the pages. */
export function TimeInput({ at, ...props }: ComponentProps<"input"> & { readonly at?: string | undefined }): ReactNode {
  const { zone } = usePreferences();
  return (
    <input
      {...props} defaultValue={fieldTime(at, zone)} placeholder={`${today(zone)} 10:05`} size={23}
      autoComplete="off" spellCheck={false}
      onInput={({ currentTarget: input }) => {
        const isTime = input.value.trim() === "" || typedMoment(input.value, zone, today(zone)) !== undefined;
        input.setCustomValidity(isTime ? "" : typedTimeRule);
      }}
    />
  );
}
