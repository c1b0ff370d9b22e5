import type { Inputs } from "../../../../schemas/api.ts";
import { requireOwn } from "../../../kernel/callers/access.ts";
import type { Caller } from "../../../kernel/callers/caller.ts";
import { cleanName, parseOptionalDateTime } from "../../../kernel/callers/input-rules.ts";
import { refuse } from "../../../kernel/domain/refusal.ts";
import { requireRole } from "../../../kernel/domain/roles.ts";
import type { KernelParts } from "../../../kernel/kernel-parts.ts";
import type { Origin } from "../../../kernel/log/origin.ts";
import { timestampNow } from "../../../kernel/ports/clock.ts";
import { secretToken, sha256 } from "../../../kernel/tools/hashing.ts";
import { apiKeys, decide, type ApiKeyCommand } from "./decide.ts";
import { apiKeyView, type CreatedApiKeyView } from "./queries.ts";

const prefix = "rk_";

/** Commands on API keys. */
export class ApiKeyCommands {
  readonly #parts;

  constructor(parts: Pick<KernelParts, "aggregates" | "clock" | "ids">) {
    this.#parts = parts;
  }

  /** Issues a key, shown only here. Throws a Refusal (invalid, forbidden). */
  async issue(caller: Caller, input: Inputs["createApiKey"], origin: Origin): Promise<CreatedApiKeyView> {
    const { aggregates, clock, ids } = this.#parts;
    const name = cleanName("name", input.name);
    const expiresAt = parseOptionalDateTime("expiresAt", input.expiresAt) ?? null;
    const keyId = ids.uuid();
    const apiKey = secretToken(ids, prefix);
    const { tenantId } = caller;
    const key = { keyId, tenantId, name, keyHash: sha256(apiKey), prefix, last4: apiKey.slice(-4), expiresAt };
    const command: ApiKeyCommand = { type: "IssueApiKey", key, at: timestampNow(clock) };
    decide(undefined, command);
    requireRole(caller, "Developer", "issue API keys");
    await aggregates.change(apiKeys, keyId, origin, (state) => decide(state, command));
    return { ...apiKeyView({ ...key, at: command.at }), prefix, apiKey };
  }

  async revoke(caller: Caller, id: string, origin: Origin): Promise<void> {
    const { aggregates, clock } = this.#parts;
    const { state } = await aggregates.current(apiKeys, id);
    if (!state || state.revoked) refuse("not-found", "API key not found");
    requireOwn(state, caller, "API key");
    requireRole(caller, "Developer", "revoke API keys");
    const at = timestampNow(clock);
    await aggregates.change(apiKeys, id, origin, (current) => decide(current, { type: "RevokeApiKey", at }));
  }
}
