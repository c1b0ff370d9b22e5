import { facts, type Schemas } from "@webhook-relay/client";

/** An entry of a history or of the audit. */
export type Fact = Schemas["HistoryItem"] | Schemas["AuditItem"];

/** The description of a type of fact. */
interface FactType {
  /** The words after the actor's name: the first text whose fields all have values is shown. */
  readonly words: readonly string[];
  /** The kind of its subject; absent where the audit does not list it. */
  readonly subject?: string;
  /** The setting that it changed, as stories of events name it. */
  readonly setting?: string;
}

const types: ReadonlyMap<string, FactType> = new Map(Object.entries(facts));

/** The description of a type of fact; empty for a type that is newer than these pages. */
export function factType(type: string): Partial<FactType> {
  return types.get(type) ?? {};
}

/** The formats of `{field:format}`; undefined stands for a value that is not told. */
const formats: Readonly<Record<string, (value: unknown) => string | undefined>> = {
  plain: String,
  events: (count) => `${String(count)} ${count === 1 ? "event" : "events"}`,
  inARow: (failures) =>
    failures === 0 ? undefined : failures === 1 ? "1 failed attempt" : `${String(failures)} failed attempts in a row`,
  hyphened: (value) => String(value).replace(/(?<=[a-z])(?=[A-Z])/, "-").toLowerCase(),
  unsaid: () => "",
};

/** The words of a fact, as a sentence without its actor; of a type that is newer than these pages, the type. */
export function factWords({ type, data }: Pick<Fact, "type" | "data">): string {
  const { words = [] } = factType(type);
  const values: Readonly<Record<string, unknown>> = data;
  const said = words.map((text) => filled(text, values)).find((text) => text !== undefined);
  return said ?? `wrote ${type}`;
}

/** The text with the values of its fields; undefined where one has none. */
function filled(text: string, values: Readonly<Record<string, unknown>>): string | undefined {
  const parts = text.split(/\{([\w:]+)\}/).map((part, place) => {
    if (place % 2 === 0) return part;
    const [field = "", format = "plain"] = part.split(":");
    const value = values[field];
    return value === undefined || value === null ? undefined : formats[format]?.(value);
  });
  return parts.includes(undefined) ? undefined : parts.join("");
}
