import type { SecretEnd } from "../../src/kernel/domain/signing-secrets.ts";
import type { Change, Collection } from "../../src/kernel/ports/read-models.ts";
import { put, remove, type Projection } from "../projection.ts";

/** A tenant or destination with older secrets that still sign, and the first of their ends. */
export type SecretEndDocument = {
  /** The id of the tenant, or of the destination. */
  readonly id: string;
  readonly tenantId: string;
  /** Null where the secrets are the tenant's. */
  readonly destinationId: string | null;
  readonly expiresAt: string;
};

/** Ends of secrets that are to be recorded: few. */
export const secretEnds: Collection<SecretEndDocument> = {
  name: "secretEnds",
  key: "id",
  fields: { id: "id", tenantId: "id", destinationId: "id", expiresAt: "time" },
  indexes: [["expiresAt"]],
};

function firstEnd(tenantId: string, destinationId: string | null, ends: readonly string[]): Change[] {
  const id = destinationId ?? tenantId;
  const [expiresAt] = [...ends].sort();
  if (expiresAt === undefined) return [remove(secretEnds, id)];
  return [put(secretEnds, { id, tenantId, destinationId, expiresAt })];
}

function ofTenant({ tenantId, previous }: {
  readonly tenantId: string; readonly previous?: readonly SecretEnd[];
}): Change[] {
  return firstEnd(tenantId, null, endsOf(previous));
}

function ofDestination({ tenantId, destinationId, previous, tenantSecretUntil }: {
  readonly tenantId: string; readonly destinationId: string; readonly previous?: readonly SecretEnd[];
  readonly tenantSecretUntil?: string;
}): Change[] {
  return firstEnd(tenantId, destinationId, [...endsOf(previous), tenantSecretUntil ?? []].flat());
}

function endsOf(previous: readonly SecretEnd[] = []): readonly string[] {
  return previous.map(({ expiresAt }) => expiresAt);
}

function none({ destinationId }: { readonly destinationId: string }): Change[] {
  return [remove(secretEnds, destinationId)];
}

/** Tracks the ends of older secrets, for the sweeper. */
export const secretEndsProjection: Projection = {
  name: "secretEnds",
  version: 1,
  collections: [secretEnds],
  on: {
    WebhookSecretRegenerated: ofTenant,
    WebhookSecretsExpired: ofTenant,
    DestinationSecretReplaced: ofDestination,
    DestinationSecretsExpired: ofDestination,
    DestinationSecretRemoved: none,
    DestinationDeleted: none,
  },
};
