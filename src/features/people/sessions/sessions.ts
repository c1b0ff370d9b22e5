import type { Session } from "../../../kernel/callers/caller.ts";
import { refuse } from "../../../kernel/domain/refusal.ts";
import { roles, type Role } from "../../../kernel/domain/roles.ts";
import { streams } from "../../../kernel/domain/streams.ts";
import { dayMs, millis, timestamp, type Timestamp } from "../../../kernel/domain/time.ts";
import type { KernelParts } from "../../../kernel/kernel-parts.ts";
import type { Folded } from "../../../kernel/log/aggregates.ts";
import { entriesOf, type Origin } from "../../../kernel/log/origin.ts";
import { timestampNow } from "../../../kernel/ports/clock.ts";
import { noStream, RevisionConflict } from "../../../kernel/ports/event-store.ts";
import type { SessionClaims } from "../../../kernel/ports/tokens.ts";
import type { PlatformKeys } from "../../../kernel/sealing/platform-keys.ts";
import { tenants, type Tenant, type User } from "../../tenants/facts.ts";
import type { SessionEvent } from "./facts.ts";

/** A fresh token. */
export interface IssuedToken {
  readonly token: string;
  readonly expiresIn: number;
  readonly expiresAt: string;
}

/** How long after its session's end a logout is remembered: a clock may be set back, and the token be good again. */
const rememberedMs = dayMs;
/** How long after the password a browser's session can last at most, by renewals. */
const longestMs = 30 * dayMs;
/** Above any version: all sessions of a user that was deleted are over. */
const allVersions = Number.MAX_SAFE_INTEGER;

/** `id`: of a token, or of a browser's session. */
const revocation = (id: string) => `revoked:${id}`;
const leastVersion = (userId: string) => `sessions:${userId}`;
/** The version that a session was kept for, see {@link Sessions.keep}. */
const keptVersion = (sessionId: string) => `kept:${sessionId}`;

/** Sessions: signed tokens with the user's session version; a logout or a new version ends them everywhere. */
export class Sessions {
  readonly #parts;
  readonly #ttlMs: number;

  constructor(
    parts: Pick<KernelParts, "store" | "aggregates" | "state" | "tokens" | "clock" | "ids">
      & { readonly keys: PlatformKeys },
    options: { readonly ttlMs: number },
  ) {
    this.#parts = parts;
    this.#ttlMs = options.ttlMs;
  }

  /** An access token for a user who has logged in. */
  issue(tenantId: string, user: User): Promise<IssuedToken> {
    const id = this.#parts.ids.uuid();
    return this.#issue({ ...claimsOf(tenantId, user), tokenId: id, sessionId: id, passwordAt: null }, Infinity);
  }

