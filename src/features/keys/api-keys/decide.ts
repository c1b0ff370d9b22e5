import type { DataOf } from "../../../kernel/domain/domain-event.ts";
import { refuse } from "../../../kernel/domain/refusal.ts";
import { streams } from "../../../kernel/domain/streams.ts";
import type { Timestamp } from "../../../kernel/domain/time.ts";
import type { AggregateType, Aggregates } from "../../../kernel/log/aggregates.ts";
import type { Origin } from "../../../kernel/log/origin.ts";
import { type Clock, timestampNow } from "../../../kernel/ports/clock.ts";
import { endOf, lifetimeOf, type Lifetime } from "../rotation.ts";
import type { ApiKeyEvent } from "./facts.ts";

/** An API key as folded from its own stream. */
export interface ApiKey {
  readonly id: string;
  readonly tenantId: string;
  readonly name: string;
  readonly keyHash: string;
  /** The key is not valid from this time on; null: it is until it is revoked. */
  readonly expiresAt: Timestamp | null;
  readonly lifetimeMs: Lifetime;
  readonly revoked: boolean;
  /** The latest use recorded in the key's own stream. */
  readonly usedAt: Timestamp | null;
}

/** Undefined before the key was issued; a revoked one stays, marked. */
export type ApiKeyState = ApiKey | undefined;

/** Commands to a key; `at` is their time, and that of the facts. */
export type ApiKeyCommand =
  | {
      readonly type: "IssueApiKey";
      readonly key: Omit<DataOf<ApiKeyEvent, "ApiKeyIssued">, "at">;
      readonly at: Timestamp;
    }
  /** Records the latest use before the event that shows it is purged. */
  | { readonly type: "RecordUse"; readonly usedAt: Timestamp; readonly at: Timestamp }
  /** Ends the key, `successorId` having been issued. */
  | {
      readonly type: "RotateApiKey";
      readonly successorId: string;
      readonly overlapSeconds: number;
      readonly at: Timestamp;
    }
  | { readonly type: "RevokeApiKey"; readonly at: Timestamp };

/** The facts that a command leads to; an empty list when it changes nothing. Throws a Refusal. */
export function decide(state: ApiKeyState, command: ApiKeyCommand): ApiKeyEvent[] {
  if (command.type === "IssueApiKey") {
    const { key, at } = command;
    if (state) refuse("conflict", "the API key exists already");
    if (key.expiresAt !== null && key.expiresAt <= at) refuse("invalid", "expiresAt: lies in the past");
    return [{ type: "ApiKeyIssued", data: { ...key, at } }];
  }
  if (command.type === "RecordUse") {
    const { usedAt, at } = command;
    if (!state || state.revoked || (state.usedAt !== null && state.usedAt >= usedAt)) return [];
    return [{ type: "ApiKeyUsed", data: { keyId: state.id, tenantId: state.tenantId, usedAt, at } }];
  }
  if (command.type === "RotateApiKey") {
    const { successorId, at } = command;
    // It ended while its successor was issued.
    if (!state || state.revoked) return [];
    const expiresAt = endOf(state, command);
    return [{ type: "ApiKeyRotated", data: { keyId: state.id, tenantId: state.tenantId, successorId, expiresAt, at } }];
  }
  if (!state || state.revoked) refuse("not-found", "API key not found");
  const { id: keyId, tenantId, keyHash } = state;
  return [{ type: "ApiKeyRevoked", data: { keyId, tenantId, keyHash, at: command.at } }];
}

/** Folds one fact in. */
export function evolve(state: ApiKeyState, event: ApiKeyEvent): ApiKeyState {
  if (event.type === "ApiKeyRevoked") return state && { ...state, revoked: true };
  if (event.type === "ApiKeyUsed") return state && { ...state, usedAt: event.data.usedAt };
  if (event.type === "ApiKeyRotated") return state && { ...state, expiresAt: event.data.expiresAt };
  const { keyId: id, tenantId, name, keyHash, expiresAt } = event.data;
  return {
    id, tenantId, name, keyHash, expiresAt, lifetimeMs: lifetimeOf(event.data), revoked: false, usedAt: null,
  };
}

/** Whether the key is valid at `now` (ISO 8601 UTC). */
export function isUsable(key: ApiKeyState, now: Timestamp): key is ApiKey {
  return key !== undefined && !key.revoked && (key.expiresAt === null || key.expiresAt > now);
}

export const apiKeys: AggregateType<ApiKey, ApiKeyEvent> = {
  category: "apiKey",
  stream: streams.apiKey,
  evolve,
};

/** Records a key's last use (ISO 8601 UTC) before its events are deleted, for read models built later. */
export async function recordUse(
  { aggregates, clock }: { readonly aggregates: Aggregates; readonly clock: Clock },
  keyId: string,
  usedAt: string,
  origin: Origin,
): Promise<void> {
  const at = timestampNow(clock);
  await aggregates.change(apiKeys, keyId, origin, (state) => decide(state, { type: "RecordUse", usedAt, at }));
}
