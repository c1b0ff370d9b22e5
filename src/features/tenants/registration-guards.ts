import { Refusal, refuse } from "../../kernel/domain/refusal.ts";
import { dayMs } from "../../kernel/domain/time.ts";
import type { DisposableDomains } from "../../kernel/ports/disposable-domains.ts";
import type { ExpiringState, RateLimit } from "../../kernel/ports/expiring-state.ts";
import type { OutboundClient } from "../../kernel/ports/outbound.ts";
import type { Instruments } from "../../kernel/ports/telemetry.ts";
import { sha256 } from "../../kernel/tools/hashing.ts";
import { LogThrottle } from "../../kernel/tools/log-throttle.ts";

/** A request to create a tenant, without an account; the last two fields are unchecked values of the body. */
export interface Registration {
  readonly ownerEmail: string;
  readonly address: string;
  readonly deviceFingerprint: unknown;
  readonly turnstileToken: unknown;
}

/** Guards the creation of a tenant. */
export interface RegistrationGuards {
  /** Lets `create` run or throws a Refusal (invalid, rejected, disposable-email, too-many). */
  guard<Created>(registration: Registration, create: () => Promise<Created>): Promise<Created>;
}

/** The self-hosted offering: any caller of the API may create a tenant. */
export const openRegistration: RegistrationGuards = { guard: (_registration, create) => create() };

const perFingerprint: RateLimit = { max: 3, windowMs: dayMs };
const longestFingerprint = 1_024;
/** The longest token by the documentation of Turnstile. */
const longestTurnstileToken = 2_048;
const verifyTimeoutMs = 10_000;
const keepBytes = 16_384;
/** Faults of this installation, not of the caller. */
const ownFaults: readonly string[] = ["missing-input-secret", "invalid-input-secret", "bad-request", "internal-error"];

/** The parts of the cloud offering's guards. */
export interface CloudGuardParts extends Instruments {
  readonly outbound: Pick<OutboundClient, "post">;
  readonly state: ExpiringState;
  readonly disposable: DisposableDomains;
}

interface TurnstileSettings {
  readonly verifyUrl: string;
  readonly secret: string;
  readonly userAgent: string;
}

/** The cloud offering's: no disposable address, a challenge that was passed, and 3 tenants a day from one device. */
export class CloudRegistrationGuards implements RegistrationGuards {
  readonly #parts: CloudGuardParts;
  readonly #settings: TurnstileSettings;
  readonly #unverified: LogThrottle;

  constructor(parts: CloudGuardParts, settings: TurnstileSettings) {
    this.#parts = parts;
    this.#unverified = new LogThrottle(parts.clock);
    this.#settings = settings;
  }

  async guard<Created>(registration: Registration, create: () => Promise<Created>): Promise<Created> {
    const { state, disposable } = this.#parts;
    const fingerprint = fingerprintOf(registration.deviceFingerprint);
    const token = turnstileTokenOf(registration.turnstileToken);
    if (disposable.has(registration.ownerEmail.split("@").at(-1) ?? "")) {
      refuse("disposable-email", "ownerEmail: addresses of this domain are disposable");
    }
    await this.#requireChallengeMet(token, registration.address);
    const keys = fingerprint === null ? [] : [`registration:fingerprint:${sha256(fingerprint)}`];
    const slot = await state.admit(keys, perFingerprint);
    if (!slot) refuse("too-many", "deviceFingerprint: too many tenants were made from this device; try again later");
    try {
      return await create();
    } catch (error) {
      // After a refusal there surely is no tenant that would count.
      if (error instanceof Refusal) await state.forgive(slot);
      throw error;
    }
  }

  /** Fails closed: a caller who cannot be verified is turned down. */
  async #requireChallengeMet(token: string | null, address: string): Promise<void> {
    if (token === null || token === "") refuse("rejected", "cfTurnstileToken: is required");
    if (token.length > longestTurnstileToken) refuse("rejected", "cfTurnstileToken: was not accepted");
    const { verifyUrl: url, secret, userAgent } = this.#settings;
    const answer = await this.#parts.outbound.post({
      url,
      headers: {
        "Content-Type": "application/x-www-form-urlencoded",
        Accept: "application/json",
        "User-Agent": userAgent,
      },
      body: new URLSearchParams({ secret, response: token, remoteip: address }).toString(),
      keepBytes,
      timeoutMs: verifyTimeoutMs,
    });
    const verdict = answer.answered && !answer.truncated ? verdictIn(answer.body) : undefined;
    if (verdict?.success === true && answer.answered && answer.statusCode === 200) return;
    const faults = ownFaults.filter((code) => verdict?.errors.includes(code));
    if (verdict?.success === false && faults.length === 0) refuse("rejected", "cfTurnstileToken: was not accepted");
    if (!answer.answered) this.#tell(`${answer.reason}: ${answer.error}`);
    else this.#tell(faults.join(", ") || `an answer of ${answer.statusCode} without a verdict`);
    refuse("rejected", "cfTurnstileToken: could not be verified; try again later");
  }

  /** No text of an answer is logged: it may hold the secret or the token. */
  #tell(reason: string): void {
    const { logger, metrics } = this.#parts;
    metrics.anomaly("turnstile");
    this.#unverified.tell(
      reason,
      () => logger.warn({ reason }, "a challenge could not be verified"),
      (reason, times) => logger.warn({ reason, times }, "more challenges could not be verified"),
    );
  }
}

function fingerprintOf(given: unknown): string | null {
  if (given === undefined || given === null || given === "") return null;
  if (typeof given !== "string") refuse("invalid", "deviceFingerprint: must be a string");
  if (given.length > longestFingerprint) {
    refuse("invalid", `deviceFingerprint: must be at most ${longestFingerprint} characters long`);
  }
  return given;
}

function turnstileTokenOf(given: unknown): string | null {
  if (given === undefined || given === null) return null;
  return typeof given === "string" ? given : refuse("invalid", "cfTurnstileToken: must be a string");
}

function verdictIn(body: Uint8Array): { readonly success: unknown; readonly errors: readonly unknown[] } | undefined {
  try {
    const { success, "error-codes": errors } = JSON.parse(Buffer.from(body).toString()) as Record<string, unknown>;
    return { success, errors: Array.isArray(errors) ? errors : [] };
  } catch {
    return undefined;
  }
}
