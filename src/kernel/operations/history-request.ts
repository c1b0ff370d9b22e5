import type { SchemaObject } from "ajv/dist/2020.js";
import listHistory from "../../../schemas/requests/list-history.json" with { type: "json" };
import { histories, type HistoryName } from "../../features/facts.ts";
import { parseOptionalDateTime } from "../callers/input-rules.ts";
import type { HistoryRequest } from "../log/history.ts";
import { extended } from "./extended.ts";
import type { ListRequest } from "./query-parameters.ts";

/** Filters of a history, as given. */
interface HistoryFilters {
  readonly Type?: string;
  readonly From?: string;
  readonly To?: string;
}

/** The parameters of each history: its types are those of the facts that it can have. */
export const historyLists = Object.fromEntries(Object.entries(histories).map(([name, types]) => {
  const own = { $id: `${listHistory.$id}:${name}`, properties: { Type: { enum: types } } };
  return [name, extended(listHistory, own)];
})) as Readonly<Record<HistoryName, SchemaObject>>;

/** The part of a history that the parameters ask for. Throws a Refusal (invalid). */
export function historyRequest({ page, filters }: ListRequest<HistoryFilters>): HistoryRequest {
  const { Type: type, From, To } = filters;
  return { ...page, type, from: parseOptionalDateTime("From", From), to: parseOptionalDateTime("To", To) };
}
