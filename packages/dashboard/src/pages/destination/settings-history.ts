import type { Schemas } from "../../../../client/src/index.ts";
import type { Values } from "../../parts/changes.ts";

type Fact = Schemas["HistoryItem"];

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

function settingsAfter(before: Values, fact: Fact): Values {
  switch (fact.type) {
    case "DestinationRegistered": {
      const { url, serverRateLimit, authType } = fact.data;
      return { url, serverRateLimit, authType, status: "Active" };
    }
    case "DestinationUrlChanged":
      return { ...before, url: fact.data.url };
    case "DestinationRateLimitChanged":
      return { ...before, serverRateLimit: fact.data.serverRateLimit };
    case "DestinationAuthConfigured":
      return { ...before, authType: fact.data.authType };
    case "DestinationAuthRemoved":
      return { ...before, authType: null };
    case "DestinationActivated":
      return { ...before, status: "Active" };
    case "DestinationDeactivated":
      return { ...before, status: "Inactive" };
    case "DestinationDeleted":
      return {};
    default:
      return before;
  }
}

/** The place of the last change at or before a position of the log; -1 before the first. Positions compare as texts. */
export function placeAt(changes: readonly SettingsChange[], position: string): number {
  return changes.findLastIndex(({ fact }) => fact.position <= position);
}
