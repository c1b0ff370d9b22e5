import { AesSealing } from "../adapters/aes-sealing/aes-sealing.ts";
import { BcryptPasswords } from "../adapters/bcrypt/bcrypt-passwords.ts";
import { JwtTokens } from "../adapters/jose/jwt-tokens.ts";
import { SystemClock } from "../adapters/system/system-clock.ts";
import { SystemIds } from "../adapters/system/system-ids.ts";
import { serveAll } from "../application/aggregate-types.ts";
import { Aggregates } from "../application/aggregates.ts";
import { resetOwnerPassword } from "../application/commands/owner-password.ts";
import { KeyRotation } from "../application/key-rotation.ts";
import { PlatformKeys } from "../application/platform-keys.ts";
import { Reservations } from "../application/reservations.ts";
import { Sessions } from "../application/sessions.ts";
import { openEmbeddedEngines, type EmbeddedEngines } from "./engines/engines.ts";
import { erasureOf } from "./erasure.ts";
import { masterKeyOf, requireMasterKeys } from "./master-key.ts";
import type { RelaySettings } from "./relay.ts";

/** What an operator's command works with, on a data folder that no relay is using. */
export interface OperatorDesk extends EmbeddedEngines {
  readonly clock: SystemClock;
  readonly ids: SystemIds;
  readonly sealing: AesSealing;
  readonly aggregates: Aggregates;
  readonly keys: PlatformKeys;
  readonly rotation: KeyRotation;
}

const keptInMemory = 1_000;

/** Runs a command on the data folder by itself. Rejects when a relay is using it, or a master key is missing. */
export async function atDesk<Result>(
  { config, secrets, logger }: RelaySettings,
  command: (desk: OperatorDesk) => Promise<Result>,
): Promise<Result> {
  const clock = new SystemClock();
  const ids = new SystemIds();
  const masterKey = masterKeyOf(config, secrets, logger);
  const { oldMasterKeys } = secrets;
  const sealing = new AesSealing(masterKey, oldMasterKeys);
  const fail = (error: Error) => {
    throw error;
  };
  const metrics = { trouble: (of: string) => logger.warn({ of }, "trouble") };
  const engines = await openEmbeddedEngines({
    dataDir: config.dataDir, masterKey, oldMasterKeys, clock, logger, metrics, onFatal: fail,
  });
  try {
    const { store, readSide: { readModels } } = engines;
    const aggregates = new Aggregates(store, { clock, ids }, { max: keptInMemory });
    serveAll(aggregates);
    const keys = new PlatformKeys({ store, sealing, clock, ids });
    const rotation = new KeyRotation({ store, sealing, readModels, aggregates, clock, ids });
    await requireMasterKeys(rotation, keys);
    return await command({ ...engines, clock, ids, sealing, aggregates, keys, rotation });
  } finally {
    await engines.close();
  }
}

/** Re-wraps every key under the newest master key at once. Answers how many that were. */
export function rewrapKeys(settings: RelaySettings): Promise<number> {
  return atDesk(settings, async ({ readSide, rotation }) => {
    readSide.follow();
    const { rewrapped, left } = await rotation.finish(() => false);
    if (left > 0) throw new Error(`${left} keys cannot be re-wrapped: keep the old master keys`);
    return rewrapped;
  });
}

/**
 * Gives the Owner with this email a password, or one that is made where none is given; answers it. Rejects with what
 * is wrong with either.
 */
export function resetPassword(settings: RelaySettings, email: string, given: string | null): Promise<string> {
  return atDesk(settings, async (desk) => {
    const password = given ?? Buffer.from(desk.ids.secretBytes(18)).toString("base64url");
    const { accessTokenTtlMs, passwordCost } = settings.config;
    const { state } = desk.readSide;
    const passwords = new BcryptPasswords(passwordCost);
    const sessions = new Sessions({ ...desk, state, tokens: new JwtTokens() }, { ttlMs: accessTokenTtlMs });
    try {
      await resetOwnerPassword({ ...desk, reservations: new Reservations(desk), passwords, sessions }, email, password);
    } finally {
      await passwords.close();
    }
    return password;
  });
}

/** Erases a tenant, in the files too; answers how many streams it had. Rejects where there is no such tenant. */
export function eraseTenant(settings: RelaySettings, tenantId: string): Promise<number> {
  return atDesk(settings, async (desk) => {
    const erased = await erasureOf(desk).erase(tenantId);
    await desk.store.scrub();
    return erased;
  });
}
