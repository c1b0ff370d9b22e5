import { parseOptionalDateTime } from "../../application/input-rules.ts";
import type { HistoryRequest } from "../../application/queries/history.ts";
import type { HistoryFilters } from "./list-queries.ts";
import type { ListRequest } from "./query-parameters.ts";

/** The part of a history that the parameters ask for. Throws a Refusal (invalid). */
export function historyRequest({ page, filters }: ListRequest<HistoryFilters>): HistoryRequest {
  const { Type: type, From, To } = filters;
  return { ...page, type, from: parseOptionalDateTime("From", From), to: parseOptionalDateTime("To", To) };
}
