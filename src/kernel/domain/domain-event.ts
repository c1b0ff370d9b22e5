import type { Timestamp } from "./time.ts";

/** A fact of the domain. `data` is plain JSON. */
export interface DomainEvent<Type extends string = string, Data extends object = object> {
  readonly type: Type;
  readonly data: Data;
}

/** The data of those facts that are of a type. */
export type DataOf<Event extends DomainEvent, Type extends Event["type"]> = Extract<Event, DomainEvent<Type>>["data"];

/** The author of a fact: a person, a machine, a visitor of the portal, a key, a newcomer, or a part of the service. */
export type Actor =
  | { readonly type: "user"; readonly id: string; readonly role: string }
  | { readonly type: "serviceAccount"; readonly id: string; readonly keyId: string }
  | { readonly type: "portalLink"; readonly id: string }
  | { readonly type: "apiKey"; readonly id: string }
  | { readonly type: "anonymous" }
  | { readonly type: "service"; readonly part: string };

/** The metadata of every stored fact: its cause and its time. */
export interface Metadata {
  readonly actor: Actor;
  /** The request through which it came, given back to the caller as `X-Request-Id`. */
  readonly correlationId: string;
  readonly causationId: string | null;
  readonly at: Timestamp;
  /** 128 random bits, base64url: no guess of an erased fact can be confirmed by its hash. Oldest facts have none. */
  readonly salt?: string;
  /** Of an accepted event: the producer's place in its distributed trace (W3C Trace Context), where it gave one. */
  readonly traceparent?: string;
}

/** The tenant that a fact is about; undefined where it is about none. A damaged fact may have no data: null. */
export function tenantOf({ data }: { readonly data: object | null }): string | undefined {
  return (data as { readonly tenantId?: string } | null)?.tenantId;
}
