import type { Schemas } from "@webhook-relay/client";
import type { Fact } from "./fact-words.ts";

/** The values of fields, as text; null and undefined show as none. */
export type Values = Readonly<Record<string, string | number | boolean | null | undefined>>;

/** A field with its values before and after, as lines of text; null for none. */
export interface FieldChange {
  readonly field: string;
  readonly before: string | null;
  readonly after: string | null;
}

/** The fields whose values differ, in the order of the fields after. */
export function changesOf(before: Values, after: Values): readonly FieldChange[] {
  const fields = [...new Set([...Object.keys(after), ...Object.keys(before)])];
  return fields
    .map((field) => ({ field, before: lineOf(before[field]), after: lineOf(after[field]) }))
    .filter((change) => change.before !== change.after);
}

/** The settings that an entry changed. */
export function changesIn({ changes = [] }: Fact): readonly FieldChange[] {
  return changes.map(({ field, from, to }) => {
    if (from !== masked && to !== masked) return { field, before: lineOf(from), after: lineOf(to) };
    return { field, before: from === to ? null : secretText(from), after: from === to ? "replaced" : secretText(to) };
  });
}

/** The relay's text in the place of a secret. */
const masked = "***";

function secretText(value: unknown): string | null {
  return value === masked ? "set" : lineOf(value);
}

/** The fields of an entry's data that have values, without the time and the ids of the tenant and the subject. */
export function fieldsIn({ data }: Fact, subjectId: string): readonly FieldChange[] {
  const own = Object.entries(data).filter(([name, value]) =>
    name !== "at" && name !== "tenantId" && value !== subjectId && lineOf(value) !== null);
  return own.map(([field, value]) => ({ field, before: null, after: lineOf(value) }));
}

/** The names of settings for people, but for those that their field's words name. */
const settingNames: Readonly<Record<string, string>> = {
  url: "URL", serverRateLimit: "Concurrent requests", authType: "Authentication", auth: "Credentials",
  destinationId: "Destination", maxTrys: "Tries", circuitBreakerTimer: "Circuit timer, seconds",
  retentionDays: "Retention, days", webhookSecretFingerprint: "Fingerprint", last4: "Last four", expiresAt: "Ends",
  toDestinationId: "To destination", timeoutMs: "Timeout, ms", ownerId: "Customer", expireAfterDays: "Expiry, days",
  disableAfterDays: "Switched off after, days",
};

/** The names of parts of settings, where their values alone say too little. */
const partNames: Readonly<Record<string, string>> = {
  schedule: "waits", maxTrys: "tries", retryOn: "retried outcomes", failures: "failures", timer: "seconds",
};

/** The name of a setting for people. */
export function settingName(field: string): string {
  const words = title(field);
  return settingNames[field] ?? words.charAt(0).toUpperCase() + words.slice(1);
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
  return Object.entries(value).filter(([name]) => name !== "language").map(([name, part]) => {
    const named = partNames[name];
    return named === undefined ? lineOf(part) : `${named} ${lineOf(part) ?? "none"}`;
  }).join(" ");
}

/** The values as lines of text. */
export function linesOf(values: Readonly<Record<string, unknown>>): Values {
  return Object.fromEntries(Object.entries(values).map(([name, value]) => [name, lineOf(value)]));
}

/** The subject of an entry, as the audit has it. */
export type FactSubject = Pick<Schemas["Subject"], "type" | "id">;
