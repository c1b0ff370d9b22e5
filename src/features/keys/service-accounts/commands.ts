import type { Inputs } from "../../../../schemas/api.ts";
import { ownOf } from "../../../kernel/callers/access.ts";
import type { Caller } from "../../../kernel/callers/caller.ts";
import { cleanName, parseOptionalDateTime } from "../../../kernel/callers/input-rules.ts";
import type { DataOf } from "../../../kernel/domain/domain-event.ts";
import { refuse } from "../../../kernel/domain/refusal.ts";
import { rolesByCode, type RoleCode } from "../../../kernel/domain/roles.ts";
import type { KernelParts } from "../../../kernel/kernel-parts.ts";
import type { Origin } from "../../../kernel/log/origin.ts";
import { timestampNow } from "../../../kernel/ports/clock.ts";
import { secretToken, sha256 } from "../../../kernel/tools/hashing.ts";
import { successorEnd } from "../rotation.ts";
import { decide, type ServiceAccountOrder } from "./decide.ts";
import { serviceAccounts, type ServiceAccount, type ServiceAccountEvent, type ServiceRole } from "./facts.ts";
import {
  serviceKeyView, type ServiceAccountView, type CreatedServiceKeyView, type ServiceAccountQueries,
} from "./queries.ts";

type ServiceRoleCode = Exclude<RoleCode, 10>;

type Issued = DataOf<ServiceAccountEvent, "ServiceKeyIssued">;

const prefix = "rsk_";

/** Commands on service accounts and their keys. */
export class ServiceAccountCommands {
  readonly #parts;

  constructor(parts: Pick<KernelParts, "aggregates" | "clock" | "ids"> & { readonly queries: ServiceAccountQueries }) {
    this.#parts = parts;
  }

  async create(caller: Caller, input: Inputs["createServiceAccount"], origin: Origin): Promise<ServiceAccountView> {
    const name = cleanName("name", input.name);
    const serviceAccountId = this.#parts.ids.uuid();
    const account = { serviceAccountId, tenantId: caller.tenantId, name, role: roleOf(input.role) };
    const active = input.status !== "inactive";
    await this.#carryOut(caller, serviceAccountId, { type: "CreateServiceAccount", account, active }, origin);
    return this.#parts.queries.get(caller, serviceAccountId);
  }

  async change(
    caller: Caller, id: string, input: Inputs["updateServiceAccount"], origin: Origin,
  ): Promise<ServiceAccountView> {
    const name = input.name === undefined ? undefined : cleanName("name", input.name);
    const role = input.role === undefined ? undefined : roleOf(input.role);
    const active = input.status && input.status === "active";
    await this.#own(caller, id);
    await this.#carryOut(caller, id, { type: "ChangeServiceAccount", name, role, active }, origin);
    return this.#parts.queries.get(caller, id);
  }

  /** Deletes a service account for good, and revokes all its keys. Throws a Refusal (not-found, forbidden). */
  async remove(caller: Caller, id: string, origin: Origin): Promise<void> {
    await this.#own(caller, id);
    await this.#carryOut(caller, id, { type: "DeleteServiceAccount" }, origin);
  }

  /** Issues a key, shown only here. Throws a Refusal (invalid, not-found, forbidden, rejected). */
  async issueKey(
    caller: Caller, id: string, input: Inputs["createServiceKey"], origin: Origin,
  ): Promise<CreatedServiceKeyView> {
    const name = cleanName("name", input.name);
    const expiresAt = parseOptionalDateTime("expiresAt", input.expiresAt) ?? null;
    if (expiresAt !== null && expiresAt <= timestampNow(this.#parts.clock)) {
      refuse("invalid", "expiresAt: lies in the past");
    }
    const { tenantId } = await this.#own(caller, id);
    const { secret, key } = this.#fresh({ name, scopes: input.scopes ? [...input.scopes] : null, expiresAt });
    const at = await this.#carryOut(caller, id, { type: "IssueServiceKey", key }, origin);
    return shownOnce({ ...key, serviceAccountId: id, tenantId, at }, secret);
  }

  /** Issues a key in place of another one, which ends after an overlap. Throws a Refusal as {@link issueKey} does. */
  async rotateKey(
    caller: Caller, id: string, keyId: string, { overlapSeconds }: Inputs["rotateServiceKey"], origin: Origin,
  ): Promise<CreatedServiceKeyView> {
    const { tenantId, keys } = await this.#own(caller, id);
    const old = keys.get(keyId) ?? refuse("not-found", "service key not found");
    const expiresAt = successorEnd(old, timestampNow(this.#parts.clock));
    const { name, scopes } = old;
    const { secret, key: successor } = this.#fresh({ name, scopes: scopes && [...scopes], expiresAt });
    const order = { type: "RotateServiceKey", keyId, successor, overlapSeconds } as const;
    const at = await this.#carryOut(caller, id, order, origin);
    return shownOnce({ ...successor, serviceAccountId: id, tenantId, at }, secret);
  }

  async revokeKey(caller: Caller, id: string, keyId: string, origin: Origin): Promise<void> {
    await this.#own(caller, id);
    await this.#carryOut(caller, id, { type: "RevokeServiceKey", keyId }, origin);
  }

  #own(caller: Caller, id: string): Promise<ServiceAccount> {
    return ownOf(this.#parts.aggregates, serviceAccounts, id, caller, "service account");
  }

  #fresh(settings: Pick<Issued, "name" | "scopes" | "expiresAt">) {
    const { ids } = this.#parts;
    const secret = secretToken(ids, prefix);
    const key = { ...settings, keyId: ids.uuid(), keyHash: sha256(secret), prefix, last4: secret.slice(-4) };
    return { secret, key };
  }

  async #carryOut(by: Caller, id: string, order: ServiceAccountOrder, origin: Origin): Promise<string> {
    const at = timestampNow(this.#parts.clock);
    await this.#parts.aggregates.change(serviceAccounts, id, origin, (state) =>
      decide(state, { ...order, by, at }));
    return at;
  }
}

function roleOf(code: ServiceRoleCode): ServiceRole {
  return rolesByCode[code];
}

function shownOnce(issued: Issued, key: string): CreatedServiceKeyView {
  return { ...serviceKeyView(issued), prefix, scopes: issued.scopes && [...issued.scopes], key };
}
