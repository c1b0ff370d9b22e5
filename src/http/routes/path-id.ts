import { uuidOf } from "../identifiers.ts";
import type { Exchange } from "../route.ts";

/** The id in the path, as {@link uuidOf} takes it. */
export function pathId({ params }: Exchange): string {
  return uuidOf(params["id"] ?? "");
}
