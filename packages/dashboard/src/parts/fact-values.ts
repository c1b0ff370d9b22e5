import type { Values } from "./changes.ts";
import { factType, type Fact } from "./fact-words.ts";

/** What an entry is about, as the audit has it. */
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
      [title(name), text(value)])) as Values),
    ...(replaces === undefined ? {} : { [replaces]: `replaced at ${time}` }),
  };
}

/** A name in camel case as words: `serverRateLimit` is `server rate limit`. */
export function title(name: string): string {
  return name.replace(/(?<=[a-z])[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`);
}

/** A value as a line of text: search fields are `name path` each, a mapping is its expression. */
function text(value: unknown): string | null {
  if (value === null || value === undefined) return null;
  if (Array.isArray(value)) return value.length === 0 ? null : value.map(text).join(", ");
  if (typeof value !== "object") return typeof value === "string" ? value : JSON.stringify(value);
  return Object.entries(value).filter(([name]) => name !== "language").map(([, part]) => text(part)).join(" ");
}
