import type { SecretEnd } from "../../src/kernel/domain/signing-secrets.ts";
import type { Change, Collection } from "../../src/kernel/ports/read-models.ts";
import { put, remove, type Projection } from "../projection.ts";

/** A tenant with older webhook secrets that still sign, and the first of their ends. */
export type SecretEndDocument = {
  /** The tenant's id. */
  readonly id: string;
  readonly tenantId: string;
  readonly expiresAt: string;
};

/** Ends of secrets that are to be recorded: few. */
export const secretEnds: Collection<SecretEndDocument> = {
  name: "secretEnds",
  key: "id",
  fields: { id: "id", tenantId: "id", expiresAt: "time" },
  indexes: [["expiresAt"]],
};

function firstEnd(id: string, tenantId: string, previous: readonly SecretEnd[] = []): Change[] {
  const [expiresAt] = previous.map((end) => end.expiresAt).sort();
  return [expiresAt === undefined ? remove(secretEnds, id) : put(secretEnds, { id, tenantId, expiresAt })];
}

/** Tracks the ends of older secrets, for the sweeper. */
export const secretEndsProjection: Projection = {
  name: "secretEnds",
  version: 1,
  collections: [secretEnds],
  on: {
    WebhookSecretRegenerated: ({ tenantId, previous }) => firstEnd(tenantId, tenantId, previous),
    WebhookSecretsExpired: ({ tenantId, previous }) => firstEnd(tenantId, tenantId, previous),
  },
};
