import { histories, type HistoryName } from "./facts.ts";

/** A sentence for the description of a history: the types its facts can have. */
export function typesOf(history: HistoryName): string {
  return `Its facts: ${histories[history].map((type) => `\`${type}\``).join(", ")}.`;
}
