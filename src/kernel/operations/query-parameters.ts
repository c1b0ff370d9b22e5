import type { SchemaObject } from "ajv/dist/2020.js";
import everyList from "../../../schemas/requests/list.json" with { type: "json" };
import { refuse } from "../domain/refusal.ts";
import type { PlaceInOrder } from "../ports/read-models.ts";
import { placeOf, type PageRequest } from "../read-models/paging.ts";
import { extended } from "./extended.ts";
import { validator } from "./validate.ts";

/** Reads a query string. `asked` names the path and the tenant: a cursor is good for nothing else. Throws a Refusal. */
export interface QueryReader<Parameters> {
  (query: string, asked: string): Parameters;
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
  readonly Cursor?: string;
  readonly Total: boolean;
}

/** Parameters that say how an item is shown, and not which items there are: they may change from page to page. */
const shapes: ReadonlySet<string> = new Set(["View"]);

const listSchemas = new WeakMap<SchemaObject, SchemaObject>();

/** Reads the parameters of every list, and filters of its own, as {@link queryReader} does. */
export function listReader<Filters>(own: SchemaObject): QueryReader<ListRequest<Filters>> {
  const schema = listSchemas.get(own) ?? extended(everyList, own);
  listSchemas.set(own, schema);
  const parametersOf = queryReader<ListParameters & Filters>(schema);
  const read = (query: string, asked: string) => {
    const { Qt, Pg, CpOrd, TpOrd, Cursor, Total, ...filters } = parametersOf(query, asked);
    const selecting = Object.entries(filters).filter(([name]) => !shapes.has(name));
    const list = JSON.stringify([asked, CpOrd, TpOrd, selecting]);
    if (Cursor !== undefined && new URLSearchParams(query).has("Pg")) {
      refuse("invalid", "Cursor: must not be given together with Pg");
    }
    const after = Cursor === undefined ? undefined : placeOf(list, Cursor);
    const order = { field: CpOrd, descending: TpOrd === "Desc" };
    const page = { quantity: Qt, page: Pg, after, order, total: Total, list };
    return { page, filters: filters as unknown as Filters };
  };
  return Object.assign(read, { schema });
}

/** A caller's request to a scan that goes on behind a place. */
export interface ScanRequest<Filters> {
  readonly after: PlaceInOrder | undefined;
  readonly list: string;
  readonly filters: Filters;
}

/** Reads the query parameters of a scan as {@link queryReader} does. */
export function scanReader<Filters extends object>(schema: SchemaObject): QueryReader<ScanRequest<Filters>> {
  const parametersOf = queryReader<Filters & { readonly Cursor?: string }>(schema);
  const read = (query: string, asked: string) => {
    const { Cursor, ...filters } = parametersOf(query, asked);
    const list = JSON.stringify([asked, Object.entries(filters)]);
    const after = Cursor === undefined ? undefined : placeOf(list, Cursor);
    return { after, list, filters: filters as unknown as Filters };
  };
  return Object.assign(read, { schema });
}

/** Refuses some parameters, in any case; reads the others as `reader` does. `why`: the rest of the refusal. */
export function readerWithout<Parameters>(
  reader: QueryReader<Parameters>, names: readonly string[], why: string,
): QueryReader<Parameters> {
  const refused = new Set(names.map((name) => name.toLowerCase()));
  const read = (query: string, asked: string) => {
    for (const name of new URLSearchParams(query).keys()) {
      if (refused.has(name.toLowerCase())) refuse("invalid", `${name}: ${why}`);
    }
    return reader(query, asked);
  };
  return Object.assign(read, { schema: reader.schema });
}

interface ParameterSchema {
  readonly type: string;
  readonly "x-commas"?: boolean;
}

/** Reads parameters by their schema; a Refusal (invalid) names one that is repeated, empty, misspelt or not valid. */
export function queryReader<Parameters>(schema: SchemaObject): QueryReader<Parameters> {
  const validate = validator<Parameters>(schema);
  const properties = Object.entries(schema["properties"] as Readonly<Record<string, ParameterSchema>>);
  const spellings = new Map(properties.map(([name]) => [name.toLowerCase(), name]));
  const read = (query: string) => {
    const given = new URLSearchParams(query);
    for (const name of given.keys()) {
      const known = spellings.get(name.toLowerCase()) ?? name;
      // Ignored, a filter would filter nothing.
      if (name !== known) refuse("invalid", `${name}: must be spelt ${known}`);
    }
    const values: Record<string, string | number | boolean | readonly string[]> = {};
    for (const [name, { type, "x-commas": isOneText }] of properties) {
      const texts = given.getAll(name);
      const [text] = texts;
      if (text === undefined) continue;
      const isRepeated = type === "array" && !isOneText;
      if (texts.length > 1 && !isRepeated) refuse("invalid", `${name}: must be given once`);
      const items = isOneText ? text.split(",") : texts;
      if (items.includes("")) refuse("invalid", `${name}: must not be empty`);
      values[name] = type === "array" ? items : name === "TpOrd" ? capitalised(text) : valueOf(type, text);
    }
    return validate(values);
  };
  return Object.assign(read, { schema });
}

function valueOf(type: string, text: string): number | boolean | string {
  if (type === "integer" && /^-?\d{1,15}$/.test(text)) return Number(text);
  if (type === "boolean" && ["true", "false"].includes(text)) return text === "true";
  return text;
}

function capitalised(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1).toLowerCase();
}
