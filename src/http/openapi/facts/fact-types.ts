import { histories } from "../../../domain/history-fields.ts";

/** A sentence for the description of a history: the types its facts can have. */
export function typesOf(history: keyof typeof histories): string {
  return `Its facts: ${Object.keys(histories[history]).map((type) => `\`${type}\``).join(", ")}.`;
}
