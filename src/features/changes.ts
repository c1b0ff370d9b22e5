import { subjectIds } from "../kernel/domain/fact.ts";
import { isNone, same } from "../kernel/domain/settings.ts";
import { readPages } from "../kernel/log/long-reads.ts";
import type { EventStore } from "../kernel/ports/event-store.ts";
import { facts, shownData, type HistoryItem } from "./facts.ts";

/** A setting that a fact changed. A secret is masked. */
export interface SettingChange {
  readonly field: string;
  /** Absent if the log has it too far back: see {@link mostRead}. */
  readonly from?: unknown;
  readonly to: unknown;
}

/** A fact as histories show it, and its stream. */
export interface ShownFact extends Pick<HistoryItem, "type" | "revision" | "data"> {
  readonly stream: string;
}

/** The most entries that are read back for the changes of one page. */
export const mostRead = 2_000;

const masked = "***";

type Values = Readonly<Record<string, unknown>>;

/** The settings that a fact gives its subject. */
interface Given {
  readonly subject: string;
  readonly values: Values;
  /** The values before, as far as the fact itself says. */
  readonly before: Values;
  readonly isFirst: boolean;
}

/** The settings that facts changed, each from its value before; of each fact undefined if it changes none. */
export async function changesOfFacts(
  store: Pick<EventStore, "readStream">, asker: string, shown: readonly ShownFact[],
): Promise<readonly (readonly SettingChange[] | undefined)[]> {
  const changes = shown.map((fact): Change | undefined => {
    const given = givenBy(fact);
    const { stream, revision } = fact;
    return given && { ...given, stream, revision, before: { ...given.before } };
  });
  const budget = { left: mostRead };
  const open = changes.filter((one) => one !== undefined).filter((one) => unknownIn(one).length > 0);
  await Promise.all([...Map.groupBy(open, ({ stream }) => stream)].map(([stream, those]) =>
    lookBack(store, { stream, asker, budget }, those)));
  return changes.map((one) => one && listOf(one));
}

interface Change extends Given, Pick<ShownFact, "stream" | "revision"> {
  readonly before: Record<string, unknown>;
}

interface Source {
  readonly stream: string;
  readonly asker: string;
  readonly budget: { left: number };
}

/** Finds the values before these changes, in one pass back through their stream. */
async function lookBack(
  store: Pick<EventStore, "readStream">, { stream, asker, budget }: Source, changes: readonly Change[],
): Promise<void> {
  const newest = Math.max(...changes.map(({ revision }) => revision));
  let open: readonly Change[] = changes;
  await readPages(store, stream, (page) => {
    for (const entry of page) {
      if (entry.unreadable !== undefined || budget.left === 0) return false;
      budget.left -= 1;
      const given = givenBy({ type: entry.type, data: shownData(entry) });
      for (const { subject, revision, before, values } of given ? open : []) {
        if (subject !== given!.subject || revision <= entry.revision) continue;
        for (const field of Object.keys(values)) {
          if (!(field in before) && (field in given!.values || given!.isFirst)) {
            before[field] = given!.values[field] ?? null;
          }
        }
      }
      open = open.filter((one) => unknownIn(one).length > 0);
      if (open.length === 0) return false;
      if (entry.revision === 0) for (const one of open) for (const field of unknownIn(one)) one.before[field] = null;
    }
    return true;
  }, { from: newest, backwards: true, asker });
}

function unknownIn({ values, before }: Pick<Given, "values" | "before">): readonly string[] {
  return Object.keys(values).filter((field) => !(field in before));
}

function listOf({ values, before }: Change): readonly SettingChange[] | undefined {
  const list = Object.entries(values).flatMap(([field, to]) => {
    const from = before[field];
    const isKept = !hasMask(to) && (same(from, to) || (isNone(from) && isNone(to)));
    return isKept ? [] : [{ field, ...(field in before && { from }), to }];
  });
  return list.length > 0 ? list : undefined;
}

function hasMask(value: unknown): boolean {
  return value === masked || (typeof value === "object" && Object.values(value ?? {}).includes(masked));
}

/** The settings that a fact gives its subject; undefined for a fact without any. */
function givenBy({ type, data }: Pick<ShownFact, "type" | "data">): Given | undefined {
  const { audit, creates: isFirst = false, changes = [], sets = {}, replaces } = facts.get(type) ?? {};
  if (!audit) return undefined;
  const { [subjectIds[audit]]: subject, tenantId: _, at: __, ...own } = data as Record<string, unknown>;
  const named = changes.map((name) => (name === "auth" ? "authType" : name));
  const given = Object.entries(own).filter(([name]) => isFirst || named.includes(name));
  const settings: Values = { ...sets, ...Object.fromEntries(given), ...(replaces && { [replaces]: masked }) };
  const { authType } = settings;
  const values = authType === undefined ? settings : { ...settings, auth: authType === null ? null : masked };
  const names = Object.keys(values);
  if (names.length === 0) return undefined;
  const former = named[0] !== undefined && "from" in own ? { [named[0]]: own["from"] } : {};
  const before = isFirst ? Object.fromEntries(names.map((name) => [name, null])) : former;
  return { subject: String(subject), values, before: { ...before, ...(replaces && { [replaces]: masked }) }, isFirst };
}
