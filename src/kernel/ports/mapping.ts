/** The result of a mapping: the mapped JSON text, or why there is none. */
export type Mapped = { readonly text: string } | { readonly problem: string };

/** Mappings written by tenants. Both methods throw a Refusal (unavailable) when too many calls wait. */
export interface Mappings {
  /** Why the expression cannot be a mapping, or null when it compiles. */
  problemOf(tenantId: string, expression: string): Promise<string | null>;
  /** Maps the text of a JSON object; a problem where that fails, yields no object, or goes beyond its bounds. */
  apply(tenantId: string, expression: string, payload: string): Promise<Mapped>;
}
