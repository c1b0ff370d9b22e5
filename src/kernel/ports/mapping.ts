/** The result of a mapping: the mapped JSON text, or why there is none. */
export type Mapped = { readonly text: string } | { readonly problem: string };

/**
 * Mappings written by tenants, run where they can delay their own tenant only. Both methods throw a Refusal
 * (unavailable) when too many calls of the tenant, or of all tenants, wait already.
 */
export interface Mappings {
  /** Why the expression cannot be a mapping, or null when it compiles. */
  problemOf(tenantId: string, expression: string): Promise<string | null>;
  /**
   * Maps the text of a JSON object. The outcome is a problem when the expression fails on it, yields no object, or
   * goes beyond its bounds of time, memory, size or depth.
   */
  apply(tenantId: string, expression: string, payload: string): Promise<Mapped>;
}
