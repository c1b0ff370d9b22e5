import { Pause } from "../ports/pause.ts";
import { Leadership, type LeadershipParts } from "../workers/leadership.ts";
import { singleRoles } from "./roles.ts";

/** Longer than the lease of a process that died. */
const patienceMs = 8_000;
const lookEveryMs = 100;
const nothing = { start: () => undefined, stop: async () => undefined };

/** Does what no running relay may interfere with: holds every single role meanwhile. Rejects where one is held. */
export async function alone<Result>(
  parts: LeadershipParts & { readonly owner: string },
  task: () => Promise<Result>,
): Promise<Result> {
  const { clock, owner } = parts;
  const holds = singleRoles.map((name) => new Leadership(parts, { name, owner }, () => nothing));
  for (const hold of holds) hold.start();
  try {
    const pause = new Pause(clock);
    const end = clock.monotonic() + patienceMs;
    while (holds.some(({ leading }) => !leading)) {
      if (clock.monotonic() > end) throw new Error("a relay is running on these engines: stop it first");
      await pause.wait(lookEveryMs);
    }
    return await task();
  } finally {
    await Promise.all(holds.map((hold) => hold.stop(0)));
  }
}
