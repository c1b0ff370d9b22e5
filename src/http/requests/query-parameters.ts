import type { SchemaObject } from "ajv/dist/2020.js";
import everyList from "../../../schemas/requests/list.json" with { type: "json" };
import type { PageRequest } from "../../application/paging.ts";
import { refuse } from "../../domain/refusal.ts";
import { extended } from "./extended.ts";
import { validator } from "./validate.ts";

/** Reads a query string. Throws a Refusal (invalid). */
export interface QueryReader<Parameters> {
  (query: string): Parameters;
  readonly schema: SchemaObject;
}

/** A caller's request to a list. */
export interface ListRequest<Filters> {
  readonly page: PageRequest;
  readonly filters: Filters;
}

interface ListParameters {
  readonly Qt: number;
  readonly Pg: number;
  readonly CpOrd: string;
  readonly TpOrd: "Asc" | "Desc";
}

/**
 * Reads the query parameters of a list as {@link queryReader} does: those of every list, with the fields it can be
 * sorted by, and filters of its own.
 */
export function listReader<Filters>(own: SchemaObject): QueryReader<ListRequest<Filters>> {
  const schema = extended(everyList, own);
  const parametersOf = queryReader<ListParameters & Filters>(schema);
  const read = (query: string) => {
    const { Qt, Pg, CpOrd, TpOrd, ...filters } = parametersOf(query);
    const page = { quantity: Qt, page: Pg, order: { field: CpOrd, descending: TpOrd === "Desc" } };
    return { page, filters: filters as unknown as Filters };
  };
  return Object.assign(read, { schema });
}

/**
 * Reads query parameters as their schema names them. One that is repeated, empty, spelt in another case, or not valid
 * under the schema gives a Refusal (invalid) that names it; unknown ones are ignored.
 */
export function queryReader<Parameters>(schema: SchemaObject): QueryReader<Parameters> {
  const validate = validator<Parameters>(schema);
  const properties = Object.entries(schema["properties"] as Readonly<Record<string, { readonly type: string }>>);
  const spellings = new Map(properties.map(([name]) => [name.toLowerCase(), name]));
  const read = (query: string) => {
    const given = new URLSearchParams(query);
    for (const name of given.keys()) {
      const known = spellings.get(name.toLowerCase()) ?? name;
      // Ignored, a filter would filter nothing.
      if (name !== known) refuse("invalid", `${name}: must be spelt ${known}`);
    }
    const values: Record<string, string | number> = {};
    for (const [name, { type }] of properties) {
      const [text, ...more] = given.getAll(name);
      if (text === undefined) continue;
      if (more.length > 0) refuse("invalid", `${name}: must be given once`);
      if (text === "") refuse("invalid", `${name}: must not be empty`);
      values[name] = type === "integer" ? integer(text) : name === "TpOrd" ? capitalised(text) : text;
    }
    return validate(values);
  };
  return Object.assign(read, { schema });
}

/** The number, or a text that is not a number as it is: the check against the schema then names the fault. */
function integer(text: string): number | string {
  return /^-?\d{1,15}$/.test(text) ? Number(text) : text;
}

function capitalised(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1).toLowerCase();
}
