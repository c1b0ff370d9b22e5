/** The URL of a destination's requests, and their type of authentication. */
export interface Settings {
  readonly url: string;
  readonly authType: string | null;
}

/** The settings in the data of a fact. */
interface Told {
  readonly url?: string;
  readonly auth?: { readonly type: string } | null;
}

/** A destination's settings after one more fact. */
export function settingsAfter(before: Settings | undefined, type: string, { url, auth }: Told): Settings {
  const kept = type === "DestinationAuthRemoved" ? null : before?.authType ?? null;
  return { url: url ?? before?.url ?? "", authType: auth?.type ?? kept };
}
