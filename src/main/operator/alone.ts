import { sleep } from "../../kernel/ports/clock.ts";
import { Leadership, type LeadershipParts } from "../../kernel/workers/leadership.ts";
import { processLease } from "../../kernel/workers/process-lease.ts";
import { singleRoles } from "../roles.ts";

/** Longer than it takes to see the lease expire of a process that died or has just ended. */
const patienceMs = 10_000;
const lookEveryMs = 100;

/** A process of a relay runs on the engines. */
export class RelayRuns extends Error {}

/**
 * Runs a task while no process of a relay runs: holds every single role meanwhile, and the process lease. Rejects with
 * {@link RelayRuns} where one of them stays held. The task calls `confirm` before it counts as done: that throws if a
 * lease was lost meanwhile.
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
