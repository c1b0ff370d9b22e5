import { refuse } from "../refusal.ts";
import type { ApiKeyEvent } from "./events.ts";

export interface ApiKey {
  readonly id: string;
  readonly tenantId: string;
  readonly keyHash: string;
  readonly expiresAt: string | null;
  readonly revoked: boolean;
}

export type ApiKeyState = ApiKey | undefined;

export type ApiKeyCommand =
  | {
      readonly type: "IssueApiKey";
      readonly key: Omit<Extract<ApiKeyEvent, { type: "ApiKeyIssued" }>["data"], "at">;
      readonly at: string;
    }
  | { readonly type: "RevokeApiKey"; readonly at: string };

/** What a command changes. Throws a Refusal. */
export function decide(state: ApiKeyState, command: ApiKeyCommand): ApiKeyEvent[] {
  if (command.type === "IssueApiKey") {
    const { key, at } = command;
    if (state) refuse("conflict", "the API key exists already");
    if (key.expiresAt !== null && key.expiresAt <= at) refuse("invalid", "expiresAt: lies in the past");
    return [{ type: "ApiKeyIssued", data: { ...key, at } }];
  }
  if (!state || state.revoked) refuse("not-found", "API key not found");
  const { id: keyId, tenantId, keyHash } = state;
  return [{ type: "ApiKeyRevoked", data: { keyId, tenantId, keyHash, at: command.at } }];
}

/** Folds one fact in. */
export function evolve(state: ApiKeyState, event: ApiKeyEvent): ApiKeyState {
  if (event.type === "ApiKeyRevoked") return state && { ...state, revoked: true };
  const { keyId, tenantId, keyHash, expiresAt } = event.data;
  return { id: keyId, tenantId, keyHash, expiresAt, revoked: false };
}

/** Whether the key opens the door at `now` (ISO 8601 UTC). */
export function isUsable(key: ApiKeyState, now: string): key is ApiKey {
  return key !== undefined && !key.revoked && (key.expiresAt === null || key.expiresAt > now);
}
