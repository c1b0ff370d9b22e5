import type { ProcessRole } from "../config/config.ts";
import type { EngineWatch } from "./engine-watch.ts";
import type { Engines } from "./engines/engines.ts";

interface Signs {
  /** An engine of this process's own has failed for good. */
  readonly broken: boolean;
  readonly engines: Pick<Engines, "watched">;
  readonly watch: Pick<EngineWatch, "answers">;
  readonly following: { readonly fresh: boolean };
  readonly roles: ReadonlySet<ProcessRole>;
}

/**
 * Null when this process can do its work, else why not. Requests need the log and the read models, not the queue: an
 * event that is accepted meanwhile is delivered later.
 */
export function readiness({ broken, engines, watch, following, roles }: Signs): string | null {
  if (broken) return "an engine has failed";
  const needed = engines.watched.filter(({ isQueue }) => !isQueue || !roles.has("api"));
  const away = needed.filter((engine) => !watch.answers(engine));
  if (away.length > 0) return away.map(({ name, awayText }) => awayText ?? `no answer from ${name}`).join(", ");
  return following.fresh ? null : "the log is not followed";
}
