import type { Schemas } from "@webhook-relay/client";
import type { Values } from "../../parts/changes.ts";
import { factType } from "../../parts/fact-words.ts";

type Fact = Schemas["HistoryItem"];

const settings = ["url", "serverRateLimit", "authType"];

/** A change of a destination: the settings before it and after it. */
export interface SettingsChange {
  readonly fact: Fact;
  readonly before: Values;
  readonly after: Values;
}

/** The changes of a destination from its history, the oldest first. */
export function changesIn(history: readonly Fact[]): readonly SettingsChange[] {
  let settings: Values = {};
  return history.map((fact) => {
    const before = settings;
    settings = settingsAfter(before, fact);
    return { fact, before, after: settings };
  });
}

function settingsAfter(before: Values, { type, data }: Fact): Values {
  const { sets } = factType(type);
  if (sets?.["status"] === "Deleted") return {};
  const given = Object.entries(data).filter(([name]) => settings.includes(name));
  return given.length === 0 && !sets ? before : { ...before, ...(Object.fromEntries(given) as Values), ...sets };
}

/** The place of the last change at or before a position of the log; -1 before the first. Positions compare as texts. */
export function placeAt(changes: readonly SettingsChange[], position: string): number {
  return changes.findLastIndex(({ fact }) => fact.position <= position);
}