  /** The token of a browser's session for a user who has given the password just now. */
  issueToBrowser(tenantId: string, user: User): Promise<IssuedToken> {
    const passwordAt = timestamp(this.#wholeSecond());
    const { ids } = this.#parts;
    const claims = { ...claimsOf(tenantId, user), tokenId: ids.uuid(), sessionId: ids.uuid(), passwordAt };
    return this.#issue(claims, latestEnd(passwordAt));
  }

  /** Renews the token of a browser's session, up to 30 days after the password. Throws a Refusal. */
  async renew(session: Session, origin: Origin): Promise<IssuedToken> {
    const { userId, tenantId, role, sessionId, sessionVersion, passwordAt } = session;
    if (passwordAt === null) refuse("unauthenticated", "Cookie: only the session of a browser can be renewed");
    const tokenId = this.#parts.ids.uuid();
    const claims = { userId, tenantId, role, tokenId, sessionId, sessionVersion, passwordAt };
    const issued = await this.#issue(claims, latestEnd(passwordAt));
    await this.#revoke(session.tokenId, session.expiresAt, session, origin);
    return issued;
  }

  /** The session of an access token. Throws a Refusal (unauthenticated) for any that is not, or no longer, good. */
  async authenticate(accessToken: string): Promise<Session> {
    const session = await this.#verified(accessToken);
    // A browser's cookie is none: it lasts as long as it is renewed.
    if (session?.passwordAt !== null) refuse("unauthenticated", "the access token is not valid");
    return this.#open(session);
  }

  /** The session of a browser's cookie. Throws a Refusal (unauthenticated) for any that is not, or no longer, good. */
  async authenticateBrowser(token: string): Promise<Session> {
    const session = await this.#verified(token);
    if (!session || session.passwordAt === null) refuse("unauthenticated", "Cookie: the session's cookie is not valid");
    return this.#open(session);
  }

  async #issue(
    claims: Omit<SessionClaims, "issuedAt" | "expiresAt">, latestMs: number,
  ): Promise<IssuedToken> {
    const { tokens, keys } = this.#parts;
    const now = this.#wholeSecond();
    const expiresIn = Math.ceil(Math.min(this.#ttlMs, latestMs - now) / 1000);
    const expiresAt = timestamp(now + expiresIn * 1000);
    const whole = { ...claims, issuedAt: timestamp(now), expiresAt };
    return { token: await tokens.sign(whole, (await keys.get()).tokenKey), expiresIn, expiresAt };
  }

  /** The present second, ms since 1970: claims are in whole seconds. */
  #wholeSecond(): number {
    return Math.floor(this.#parts.clock.now() / 1000) * 1000;
  }

  /** The session that a token proves, unless it has ended early; undefined where the token is not valid. */
  async #verified(token: string): Promise<Session | undefined> {
    const { tokens, keys, clock } = this.#parts;
    const claims = await tokens.verify(token, (await keys.get()).tokenKey, clock.now());
    const role = roles.find((known) => known === claims?.role);
    if (!claims || !role) return undefined;
    const { userId, tenantId, tokenId, sessionId, sessionVersion, expiresAt, passwordAt } = claims;
    return { userId, tenantId, role, tokenId, sessionId, sessionVersion, expiresAt, passwordAt };
  }

  async #open(session: Session): Promise<Session> {
    const { aggregates, state } = this.#parts;
    const { userId, tenantId, tokenId, sessionId, role } = session;
    const revocations = [...new Set([revocation(tokenId), revocation(sessionId)])];
    const [least, kept, ...revoked] = await state.get([leastVersion(userId), keptVersion(sessionId), ...revocations]);
    const sessionVersion = kept === null ? session.sessionVersion : Math.max(session.sessionVersion, Number(kept));
    const isRevoked = revoked.some((at) => at !== null);
    if (isRevoked || sessionVersion < Number(least ?? 0)) refuse("unauthenticated", "the session is over");
    const good = ({ state: tenant }: Folded<Tenant>) => isCurrent(tenant?.users.get(userId), sessionVersion, role);
    // The cached tenant may be older than the token: only the log itself can tell that the session is over.
    if (!good(await aggregates.read(tenants, tenantId)) && !good(await aggregates.current(tenants, tenantId))) {
      refuse("unauthenticated", "the session is over");
    }
    return { ...session, sessionVersion };
  }

  /** Ends one session with all its tokens, those of renewals under way too, durably and at once everywhere. */
  async revoke(session: Session, origin: Origin): Promise<void> {
    const { sessionId, expiresAt, passwordAt } = session;
    const end = passwordAt === null ? expiresAt : timestamp(latestEnd(passwordAt));
    await this.#revoke(sessionId, end, session, origin);
  }

  /** `id`: of a token, or of a browser's session. `expiresAt`: the latest end of a token that it covers. */
  async #revoke(id: string, expiresAt: Timestamp, { userId, tenantId }: Session, origin: Origin): Promise<void> {
    const { store, state, clock } = this.#parts;
    const at = timestampNow(clock);
    const event: SessionEvent = { type: "SessionRevoked", data: { tokenId: id, userId, tenantId, expiresAt, at } };
    try {
      await store.append(streams.session(id), noStream, entriesOf([event], origin, this.#parts.ids));
    } catch (error) {
      if (!(error instanceof RevisionConflict)) throw error;
    }
    await state.put(revocation(id), at, Math.max(millis(expiresAt) - clock.now(), 0) + rememberedMs);
  }

  /** Lets a session go on under a later version of its user, which ends the user's others. */
  async keep({ sessionId, expiresAt, passwordAt }: Session, sessionVersion: number): Promise<void> {
    const end = passwordAt === null ? millis(expiresAt) : latestEnd(passwordAt);
    const { state, clock } = this.#parts;
    await state.put(keptVersion(sessionId), String(sessionVersion), end - clock.now() + rememberedMs);
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

function latestEnd(passwordAt: Timestamp): number {
  return millis(passwordAt) + longestMs;
}

function claimsOf(tenantId: string, { id, role, sessionVersion }: User) {
  return { userId: id, tenantId, role, sessionVersion };
}

function isCurrent(user: User | undefined, sessionVersion: number, role: Role): boolean {
  return user?.status === "Active" && user.sessionVersion === sessionVersion && user.role === role;
}
