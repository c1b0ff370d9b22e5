import { refuse } from "../../domain/refusal.ts";
import { roles, type Role } from "../../domain/roles.ts";
import type { SessionEvent } from "../../domain/session/session.ts";
import { streams } from "../../domain/streams.ts";
import type { Tenant, User } from "../../domain/tenant/state.ts";
import { dayMs, millis, timestamp } from "../../domain/time.ts";
import type { Clock } from "../../ports/clock/clock.ts";
import { timestampNow } from "../../ports/clock/timestamp-now.ts";
import { noStream, RevisionConflict, type EventStore } from "../../ports/event-store.ts";
import type { ExpiringState } from "../../ports/expiring-state.ts";
import type { Ids } from "../../ports/ids.ts";
import type { SessionClaims, Tokens } from "../../ports/tokens.ts";
import { tenants } from "../aggregate-types.ts";
import type { Aggregates, Folded } from "../aggregates.ts";
import type { Caller } from "../caller.ts";
import type { PlatformKeys } from "../keys/platform-keys.ts";
import { entriesOf, type Origin } from "../origin.ts";

/** A signed-in user and the token that proves it. */
export interface Session extends Caller {
  readonly tokenId: string;
  /** ISO 8601 UTC. */
  readonly expiresAt: string;
}

/** A fresh access token. */
export interface IssuedToken {
  readonly accessToken: string;
  /** Seconds. */
  readonly expiresIn: number;
  readonly expiresAt: string;
}

interface SessionParts {
  readonly store: EventStore;
  readonly aggregates: Aggregates;
  readonly state: ExpiringState;
  readonly tokens: Tokens;
  readonly keys: PlatformKeys;
  readonly clock: Clock;
  readonly ids: Ids;
}

/** How long after its session's end a logout is remembered: a clock may be set back, and the token be good again. */
const rememberedMs = dayMs;
/** Above any version: all sessions of a user that was deleted are over. */
const allVersions = Number.MAX_SAFE_INTEGER;

const revocation = (tokenId: string) => `revoked:${tokenId}`;
const leastVersion = (userId: string) => `sessions:${userId}`;

/**
 * Sessions: signed tokens that name the user's session version. One is over when it expires, when it is
 * logged out, and when its user changes in a way that raised the version. The last two hold at once in every
 * process, through the expiring state all share.
 */
export class Sessions {
  readonly #parts: SessionParts;
  readonly #ttlMs: number;

  constructor(parts: SessionParts, options: { readonly ttlMs: number }) {
    this.#parts = parts;
    this.#ttlMs = options.ttlMs;
  }

  /** A token for a user who has logged in. */
  async issue(tenantId: string, user: User): Promise<IssuedToken> {
    const { tokens, keys, clock, ids } = this.#parts;
    const now = Math.floor(clock.now() / 1000) * 1000;
    const expiresIn = Math.ceil(this.#ttlMs / 1000);
    const expiresAt = timestamp(now + expiresIn * 1000);
    const claims: SessionClaims = {
      userId: user.id, tenantId, role: user.role, sessionVersion: user.sessionVersion,
      tokenId: ids.uuid(), issuedAt: timestamp(now), expiresAt,
    };
    return { accessToken: await tokens.sign(claims, (await keys.get()).tokenKey), expiresIn, expiresAt };
  }

  /** The session of an access token. Throws a Refusal (unauthenticated) for any that is not, or no longer, good. */
  async authenticate(accessToken: string): Promise<Session> {
    const { aggregates, state, tokens, keys, clock } = this.#parts;
    const claims = await tokens.verify(accessToken, (await keys.get()).tokenKey, clock.now());
    const role = roles.find((known) => known === claims?.role);
    if (!claims || !role) refuse("unauthenticated", "the access token is not valid");
    const { userId, tenantId, tokenId, sessionVersion, expiresAt } = claims;
    const [revoked, least] = await state.get([revocation(tokenId), leastVersion(userId)]);
    if (revoked != null || sessionVersion < Number(least ?? 0)) refuse("unauthenticated", "the session is over");
    const good = ({ state: tenant }: Folded<Tenant>) => isCurrent(tenant?.users.get(userId), sessionVersion, role);
    // The cached tenant may be older than the token: only the log itself can tell that the session is over.
    if (!good(await aggregates.read(tenants, tenantId)) && !good(await aggregates.current(tenants, tenantId))) {
      refuse("unauthenticated", "the session is over");
    }
    return { userId, tenantId, role, tokenId, expiresAt };
  }

  /** Ends one session, durably and at once everywhere. */
  async revoke({ userId, tenantId, tokenId, expiresAt }: Session, origin: Origin): Promise<void> {
    const { store, state, clock } = this.#parts;
    const at = timestampNow(clock);
    const event: SessionEvent = { type: "SessionRevoked", data: { tokenId, userId, tenantId, expiresAt, at } };
    try {
      await store.append(streams.session(tokenId), noStream, entriesOf([event], origin, this.#parts.ids));
    } catch (error) {
      if (!(error instanceof RevisionConflict)) throw error;
    }
    await state.put(revocation(tokenId), at, Math.max(millis(expiresAt) - clock.now(), 0) + rememberedMs);
  }

  /** Ends all sessions of a user that are not of its present version; of a user that was deleted, all. */
  async endOlder(tenantId: string, userId: string): Promise<void> {
    const { aggregates, state } = this.#parts;
    for (let written: string | undefined; ;) {
      const { state: tenant } = await aggregates.current(tenants, tenantId);
      const least = String(tenant?.users.get(userId)?.sessionVersion ?? allVersions);
      // This write may have replaced that of a higher version: it stands only if there is no higher one by now.
      if (least === written) return;
      await state.put(leastVersion(userId), least, this.#ttlMs + 60_000);
      written = least;
    }
  }
}

function isCurrent(user: User | undefined, sessionVersion: number, role: Role): boolean {
  return user?.status === "Active" && user.sessionVersion === sessionVersion && user.role === role;
}
