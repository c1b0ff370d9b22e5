/** Pairs as lines, `name: value` each. */
export function pairsText(pairs: Readonly<Record<string, string>>): string {
  return Object.entries(pairs).map(([name, value]) => `${name}: ${value}`).join("\n");
}

/** The pairs of {@link pairsText} lines. A name ends at the first colon before a space, or else at the first colon. */
export function pairsIn(text: string): Record<string, string> {
  return Object.fromEntries(linesIn(text).map((line) => {
    const [, name = line, value = ""] = /^(.+?):\s+(.*)$/.exec(line) ?? /^([^:]+):(.*)$/.exec(line) ?? [];
    return [name, value];
  }));
}

/** The headers of {@link pairsText} lines. A name ends at the first colon. */
export function headersIn(text: string): Record<string, string> {
  return Object.fromEntries(linesIn(text).map((line) => {
    const [name = "", ...value] = line.split(":");
    return [name.trim(), value.join(":").trim()];
  }));
}

/** The lines of a text, without spaces around them; empty ones are left out. */
export function linesIn(text: string): string[] {
  return text.split("\n").map((line) => line.trim()).filter((line) => line !== "");
}
