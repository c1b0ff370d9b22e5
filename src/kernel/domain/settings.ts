import type { DomainEvent } from "./domain-event.ts";
import type { FactDeclaration } from "./fact.ts";
import type { Fields, ObjectOf } from "./schema.ts";

type Facts = Readonly<Record<string, FactDeclaration>>;
type Values = Readonly<Record<string, unknown>>;

/** New values of settings; those that are undefined stay as they are. */
export type NewValues<Settings> = { readonly [Name in keyof Settings]?: Settings[Name] | undefined };

/** The values of a new thing. Null, an empty list or object stands for none in an optional field. */
export type Given<Data> = {
  readonly [Name in keyof Data]: Data[Name] | (undefined extends Data[Name] ? null | undefined : never);
};

/**
 * The data of a creation. It lacks optional fields without a value, or with that of `unset`, so that releases before
 * the field can read it.
 */
export function creationOf<F extends Fields>(
  { data }: { readonly data: F }, values: Given<ObjectOf<F>>, unset: object = {},
): ObjectOf<F> {
  const isUnset = (name: string, value: unknown) => isNone(value) || same(value, (unset as Values)[name]);
  const present = Object.entries(values).filter(([name, value]) =>
    !("optional" in data[name]!) || !isUnset(name, value));
  return Object.fromEntries(present) as ObjectOf<F>;
}

/** The facts that give a thing new settings, in the order of their declarations; none where nothing changes. */
export function changesOf<Event extends DomainEvent>(
  declarations: Facts, state: object, newValues: object, ids: object,
): Event[] {
  const [before, wanted] = [state as Values, newValues as Values];
  const valueOf = (name: string) => (wanted[name] === undefined ? before[name] : wanted[name]);
  const changed = Object.entries(declarations).flatMap(([type, { changes = [], data }]) => {
    if (changes.every((name) => same(valueOf(name), before[name]))) return [];
    const own: Values = { from: before[changes[0] ?? ""], ...ids };
    const fields = Object.keys(data).map((name) => [name, name in own ? own[name] : valueOf(name)] as const);
    return [{ type, data: Object.fromEntries(fields) }];
  });
  return changed as unknown as Event[];
}

/** A state with the settings that a fact changes. */
export function withChanges<State extends object>(
  declarations: Facts, state: State, { type, data }: DomainEvent,
): State {
  const settings = declarations[type]?.changes ?? [];
  return { ...state, ...Object.fromEntries(settings.map((name) => [name, (data as Values)[name]])) };
}

/** Whether two values of a setting are the same. */
export function same(one: unknown, other: unknown): boolean {
  if (!isObject(one) || !isObject(other)) return one === other;
  const names = Object.keys(one);
  return names.length === Object.keys(other).length && names.every((name) => same(one[name], other[name]));
}

/** Whether a value stands for none: null, an empty list or object. */
export function isNone(value: unknown): boolean {
  return value == null || (isObject(value) && Object.keys(value).length === 0);
}

function isObject(value: unknown): value is Values {
  return typeof value === "object" && value !== null;
}
