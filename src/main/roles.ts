import { Leadership, type LeadershipParts } from "../kernel/workers/leadership.ts";
import type { Role } from "../kernel/workers/loop.ts";
import type { Engines } from "./engines/engines.ts";
import type { Projector } from "./engines/projector.ts";

/** Roles that run in one process at a time, by the names of their leases. */
export const singleRoles = ["projector", "forwarder", "sweeper", "delivery"] as const;
/** Names a single role in its lease and in the metrics (`relay_role_active`). */
export type SingleRole = (typeof singleRoles)[number];

/** The parts that a single role needs among other processes. */
export interface SingleParts extends LeadershipParts {
  readonly shared: Engines["shared"];
  /** The id of this process. */
  readonly owner: string;
}

/**
 * A single role: behind a lease where other processes may share the expiring state. Where the expiring state is this
 * process's own, the role runs at once: this must then be the only process, even where the log is not embedded
 * (docs/operating/engines.md).
 */
export function single(name: SingleRole, parts: SingleParts, begin: () => Role): Role {
  return parts.shared.readModels ? new Leadership(parts, { name, owner: parts.owner }, begin) : begin();
}

/** Projecting the log, by one process at a time. */
export function projectingRole(parts: SingleParts & { readonly projector: Projector }): Role {
  const { projector } = parts;
  return single("projector", parts, () => ({ start: () => projector.follow(), stop: () => projector.pause() }));
}
