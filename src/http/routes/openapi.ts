import { apiDocument } from "../openapi/document.ts";
import type { Route } from "../route.ts";

/** The description of the API for machines, made once. */
export function openapiRoutes(): Route[] {
  const text = Buffer.from(JSON.stringify(apiDocument));
  return [
    {
      method: "GET",
      path: "/openapi.json",
      run: async () => ({ status: 200, text, type: "application/json; charset=utf-8" }),
    },
  ];
}
