import type { Inputs } from "../../../../schemas/api.ts";
import type { Session } from "../../../kernel/callers/caller.ts";
import { checkPassword } from "../../../kernel/callers/input-rules.ts";
import { clientNetwork } from "../../../kernel/domain/ipv6.ts";
import { refuse } from "../../../kernel/domain/refusal.ts";
import { streams } from "../../../kernel/domain/streams.ts";
import { nilUuid } from "../../../kernel/domain/uuid.ts";
import type { KernelParts } from "../../../kernel/kernel-parts.ts";
import type { Aggregates } from "../../../kernel/log/aggregates.ts";
import type { Origin } from "../../../kernel/log/origin.ts";
import { sleep, timestampNow } from "../../../kernel/ports/clock.ts";
import type { RateLimit } from "../../../kernel/ports/expiring-state.ts";
import { addressOwner, tenantOwner } from "../../../kernel/ports/passwords.ts";
import type { LoginResult } from "../../../kernel/ports/telemetry.ts";
import type { PlatformKeys } from "../../../kernel/sealing/platform-keys.ts";
import { LogThrottle } from "../../../kernel/tools/log-throttle.ts";
import { decide } from "../../tenants/decide.ts";
import { ownTenant, type Tenant, type User, tenants } from "../../tenants/facts.ts";
import type { Reservations } from "../../tenants/reservations/reservations.ts";
import type { People } from "../persons/people.ts";
import { userView, type UserView } from "../users/queries.ts";
import type { IssuedToken, Sessions } from "./sessions.ts";

/** A fresh token and its user. */
export type SignedIn = IssuedToken & { readonly user: UserView };

interface LoginOptions {
  /** Failed attempts per client network and per email; null for no limit. */
  readonly limit: RateLimit | null;
  /** How long a login that fails takes at least, ms; see {@link failedLoginMs}. */
  readonly failedMs: number;
}

/** The time assumed for finding a user, ms: for a known email a tenant may have to be read, else there is none. */
const lookupMs = 200;
/** The time assumed for a password check at this cost, ms; each step of the cost doubles it. */
const checkMs = { atCost: 12, ms: 300 } as const;

/** How long a failed login takes at least, ms, at this cost of passwords: more than finding a user and one check do. */
export function failedLoginMs(passwordCost: number): number {
  return Math.ceil(lookupMs + checkMs.ms * 2 ** (passwordCost - checkMs.atCost));
}

const wrongPassword = "currentPassword: is wrong";

interface Found {
  readonly tenant: Tenant;
  readonly user: User;
}

/** Trades an email and a password for a session. */
export class Login {
  readonly #parts;
  readonly #limit: RateLimit | null;
  readonly #failedMs: number;
  readonly #failures: LogThrottle;

  constructor(
    parts: Pick<KernelParts, "state" | "aggregates" | "passwords" | "clock" | "logger" | "metrics">
      & {
        readonly keys: PlatformKeys; readonly reservations: Reservations; readonly people: People;
        readonly sessions: Sessions;
      },
    { limit, failedMs }: LoginOptions,
  ) {
    this.#parts = parts;
    this.#limit = limit;
    this.#failedMs = failedMs;
    this.#failures = new LogThrottle(parts.clock);
  }

  /** An access token for the user of this email and password. Throws a Refusal (unauthenticated, too-many). */
  async login(email: string, password: string, address: string): Promise<SignedIn> {
    return this.#opened(await this.#found(email, password, address), "issue");
  }

  /** Gives a user another password, and ends other sessions. Wrong ones count as failed logins. Throws a Refusal. */
  async changePassword(
    session: Session, { currentPassword, newPassword }: Inputs["changePassword"], origin: Origin, address: string,
  ): Promise<void> {
    checkPassword("newPassword", newPassword);
    const { aggregates, passwords, sessions, clock } = this.#parts;
    const { tenantId, userId } = session;
    const tenant = await ownTenant(aggregates, session);
    const { emailHash, passwordHash: replaced } = tenant.users.get(userId) ?? refuse("not-found", "user not found");
    const found = await this.#foundByHash(emailHash, currentPassword, address);
    if (found?.user.id !== userId) refuse("invalid", wrongPassword);
    const passwordHash = await passwords.hash(newPassword, tenantOwner(tenantId));
    let sessionVersion = 0;
    await aggregates.change(tenants, tenantId, origin, (state) => {
      const user = state?.users.get(userId);
      if (user?.passwordHash !== replaced) refuse("invalid", wrongPassword);
      sessionVersion = user.sessionVersion + 1;
      return decide(state, { type: "ChangeUser", by: session, userId, passwordHash, at: timestampNow(clock) });
    });
    await sessions.keep(session, sessionVersion);
    await sessions.endOlder(tenantId, userId);
  }

