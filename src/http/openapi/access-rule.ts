import type { Role } from "../../kernel/domain/roles.ts";
import type { Access } from "../../kernel/operations/access.ts";

/** Who may call an operation, as a paragraph of its description. */
export function accessRule({ role, serviceRole, scope }: Access): string {
  if (serviceRole === null) return `Role: ${least(role)}. Service keys: none; for users only.`;
  const roleOfKeys = serviceRole === role ? "" : `role ${least(serviceRole)}, and `;
  return `Role: ${least(role)}. Service keys: ${roleOfKeys}${keys(scope)}.`;
}

function least(role: Role): string {
  return role === "Viewer" ? "any" : role === "Owner" ? "Owner" : `${role} or above`;
}

function keys(scope: Access["scope"]): string {
  if (scope === null) return "those without scopes";
  return scope === "any" ? "all" : `those with the scope \`${scope}\`, or without scopes`;
}
