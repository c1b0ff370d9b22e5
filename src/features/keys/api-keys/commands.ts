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
import { successorEnd } from "../rotation.ts";
import { apiKeys, decide, type ApiKey, type ApiKeyCommand } from "./decide.ts";
import { apiKeyView, type CreatedApiKeyView } from "./queries.ts";

const prefix = "rk_";

type Issue = Extract<ApiKeyCommand, { type: "IssueApiKey" }>;

/** A new key in clear, and the command that issues it. */
interface Fresh {
  readonly apiKey: string;
  readonly command: Issue;
}

/** Commands on API keys. */
export class ApiKeyCommands {
  readonly #parts;

  constructor(parts: Pick<KernelParts, "aggregates" | "clock" | "ids">) {
    this.#parts = parts;
  }

  /** Issues a key, shown only here. Throws a Refusal (invalid, forbidden). */
  async issue(caller: Caller, input: Inputs["createApiKey"], origin: Origin): Promise<CreatedApiKeyView> {
    const name = cleanName("name", input.name);
    const expiresAt = parseOptionalDateTime("expiresAt", input.expiresAt) ?? null;
    const fresh = this.#fresh({ tenantId: caller.tenantId, name, expiresAt }, timestampNow(this.#parts.clock));
    decide(undefined, fresh.command);
    requireRole(caller, "Developer", "issue API keys");
    return this.#issue(fresh, origin);
  }

  /** Issues a key in place of another one, which ends after an overlap. Throws a Refusal (not-found, forbidden). */
  async rotate(
    caller: Caller, id: string, { overlapSeconds }: Inputs["rotateApiKey"], origin: Origin,
  ): Promise<CreatedApiKeyView> {
    const old = await this.#own(caller, id, "rotate API keys");
    const at = timestampNow(this.#parts.clock);
    const { tenantId, name } = old;
    // The successor is first: a crash in between leaves the producer a key.
    const issued = await this.#issue(this.#fresh({ tenantId, name, expiresAt: successorEnd(old, at) }, at), origin);
    const command: ApiKeyCommand = { type: "RotateApiKey", successorId: issued.id, overlapSeconds, at };
    await this.#parts.aggregates.change(apiKeys, id, origin, (current) => decide(current, command));
    return issued;
  }

  async revoke(caller: Caller, id: string, origin: Origin): Promise<void> {
    const { aggregates, clock } = this.#parts;
    await this.#own(caller, id, "revoke API keys");
    const at = timestampNow(clock);
    await aggregates.change(apiKeys, id, origin, (current) => decide(current, { type: "RevokeApiKey", at }));
  }

  async #own(caller: Caller, id: string, act: string): Promise<ApiKey> {
    const { state } = await this.#parts.aggregates.current(apiKeys, id);
    if (!state || state.revoked) refuse("not-found", "API key not found");
    requireOwn(state, caller, "API key");
    requireRole(caller, "Developer", act);
    return state;
  }

  #fresh(settings: Pick<Issue["key"], "tenantId" | "name" | "expiresAt">, at: string): Fresh {
    const { ids } = this.#parts;
    const apiKey = secretToken(ids, prefix);
    const key = { ...settings, keyId: ids.uuid(), keyHash: sha256(apiKey), prefix, last4: apiKey.slice(-4) };
    return { apiKey, command: { type: "IssueApiKey", key, at } };
  }

  async #issue({ apiKey, command }: Fresh, origin: Origin): Promise<CreatedApiKeyView> {
    const { key, at } = command;
    await this.#parts.aggregates.change(apiKeys, key.keyId, origin, (state) => decide(state, command));
    return { ...apiKeyView({ ...key, at }), prefix, apiKey };
  }
}
