import type { SchemaObject } from "ajv/dist/2020.js";
import type { PageRequest } from "../application/queries/paging.ts";
import { refuse } from "../domain/refusal.ts";
import { validator } from "./validate.ts";

interface ListParameters {
  readonly Qt: number;
  readonly Pg: number;
  readonly CpOrd: string;
  readonly TpOrd: "Asc" | "Desc";
}

/** What a list was asked for. */
export interface ListRequest<Filters> {
  readonly page: PageRequest;
  readonly filters: Filters;
}

/** Reads a query string. Throws a Refusal (invalid). */
export interface ListReader<Filters> {
  (query: string): ListRequest<Filters>;
  readonly schema: SchemaObject;
}

/**
 * Reads the query parameters of a list as its schema names them. A parameter that is repeated, empty, or not what
 * the schema asks for gives a Refusal (invalid) that names it; others are ignored.
 */
export function listReader<Filters>(schema: SchemaObject): ListReader<Filters> {
  const validate = validator<ListParameters & Filters>(schema);
  const properties = schema["properties"] as Readonly<Record<string, { readonly type: string }>>;
  const read = (query: string) => {
    const given = new URLSearchParams(query);
    const values: Record<string, string | number> = {};
    for (const [name, { type }] of Object.entries(properties)) {
      const [text, ...more] = given.getAll(name);
      if (text === undefined) continue;
      if (more.length > 0) refuse("invalid", `${name}: must be given once`);
      if (text === "") refuse("invalid", `${name}: must not be empty`);
      values[name] = type === "integer" ? integer(name, text) : name === "TpOrd" ? capitalised(text) : text;
    }
    const { Qt, Pg, CpOrd, TpOrd, ...filters } = validate(values);
    const page = { quantity: Qt, page: Pg, order: { field: CpOrd, descending: TpOrd === "Desc" } };
    return { page, filters: filters as unknown as Filters };
  };
  return Object.assign(read, { schema });
}

function integer(name: string, text: string): number {
  if (!/^-?\d{1,15}$/.test(text)) refuse("invalid", `${name}: must be an integer`);
  return Number(text);
}

function capitalised(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1).toLowerCase();
}
