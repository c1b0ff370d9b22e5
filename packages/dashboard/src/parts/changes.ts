import { factType, type Fact } from "./fact-words.ts";

/** The values of fields, as text; null and undefined show as none. */
export type Values = Readonly<Record<string, string | number | boolean | null | undefined>>;

/** A field whose value is another one now. */
interface FieldChange {
  readonly field: string;
  readonly before: string | null;
  readonly after: string | null;
}

/** The fields whose values differ, in the order of the fields after. */
export function changesOf(before: Values, after: Values): readonly FieldChange[] {
  const fields = [...new Set([...Object.keys(after), ...Object.keys(before)])];
  return fields
    .map((field) => ({ field, before: textOf(before[field]), after: textOf(after[field]) }))
    .filter((change) => change.before !== change.after);
}

function textOf(value: Values[string]): string | null {
  return value == null ? null : String(value);
}

/** A fact of a history, with the values before it and after it. */
export interface FactChange<Known> {
  readonly fact: Known;
  readonly before: Values;
  readonly after: Values;
}

/** The changes of a history, the oldest first; `follow` gives the values after a fact from those before it. */
export function changesIn<Known>(
  history: readonly Known[], follow: (before: Values, fact: Known) => Values,
): readonly FactChange<Known>[] {
  let values: Values = {};
  return history.map((fact) => {
    const before = values;
    values = follow(before, fact);
    return { fact, before, after: values };
  });
}

/** The subject of an entry, as the audit has it. */
export interface FactSubject {
  readonly type: string;
  readonly id: string;
}

/** By type of subject, the field of its facts that has its own id. */
const ownId: Readonly<Record<string, string>> = {
  destination: "destinationId", sender: "senderId", apiKey: "keyId", serviceAccount: "serviceAccountId", user: "userId",
  invite: "inviteId", purge: "purgeId", replay: "replayId", cancellation: "cancellationId",
};

/** The settings of a thing after these facts about it, the oldest first, by names for people. */
export function valuesAfter(facts: readonly Fact[], subject: FactSubject): Values {
  return Object.assign({}, ...facts.map((fact) => valuesIn(fact, subject))) as Values;
}

function valuesIn({ type, time, data }: Fact, subject: FactSubject): Values {
  const { sets = {}, replaces } = factType(type);
  // Facts about roles and statuses have the former one, too.
  const former = subject.type === "user" || subject.type === "serviceAccount" ? "from" : "";
  const hidden = new Set(["at", "tenantId", ownId[subject.type] ?? "", former]);
  const fields = Object.entries(data as Readonly<Record<string, unknown>>).filter(([name]) => !hidden.has(name));
  return {
    ...(Object.fromEntries([...fields, ...Object.entries(sets)].map(([name, value]) =>
      [title(name), lineOf(value)])) as Values),
    ...(replaces === undefined ? {} : { [title(replaces)]: `replaced at ${time}` }),
  };
}

/** A name in camel case as words: `serverRateLimit` is `server rate limit`. */
export function title(name: string): string {
  return name.replace(/(?<=[a-z])[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`);
}

/** A value as a line of text: search fields are `name path` each, a mapping is its expression. */
function lineOf(value: unknown): string | null {
  if (value === null || value === undefined) return null;
  if (Array.isArray(value)) return value.length === 0 ? null : value.map(lineOf).join(", ");
  if (typeof value !== "object") return typeof value === "string" ? value : JSON.stringify(value);
  return Object.entries(value).filter(([name]) => name !== "language").map(([, part]) => lineOf(part)).join(" ");
}
