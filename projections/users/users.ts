import type { UserStatus } from "../../src/features/tenants/facts.ts";
import type { Role } from "../../src/kernel/domain/roles.ts";
import type { Change, Selection, Collection } from "../../src/kernel/ports/read-models.ts";
import { add, create, remove, set, type Projection } from "../projection.ts";

/** A user as the API shows it; the email is null once the person's key is gone. */
export type UserDocument = {
  readonly id: string;
  readonly tenantId: string;
  readonly email: string | null;
  readonly status: UserStatus;
  readonly role: Role;
  readonly createdAt: string;
  readonly updatedAt: string;
};

/** A deleted user whose addresses may still be readable. */
export type ForgettingDocument = {
  readonly userId: string;
  readonly tenantId: string;
  readonly deletedAt: string;
};

export const userSortFields = ["id", "email", "role", "status", "createdAt", "updatedAt"] as const;
type Sort = (typeof userSortFields)[number];
const filters: readonly (readonly Sort[])[] = [[], ["status"], ["role"], ["status", "role"]];

/** Users that are not deleted, with an index for each filter and sort field; each ends with the id. */
export const users: Collection<UserDocument> = {
  name: "users",
  key: "id",
  personal: true,
  fields: {
    id: "id",
    tenantId: "id",
    email: "text",
    status: "text",
    role: "text",
    createdAt: "time",
    updatedAt: "time",
  },
  indexes: [
    ["tenantId"],
    ...filters.flatMap((filter) => userSortFields
      .filter((sort) => sort !== "id" && !filter.includes(sort)).map((sort) => ["tenantId" as const, ...filter, sort])),
  ],
};

/** Filters of the list. */
export interface UserFilter {
  readonly tenantId: string;
  readonly status?: UserStatus | undefined;
  readonly role?: Role | undefined;
}

/** Selects users by a filter. */
export function usersSelected({ tenantId, status, role }: UserFilter): Selection {
  return { collection: users.name, where: { tenantId, ...(status && { status }), ...(role && { role }) } };
}

/** The counter of users that match a filter. */
export function usersCounter({ tenantId, status, role }: UserFilter): string {
  return `users/${tenantId}/${status ?? "*"}/${role ?? "*"}`;
}

function count(by: number, tenantId: string, status: UserStatus, role: Role): Change[] {
  const cells = [{}, { status }, { role }, { status, role }];
  return cells.map((cell) => add(usersCounter({ tenantId, ...cell }), by));
}

export const usersProjection: Projection = {
  name: "users",
  version: 2,
  collections: [users],
  on: {
    UserCreated: ({ tenantId, userId, email, role, at }) => [
      create(users, { id: userId, tenantId, email, status: "Active", role, createdAt: at, updatedAt: at }),
      ...count(1, tenantId, "Active", role),
    ],
    UserEmailChanged: ({ userId, email, at }) => [set(users, userId, { email, updatedAt: at })],
    UserPasswordChanged: ({ userId, at }) => [set(users, userId, { updatedAt: at })],
    UserRoleChanged: ({ tenantId, userId, from, role, status, at }) => [
      set(users, userId, { role, updatedAt: at }),
      ...count(-1, tenantId, status, from),
      ...count(1, tenantId, status, role),
    ],
    UserStatusChanged: ({ tenantId, userId, from, status, role, at }) => [
      set(users, userId, { status, updatedAt: at }),
      ...count(-1, tenantId, from, role),
      ...count(1, tenantId, status, role),
    ],
    UserDeleted: ({ tenantId, userId, role, status }) => [
      remove(users, userId),
      ...count(-1, tenantId, status, role),
    ],
  },
};

/** Deleted users whose keys may remain: few. */
export const forgetting: Collection<ForgettingDocument> = {
  name: "forgetting",
  key: "userId",
  fields: { userId: "id", tenantId: "id", deletedAt: "time" },
  indexes: [],
};

/** Records unfinished deletions, so that another process can finish them. */
export const forgettingProjection: Projection = {
  name: "forgetting",
  version: 1,
  collections: [forgetting],
  on: {
    UserDeleted: ({ userId, tenantId, at }) => [create(forgetting, { userId, tenantId, deletedAt: at })],
    UserForgotten: ({ userId }) => [remove(forgetting, userId)],
  },
};
