import type { Schemas } from "@webhook-relay/client";
import type { Values } from "../../parts/changes.ts";
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
    hint: "Attempts before an event is given up, and failures in a row before a destination is suspended. "
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

/** The values of settings, in words, after a fact. */
export function valuesAfterFact(before: Values, fact: SettingFact): Values {
  return { ...before, ...Object.fromEntries(valuesOf(fact).map(([field, value]) => [field, valueText(field, value)])) };
}

function valuesOf(fact: SettingFact): readonly (readonly [Setting, string | number | null])[] {
  return settings.flatMap(({ field }) => {
    const data: Partial<Record<Setting, string | number | null>> = fact.data;
    // A tenant begins without a retention.
    const value = field === "retentionDays" && fact.type === "TenantCreated" ? null : data[field];
    return value === undefined ? [] : [[field, value] as const];
  });
}

/** The labels of settings. */
export const settingLabels = Object.fromEntries(settings.map(({ field, label }) => [field, label]));
