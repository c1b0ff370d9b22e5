import { sleep } from "../../ports/clock/sleep.ts";
import { Leadership, type LeadershipParts } from "../../workers/leadership.ts";
import { processLease } from "../../workers/process-lease.ts";
import { singleRoles } from "../roles.ts";

/** Longer than it takes to notice that the lease of a process that died, or of the last one that ended, is over. */
const patienceMs = 10_000;
const lookEveryMs = 100;

/**
 * Runs a task that no process of a relay may interfere with: holds every single role meanwhile, and the lease that all
 * processes share. Rejects where any of it is held. The task calls `confirm` before it counts as done: that throws
 * where a lease was lost on the way.
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
      if (clock.monotonic() > end) throw new Error("a relay is running on these engines: stop it first");
      await sleep(clock, lookEveryMs);
    }
    return await task(() => {
      if (isLost) throw new Error("a relay may have run on these engines meanwhile: stop it, and do this again");
    });
  } finally {
    await Promise.all(holds.map((one) => one.stop(0)));
  }
}
