import type { Schemas } from "@webhook-relay/client";
import type { FieldChange } from "../../parts/changes.ts";
import type { Fields } from "../../parts/fields.ts";
import { durationText } from "../../parts/times.ts";

/** The settings that a tenant changes. */
export type Setting = "name" | "maxTrys" | "circuitBreakerTimer" | "retentionDays";

/** A setting in words. */
interface SettingText {
  readonly field: Setting;
  readonly label: string;
  /** The unit of the form's field; the value in words has a unit of its own. */
  readonly unit?: string;
  readonly value: string;
  /** The effect of a change. */
  readonly hint: string;
}

/** A tenant's settings in words, in the order of the page. */
export function settingTexts(tenant: Pick<Schemas["Tenant"], Setting>): readonly SettingText[] {
  return settings.map((setting) => ({ ...setting, value: valueText(setting.field, tenant[setting.field]) }));
}

const settings: readonly Omit<SettingText, "value">[] = [
  { field: "name", label: "Name", hint: "Unique on the platform. Receivers are not sent it." },
  {
    field: "maxTrys",
    label: "Tries",
    hint: "Attempts before an event has failed, and failures in a row before a destination is suspended. "
      + "Waiting events count by the new number from their next failure on. 1 to 10,000.",
  },
  {
    field: "circuitBreakerTimer",
    label: "Circuit timer",
    unit: "seconds",
    hint: "How long a suspended destination rests before one event probes it. "
      + "A circuit that is open now keeps its time; the next one to open takes the new one. Up to a year.",
  },
  {
    field: "retentionDays",
    label: "Retention",
    unit: "days",
    hint: "Finished events that were accepted longer ago are purged for good, with attempts and history. "
      + "Empty: they are kept. 1 to 3,650.",
  },
];

/** A value of a setting in words. */
function valueText(field: Setting, value: string | number | null): string {
  if (value === null) return "kept until purged";
  if (field === "retentionDays") return value === 1 ? "1 day" : `${value} days`;
  if (field === "circuitBreakerTimer") return durationText(Number(value) * 1_000);
  return String(value);
}

/**
 * The changed fields of a form as the relay takes them. A text that is no number is sent as it is, so that the relay
 * answers with its own sentence.
 */
export function updateOf(changed: Fields): Schemas["UpdateTenantRequest"] {
  return Object.fromEntries(Object.entries(changed).map(([field, text]) => {
    if (field === "name") return [field, text];
    return [field, field === "retentionDays" && text.trim() === "" ? null : numberOf(text)];
  }));
}

function numberOf(text: string): unknown {
  return /^\s*-?\d+(\.\d+)?\s*$/.test(text) ? Number(text) : text;
}

/** Facts of the tenant's history that have settings in them. */
export const settingFacts = [
  "TenantCreated", "TenantRenamed", "TenantDeliveryPolicyChanged", "TenantRetentionChanged",
] as const;

/** Whether a fact is one of the tenant's settings. */
export type SettingFact = Extract<Schemas["HistoryItem"], { type: typeof settingFacts[number] }>;

/** The settings that a fact changed, with their values in words. */
export function settingChangesIn({ changes = [] }: SettingFact): readonly FieldChange[] {
  return changes.flatMap(({ field, from, to }) => {
    const setting = settings.find((one) => one.field === field);
    if (!setting) return [];
    return [{ field: setting.label, before: textOf(setting.field, from), after: textOf(setting.field, to) }];
  });
}

/** A value in words; null for a setting that had none yet. */
function textOf(field: Setting, value: unknown): string | null {
  if (value === undefined || (value === null && field !== "retentionDays")) return null;
  return valueText(field, value as string | number | null);
}
