import type { Caller } from "../kernel/callers/caller.ts";
import type { Actor } from "../kernel/domain/domain-event.ts";
import type { SubjectType } from "../kernel/domain/fact.ts";
import { Refusal } from "../kernel/domain/refusal.ts";
import { mayCall } from "../kernel/operations/access.ts";
import { ReadModelsUnavailable, type ReadModels } from "../kernel/ports/read-models.ts";
import type { Freshness } from "../kernel/read-models/freshness.ts";
import { nameOf, things, type ThingKind } from "./things.ts";

/** An actor or a subject of facts. */
export interface Named {
  readonly type: Actor["type"] | SubjectType;
  readonly id?: string;
}

/** An actor or a subject with its name now; null where it is gone or has none, absent where names cannot be read. */
export type WithName<One extends Named> = One & { readonly name?: string | null };

/** Gives actors and subjects their names. */
export type Naming = <One extends Named>(one: One) => WithName<One>;

/** The read models that names are read from. */
export interface NameParts {
  readonly readModels: ReadModels;
  readonly freshness: Freshness;
}

/** The names now of actors and subjects, read once for each kind; null for kinds that the caller may not list. */
export async function namesOf(parts: NameParts, caller: Caller, named: readonly Named[]): Promise<Naming> {
  const kinds = Map.groupBy(named.filter(({ id }) => id !== undefined), kindOf);
  kinds.delete(undefined);
  try {
    const names = kinds.size === 0 ? new Map<string, string>() : await parts.freshness.ask(async () =>
      new Map((await Promise.all([...kinds].map(([kind, those]) =>
        namesIn(parts.readModels, caller, kind!, those)))).flat()));
    return (one) => (one.id === undefined ? one : { ...one, name: names.get(one.id) ?? null });
  } catch (error) {
    const isAway = error instanceof ReadModelsUnavailable || (error instanceof Refusal && error.kind === "unavailable");
    if (!isAway) throw error;
    return (one) => one;
  }
}

function kindOf({ type }: Named): ThingKind | undefined {
  if (type === "circuit") return "destination";
  return type in things ? type as ThingKind : undefined;
}

async function namesIn(
  readModels: ReadModels, caller: Caller, kind: ThingKind, those: readonly Named[],
): Promise<readonly (readonly [string, string])[]> {
  const { collection: { name: collection, key }, fields, access } = things[kind];
  if (!mayCall(caller, access)) return [];
  const values = [...new Set(those.map(({ id }) => id!))];
  const found = await readModels.find({
    collection, anyOf: { field: key, values }, order: { field: key, descending: false }, limit: values.length,
  });
  return found.flatMap((document) => {
    const { [key]: id, tenantId = id } = document;
    const name = nameOf({ fields }, document);
    return tenantId === caller.tenantId && name !== null ? [[id as string, name]] : [];
  });
}
