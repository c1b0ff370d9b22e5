import { refuse } from "../../domain/refusal.ts";
import { uuidOf } from "../identifiers.ts";
import type { Exchange } from "../route.ts";

/** The id in the path, in lower case. What is not a UUID names nothing: a Refusal (not-found). */
export function pathId({ params }: Exchange, thing: string): string {
  return uuidOf(params["id"] ?? "") ?? refuse("not-found", `${thing} not found`);
}
