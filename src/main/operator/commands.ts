import type { TenantDocument } from "../../../projections/tenants/tenants.ts";
import { AesSealing } from "../../engines/aes-sealing/aes-sealing.ts";
import { BcryptPasswords } from "../../engines/bcrypt/bcrypt-passwords.ts";
import { SystemClock } from "../../engines/system/system-clock.ts";
import { SystemIds } from "../../engines/system/system-ids.ts";
import { KeyRotation } from "../../features/key-rotation/key-rotation.ts";
import { serveAll } from "../../features/services.ts";
import type { CreatedTenant } from "../../features/tenants/commands.ts";
import { Aggregates } from "../../kernel/log/aggregates.ts";
import type { Instruments, Anomaly } from "../../kernel/ports/telemetry.ts";
import { PlatformKeys } from "../../kernel/sealing/platform-keys.ts";
import { openEngines, type Engines } from "../engines/engines.ts";
import type { Projector } from "../engines/projector.ts";
import { masterKeyOf, requireMasterKeys } from "../master-key.ts";
import type { RelaySettings } from "../relay.ts";
import { projectingRole } from "../roles.ts";
import { alone, RelayRuns } from "./alone.ts";
import {
  accountOperations, everyTenant, liveErasure, stoppedErasure, type OrderedTenant, type OwnersPassword,
} from "./operations.ts";
import { atRelay } from "./socket.ts";
import { withReadModels } from "./stored-read-models.ts";

/**
 * The parts that an operator's command uses. Embedded engines are this process's alone; a relay may be using the
 * others.
 */
export interface OperatorDesk extends Engines, Instruments {
  readonly projector: Projector;
  readonly ids: SystemIds;
  readonly sealing: AesSealing;
  readonly aggregates: Aggregates;
  readonly keys: PlatformKeys;
  readonly rotation: KeyRotation;
}

const keptInMemory = 1_000;
const stopPatienceMs = 5_000;

/** Runs a command on the engines. Rejects when a relay is using embedded ones, or a master key is missing. */
export async function atDesk<Result>(
  { config, secrets, logger, onFatal = () => undefined }: RelaySettings,
  command: (desk: OperatorDesk) => Promise<Result>,
): Promise<Result> {
  const clock = new SystemClock();
  const ids = new SystemIds();
  const masterKey = await masterKeyOf(config, secrets);
  const sealing = new AesSealing(masterKey, secrets.oldMasterKeys);
  const metrics = { anomaly: (of: Anomaly) => logger.warn({ of }, "trouble") };
  const engines = await openEngines({ config, secrets, masterKey, projects: true, clock, logger, metrics, onFatal });
  try {
    const { store, readModels } = engines;
    const aggregates = new Aggregates(store, { clock, ids }, { max: keptInMemory });
    serveAll(aggregates);
    const keys = new PlatformKeys({ store, sealing, clock, ids });
    const rotation = new KeyRotation({ store, sealing, readModels, aggregates, clock, ids });
    await requireMasterKeys(rotation, keys);
    const projector = engines.projector as Projector;
    return await command({ ...engines, projector, clock, ids, logger, metrics, sealing, aggregates, keys, rotation });
  } finally {
    await engines.close();
  }
}

/** Re-wraps every key under the newest master key at once. Resolves to the number of tenants with re-wrapped keys. */
export function rewrapKeys(settings: RelaySettings): Promise<number> {
  return atDesk(settings, async (desk) => {
    const projecting = projectingRole({ ...desk, owner: desk.ids.uuid() });
    await projecting.start();
    try {
      const { rewrapped, left, through } = await desk.rotation.finish(() => false);
      if (left > 0) throw new Error(`${left} keys cannot be re-wrapped: keep the old master keys`);
      if (!through) throw new Error("another process has brought a newer master key meanwhile, and re-wraps");
      return rewrapped;
    } finally {
      await projecting.stop(stopPatienceMs);
    }
  });
}

/** Every tenant. Rejects as {@link withReadModels} does. */
export async function listTenants({ config, logger }: RelaySettings): Promise<readonly TenantDocument[]> {
  return (await atRelay(config.dataDir, "tenants"))?.result ?? withReadModels(config, logger, everyTenant);
}

/** Creates a tenant. Rejects with the reason where it is refused. */
export async function createTenant(settings: RelaySettings, ordered: OrderedTenant): Promise<CreatedTenant> {
  const done = await atRelay(settings.config.dataDir, "create-tenant", ordered);
  return done?.result ?? withAccounts(settings, (accounts) => accounts["create-tenant"](ordered));
}

/** Sets the password of the Owner with this email. Rejects with the reason where email or password is refused. */
export async function resetPassword(settings: RelaySettings, owner: OwnersPassword): Promise<void> {
  const done = await atRelay(settings.config.dataDir, "reset-owner-password", owner);
  if (!done) await withAccounts(settings, (accounts) => accounts["reset-owner-password"](owner));
}

/**
 * Erases a tenant, from this machine's files, too; resolves to the number of its streams. Rejects where there is no
 * such tenant.
 */
export async function eraseTenant(settings: RelaySettings, tenantId: string): Promise<number> {
  const done = await atRelay(settings.config.dataDir, "erase-tenant", { tenantId });
  if (done) return done.result;
  return atDesk(settings, async (desk) => {
    const erased = await undisturbed(desk, (confirm) => stoppedErasure(desk, async () => {
      await desk.projector.rebuild();
      confirm();
    }).erase(tenantId)).catch((error: unknown) => {
      if (!(error instanceof RelayRuns)) throw error;
      return liveErasure({ ...desk, accessTokenTtlMs: settings.config.accessTokenTtlMs }).erase(tenantId);
    });
    await desk.scrub();
    return erased;
  });
}

/** Runs an operation on accounts while no relay holds the data folder. */
function withAccounts<Result>(
  settings: RelaySettings, operation: (accounts: ReturnType<typeof accountOperations>) => Promise<Result>,
): Promise<Result> {
  return atDesk(settings, async (desk) => {
    const { accessTokenTtlMs, passwordCost } = settings.config;
    const passwords = new BcryptPasswords(passwordCost);
    try {
      return await operation(accountOperations({ ...desk, passwords, accessTokenTtlMs }));
    } finally {
      await passwords.close();
    }
  });
}

/** Drops the read models and builds them from the log, while no relay projects. Resolves to the duration in seconds. */
export function rebuildReadModels(settings: RelaySettings): Promise<number> {
  return atDesk(settings, async (desk) => {
    const startedAt = desk.clock.monotonic();
    await undisturbed(desk, async (confirm) => {
      await desk.projector.rebuild();
      confirm();
    });
    return (desk.clock.monotonic() - startedAt) / 1000;
  });
}

/** Runs a task {@link alone} on engines that a relay may share; embedded ones are this process's anyway. */
function undisturbed<Result>(
  desk: OperatorDesk, task: (confirm: () => void) => Promise<Result>,
): Promise<Result> {
  return desk.shared.readModels ? alone({ ...desk, owner: desk.ids.uuid() }, task) : task(() => undefined);
}
