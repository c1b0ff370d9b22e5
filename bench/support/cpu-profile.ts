import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { isOurs, placeOf, Shares, type CallFrame, type ThreadShares } from "./call-frames.ts";

interface ProfileNode {
  readonly id: number;
  readonly children?: readonly number[];
  readonly callFrame: CallFrame;
}

/** A `.cpuprofile` as V8 writes it; times in microseconds of the machine's monotonic clock. */
interface CpuProfile {
  readonly nodes: readonly ProfileNode[];
  readonly startTime: number;
  readonly samples: readonly number[];
  readonly timeDeltas: readonly number[];
}

/** Milliseconds within the window, by function; `total` is without idle. */
export interface ThreadTimes extends ThreadShares {
  readonly idleMs: number;
}

const idle = "(idle)";

/** The profiles of a process's threads, between two moments (machine ms). */
export function readCpuProfiles(folder: string, from: number, to: number): readonly ThreadTimes[] {
  return readdirSync(folder)
    .filter((file) => file.endsWith(".cpuprofile"))
    .map((file) => summarise(JSON.parse(readFileSync(join(folder, file), "utf8")) as CpuProfile, from, to))
    .sort((a, b) => b.total - a.total);
}

function summarise(profile: CpuProfile, from: number, to: number): ThreadTimes {
  const places = new Map(profile.nodes.map(({ id, callFrame }) => [id, placeOf(callFrame)]));
  const owners = ownersOf(profile.nodes, places);
  const shares = new Shares();
  let idleMs = 0;
  let now = profile.startTime;
  profile.samples.forEach((id, at) => {
    now += profile.timeDeltas[at] ?? 0;
    if (now < from * 1000 || now > to * 1000) return;
    // A sample stands for the time up to the next one.
    const ms = (profile.timeDeltas[at + 1] ?? 0) / 1000;
    const place = places.get(id) ?? "?";
    if (place === idle) idleMs += ms;
    else shares.add(place, owners.get(id), ms);
  });
  return { ...shares.of(profile.nodes.map(({ callFrame }) => callFrame)), idleMs };
}

/** For each node the project's own function it is, or that called it last. */
function ownersOf(nodes: readonly ProfileNode[], places: ReadonlyMap<number, string>): ReadonlyMap<number, string> {
  const owners = new Map<number, string>();
  // V8 lists a node before its children.
  for (const { id, children = [], callFrame } of nodes) {
    if (isOurs(callFrame)) owners.set(id, places.get(id) ?? "?");
    const owner = owners.get(id);
    if (owner !== undefined) for (const child of children) owners.set(child, owner);
  }
  return owners;
}
