/** What became of a payload: the mapped JSON text, or why there is none. */
export type Mapped = { readonly text: string } | { readonly problem: string };

/**
 * Mappings written by tenants, run where they can hold up nobody but their own tenant. Both questions throw a
 * Refusal (unavailable) when too much of the tenant's, or of everybody's, waits already.
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
