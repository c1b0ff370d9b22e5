import type { ProcessRole } from "./config/config.ts";
import type { EngineWatch } from "./engine-watch.ts";
import type { WatchedEngine } from "./engines/settings.ts";

interface Signs {
  readonly needed: readonly WatchedEngine[];
  readonly watch: Pick<EngineWatch, "answers" | "awayText">;
  readonly following: { readonly isFollowed: boolean };
}

/** Roles that cannot work without the queue. The API can: events accepted meanwhile are delivered later. */
const queueing: readonly ProcessRole[] = ["forwarder", "delivery", "sweeper"];

/** The engines without which a process with these roles is of no use. */
export function neededBy(
  roles: ReadonlySet<ProcessRole>, watched: readonly WatchedEngine[],
): readonly WatchedEngine[] {
  const needsQueue = !roles.has("api") && queueing.some((role) => roles.has(role));
  return watched.filter(({ isQueue }) => !isQueue || needsQueue);
}

/** Null when this process can do its work, else the reason why not. */
export function readiness({ needed, watch, following }: Signs): string | null {
  const away = needed.filter((engine) => !watch.answers(engine));
  if (away.length > 0) return away.map((engine) => watch.awayText(engine)).join(", ");
  return following.isFollowed ? null : "the log is not followed";
}