  /** A token for the cookie of the user's browser. Throws as {@link login} does. */
  async signIn(email: string, password: string, address: string): Promise<SignedIn> {
    return this.#opened(await this.#found(email, password, address), "issueToBrowser");
  }

  async #opened({ tenant, user }: Found, issue: "issue" | "issueToBrowser"): Promise<SignedIn> {
    const { people, sessions, metrics } = this.#parts;
    const shown = userView(tenant.id, user, await people.open(tenant, user.id, user.email));
    const token = await sessions[issue](tenant.id, user);
    metrics.login("succeeded");
    return { ...token, user: shown };
  }

  async #found(email: string, password: string, address: string): Promise<Found> {
    const found = await this.#foundByHash(await this.#parts.keys.emailHash(email), password, address);
    return found ?? refuse("unauthenticated", "email or password is wrong");
  }

  /** The user of this email and password. All failures get one answer after the same time. */
  async #foundByHash(hash: string, password: string, address: string): Promise<Found | undefined> {
    const { state, clock } = this.#parts;
    const failsAt = clock.monotonic() + this.#failedMs;
    const counters = [`login:address:${clientNetwork(address)}`, `login:email:${hash}`];
    const slot = this.#limit && (await state.admit(counters, this.#limit));
    if (this.#limit && !slot) {
      this.#failed("throttled", address);
      refuse("too-many", "too many failed logins; try again later");
    }
    const found = await this.#check(hash, password, address).catch(async (error: unknown) => {
      // The password was not checked, so the attempt does not count.
      if (slot) await state.forgive(slot);
      await this.#waitUntil(failsAt);
      throw error;
    });
    if (!found) {
      this.#failed("refused", address);
      await this.#waitUntil(failsAt);
      return undefined;
    }
    if (slot) await state.forgive(slot);
    return found;
  }

  /** Logs where failed logins come from. */
  #failed(result: Exclude<LoginResult, "succeeded">, address: string): void {
    const { logger, metrics } = this.#parts;
    metrics.login(result);
    const network = clientNetwork(address);
    this.#failures.tell(
      network,
      () => logger.warn({ address, result }, "a login failed"),
      (from, logins) => logger.warn({ address: from === network ? network : "many", logins }, "more logins failed"),
    );
  }

  async #waitUntil(moment: number): Promise<void> {
    const { clock } = this.#parts;
    const left = moment - clock.monotonic();
    if (left > 0) await sleep(clock, left);
  }

  async #check(hash: string, password: string, address: string): Promise<Found | undefined> {
    const { passwords } = this.#parts;
    const found = await userByEmail(this.#parts, hash);
    const passwordHash = found?.user.passwordHash ?? passwords.nobody;
    // The owner is not the tenant: the wait would tell whether the email exists.
    const matches = await passwords.matches(password, passwordHash, addressOwner(address));
    return matches && found?.user.status === "Active" ? found : undefined;
  }
}

/** The user whose email has this hash, or undefined. It takes longer where the tenant is not in memory yet. */
export async function userByEmail(
  { reservations, aggregates }: { readonly reservations: Reservations; readonly aggregates: Aggregates },
  hash: string,
): Promise<{ readonly tenant: Tenant; readonly user: User } | undefined> {
  const holder = (await reservations.find(streams.email(hash)))?.holder;
  // For an unknown email a tenant that does not exist is read, in the time of a known one in memory.
  const { state: tenant } = await aggregates.current(tenants, holder?.tenantId ?? nilUuid);
  const user = tenant?.users.get(holder?.userId ?? "");
  return tenant && user?.emailHash === hash ? { tenant, user } : undefined;
}
