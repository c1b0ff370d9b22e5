import type { SchemaObject } from "ajv/dist/2020.js";
import everyList from "../../../schemas/requests/list.json" with { type: "json" };
import { refuse } from "../domain/refusal.ts";
import { isClosed } from "./body-reader.ts";
import type { Operation } from "./operation.ts";
import { shownName } from "./validate.ts";

/** Refuses query parameters that filter elsewhere: an operation that ignored them would act on more than asked. */
export function queryGuard(
  operations: readonly Operation[], { query: own, body }: Operation,
): (query: string) => void {
  const foreign = new Set(operations.flatMap(({ query }) => namesOf(query?.schema)));
  for (const name of [...namesOf(everyList), ...namesOf(own?.schema)]) foreign.delete(name);
  const isOnlyInBody = body !== undefined && isClosed(body.schema);
  return (query) => {
    if (query === "") return;
    for (const name of new URLSearchParams(query).keys()) {
      if (isOnlyInBody) refuse("invalid", `${shownName(name)}: must be in the body, not in the query`);
      if (foreign.has(name.toLowerCase())) refuse("invalid", `${name}: is no parameter of this operation`);
    }
  };
}

function namesOf(schema: SchemaObject | undefined): readonly string[] {
  return Object.keys((schema?.["properties"] ?? {}) as object).map((name) => name.toLowerCase());
}
