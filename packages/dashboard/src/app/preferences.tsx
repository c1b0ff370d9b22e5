import { createContext, use, useMemo, useState, type ReactNode } from "react";
import type { Zone } from "../parts/times.ts";
import { keep, readKept } from "./kept.ts";

/** The choices of a person for this browser, in its storage. None is secret. */
export interface Preferences {
  readonly theme: "system" | "light" | "dark";
  readonly zone: Zone;
  /** Whether keys without Control or Alt act. */
  readonly singleKeys: boolean;
  /** Whether the sidebar has words beside its icons. */
  readonly sidebar: "expanded" | "collapsed";
}

interface Kept extends Preferences {
  readonly change: (changes: Partial<Preferences>) => void;
}

const name = "relay-preferences";
const usual: Preferences = { theme: "system", zone: "UTC", singleKeys: true, sidebar: "expanded" };

/** All values of each preference. */
const values: Readonly<Record<keyof Preferences, readonly unknown[]>> = {
  theme: ["system", "light", "dark"], zone: ["UTC", "local"], singleKeys: [true, false],
  sidebar: ["expanded", "collapsed"],
};

const Context = createContext<Kept>({ ...usual, change: () => undefined });

/** The preferences, and how to change them. */
export function usePreferences(): Kept {
  return use(Context);
}

/** Gives the pages inside the preferences. */
export function PreferencesProvider({ children }: { readonly children: ReactNode }): ReactNode {
  const [preferences, setPreferences] = useState(stored);
  const kept = useMemo(() => ({
    ...preferences,
    change: (changes: Partial<Preferences>) => {
      const changed = { ...stored(), ...changes };
      keep(name, changed);
      applyTheme(changed);
      setPreferences(changed);
    },
  }), [preferences]);
  return <Context value={kept}>{children}</Context>;
}

/** Puts the theme on the page; the tokens follow it. */
export function applyTheme({ theme }: Pick<Preferences, "theme"> = stored()): void {
  document.documentElement.style.colorScheme = theme === "system" ? "light dark" : theme;
}

/** The stored preferences; the usual one in place of each that is missing, or that another release wrote otherwise. */
function stored(): Preferences {
  const kept = (readKept(name) ?? {}) as Readonly<Record<string, unknown>>;
  const known = Object.entries(values).filter(([preference, all]) => all.includes(kept[preference]));
  return { ...usual, ...Object.fromEntries(known.map(([preference]) => [preference, kept[preference]])) };
}
