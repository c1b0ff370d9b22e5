import type { LoadResult } from "../processes/generator.ts";
import { cpuOf, cpuSince, type CpuTime } from "./cpu.ts";
import type { RelayOptions } from "./relay.ts";
import type { Stage, Subject } from "./stage.ts";

/** How many requests each destination of a backlog may have at once while it drains. */
export const drainLimit = 10;

/** Deliveries and the CPU time that the relay used for them. */
export interface Drained {
  readonly accepted: number;
  readonly rate: number;
  readonly cpu: CpuTime;
}

/** A relay whose destinations are behind the receiver's gate, one request under way to each. */
export function gatedSubject(
  stage: Stage, destinations: number, { environment, nodeOptions = [] }: Omit<RelayOptions, "caPem"> = {},
): Promise<Subject> {
  return stage.subject(stage.urls("/gate").slice(0, destinations), {
    destination: { serverRateLimit: 1 }, environment: { RELAY_DELIVERY_TIMEOUT: "10m", ...environment }, nodeOptions,
  });
}

/** Takes a backlog in at the closed gate. Returns the function that drains it: only the draining is measured. */
export async function fillBacklog(stage: Stage, subject: Subject, events: number): Promise<() => Promise<Drained>> {
  const { pid, account } = subject;
  await stage.receiver.call("gate", false);
  await account.patchDestinations({ serverRateLimit: 1 });
  const delivered = await stage.delivered(subject);
  const load = { connections: 100, durationMs: 60_000, maxEvents: events };
  const taken: LoadResult = await stage.closed(subject, load, () => account.standing());
  return async () => {
    const before = cpuOf(pid);
    const start = performance.now();
    await stage.receiver.call("gate", true);
    await account.patchDestinations({ serverRateLimit: drainLimit });
    await delivered(taken);
    const rate = (taken.accepted / (performance.now() - start)) * 1000;
    return { accepted: taken.accepted, rate, cpu: cpuSince(pid, before) };
  };
}
