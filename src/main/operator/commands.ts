import type { TenantDocument } from "../../../projections/tenants/tenants.ts";
import { AesSealing } from "../../engines/aes-sealing/aes-sealing.ts";
import { BcryptPasswords } from "../../engines/bcrypt/bcrypt-passwords.ts";
import { SystemClock } from "../../engines/system/system-clock.ts";
import { SystemIds } from "../../engines/system/system-ids.ts";
import { KeyRotation } from "../../features/key-rotation/key-rotation.ts";
import { serveAll } from "../../features/services.ts";
import type { CreatedTenant } from "../../features/tenants/commands.ts";
import { Aggregates } from "../../kernel/log/aggregates.ts";
import { sleep } from "../../kernel/ports/clock.ts";
import type { Instruments, Anomaly } from "../../kernel/ports/telemetry.ts";
import { PlatformKeys } from "../../kernel/sealing/platform-keys.ts";
import { Leadership, type LeadershipParts } from "../../kernel/workers/leadership.ts";
import { processLease } from "../../kernel/workers/process-lease.ts";
import { openEngines, type Engines } from "../engines/engines.ts";
import type { Projector } from "../engines/projector.ts";
import { masterKeyOf, requireMasterKeys } from "../master-key.ts";
import type { RelaySettings } from "../relay.ts";
import { projectingRole, singleRoles } from "../roles.ts";
import {
  accountOperations, everyTenant, liveErasure, stoppedErasure, type OrderedTenant, type OwnersPassword,
} from "./operations.ts";
import { withReadModels } from "./reports.ts";
import { atRelay } from "./socket.ts";

/** The dependencies of an operator's command. A relay may be using the engines that are not embedded. */
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
/** Longer than the lease of a dead process lasts. */
const patienceMs = 10_000;
const lookEveryMs = 100;

/** A relay runs on the engines. */
export class RelayRuns extends Error {}

/** Runs a command on the engines. Rejects if a relay uses embedded ones, or a master key is missing. */
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

/** Re-wraps all keys under the newest master key. Resolves to the number of tenants with re-wrapped keys. */
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

/** Lists all tenants. Rejects as {@link withReadModels} does. */
export async function listTenants({ config, logger }: RelaySettings): Promise<readonly TenantDocument[]> {
  return (await atRelay(config.dataDir, "tenants"))?.result ?? withReadModels(config, logger, everyTenant);
}

/** Creates a tenant. Rejects with the reason of a refusal. */
export async function createTenant(settings: RelaySettings, ordered: OrderedTenant): Promise<CreatedTenant> {
  const done = await atRelay(settings.config.dataDir, "create-tenant", ordered);
  return done?.result ?? withAccounts(settings, (accounts) => accounts["create-tenant"](ordered));
}

/** Sets an Owner's password. Rejects with the reason of a refusal. */
export async function resetPassword(settings: RelaySettings, owner: OwnersPassword): Promise<void> {
  const done = await atRelay(settings.config.dataDir, "reset-owner-password", owner);
  if (!done) await withAccounts(settings, (accounts) => accounts["reset-owner-password"](owner));
}

/** Erases a tenant, also from this machine's files. Resolves to the number of its streams; rejects if there is none. */
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

/** Builds the read models from the log while no relay projects. Resolves to the duration in seconds. */
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

/** Runs a task {@link alone} on shared engines; embedded ones belong to this process already. */
function undisturbed<Result>(
  desk: OperatorDesk, task: (confirm: () => void) => Promise<Result>,
): Promise<Result> {
  return desk.shared.readModels ? alone({ ...desk, owner: desk.ids.uuid() }, task) : task(() => undefined);
}

/**
 * Runs a task while it holds every lease, so that no relay runs; else rejects with {@link RelayRuns}. At its end the
 * task calls `confirm`, which throws if a lease was lost.
 */
export async function alone<Result>(
  parts: LeadershipParts & { readonly owner: string },
  task: (confirm: () => void) => Promise<Result>,
): Promise<Result> {
  const { clock, owner } = parts;
  let isLost = false;
  const hold = { start: () => undefined, stop: async () => { isLost = true; } };
  const holds = [processLease, ...singleRoles].map((name) => new Leadership(parts, { name, owner }, () => hold));
  for (const one of holds) one.start();
  try {
    const end = clock.monotonic() + patienceMs;
    while (holds.some(({ leading }) => !leading)) {
      if (clock.monotonic() > end) throw new RelayRuns("a relay is running on these engines: stop it first");
      await sleep(clock, lookEveryMs);
    }
    return await task(() => {
      if (isLost) throw new Error("a relay may have run on these engines meanwhile: stop it, and do this again");
    });
  } finally {
    await Promise.all(holds.map((one) => one.stop(0)));
  }
}
