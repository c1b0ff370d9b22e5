import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

interface ProfileNode {
  readonly id: number;
  readonly children?: readonly number[];
  readonly callFrame: { readonly functionName: string; readonly url: string; readonly lineNumber: number };
}

/** A `.cpuprofile` as V8 writes it; times in microseconds of the machine's monotonic clock. */
interface CpuProfile {
  readonly nodes: readonly ProfileNode[];
  readonly startTime: number;
  readonly samples: readonly number[];
  readonly timeDeltas: readonly number[];
}

/** Time of a function within the window, ms. */
export interface FunctionTime {
  readonly where: string;
  readonly ms: number;
}

export interface ThreadProfile {
  /** The script the thread runs, as far as its name is in the profile. */
  readonly thread: string;
  /** Without idle. */
  readonly busyMs: number;
  readonly idleMs: number;
  /** Self time, the largest first. */
  readonly functions: readonly FunctionTime[];
  /** Self time of the project's functions with that of what they call outside the project. */
  readonly ours: readonly FunctionTime[];
}

const idle = "(idle)";
const elsewhere = "(none of ours on the stack)";

/** The profiles of a process's threads, between two moments (machine ms). */
export function readProfiles(folder: string, from: number, to: number): readonly ThreadProfile[] {
  return readdirSync(folder)
    .filter((file) => file.endsWith(".cpuprofile"))
    .map((file) => summarise(JSON.parse(readFileSync(join(folder, file), "utf8")) as CpuProfile, from, to))
    .sort((a, b) => b.busyMs - a.busyMs);
}

function summarise(profile: CpuProfile, from: number, to: number): ThreadProfile {
  const places = new Map(profile.nodes.map((node) => [node.id, placeOf(node)]));
  const owners = ownersOf(profile.nodes, places);
  const self = new Map<string, number>();
  const owned = new Map<string, number>();
  let idleMs = 0;
  let now = profile.startTime;
  profile.samples.forEach((id, at) => {
    now += profile.timeDeltas[at] ?? 0;
    if (now < from * 1000 || now > to * 1000) return;
    // A sample stands for the time up to the next one.
    const ms = (profile.timeDeltas[at + 1] ?? 0) / 1000;
    const place = places.get(id) ?? "?";
    if (place === idle) {
      idleMs += ms;
      return;
    }
    const owner = owners.get(id) ?? elsewhere;
    self.set(place, (self.get(place) ?? 0) + ms);
    owned.set(owner, (owned.get(owner) ?? 0) + ms);
  });
  const functions = sorted(self);
  return {
    thread: threadOf(profile.nodes),
    busyMs: functions.reduce((sum, { ms }) => sum + ms, 0),
    idleMs,
    functions,
    ours: sorted(owned),
  };
}

function sorted(times: ReadonlyMap<string, number>): readonly FunctionTime[] {
  return [...times].map(([where, ms]) => ({ where, ms })).sort((a, b) => b.ms - a.ms);
}

/** For each node the project's own function it is, or that called it last. */
function ownersOf(nodes: readonly ProfileNode[], places: ReadonlyMap<number, string>): ReadonlyMap<number, string> {
  const owners = new Map<number, string>();
  // V8 lists a node before its children.
  for (const { id, children = [], callFrame: { url } } of nodes) {
    if (/^file:.*\/(src|projections|schemas)\//.test(url) && !url.includes("/node_modules/")) {
      owners.set(id, places.get(id) ?? "?");
    }
    const owner = owners.get(id);
    if (owner !== undefined) for (const child of children) owners.set(child, owner);
  }
  return owners;
}

function placeOf({ callFrame: { functionName, url, lineNumber } }: ProfileNode): string {
  const name = functionName === "" ? "(anonymous)" : functionName;
  if (url === "") return name;
  const file = url.replace(/^.*\/node_modules\//, "").replace(/^file:\/\/.*?\/(src|projections|schemas)\//, "$1/");
  return `${name} ${file}:${lineNumber + 1}`;
}

/** A worker's own script is the one whose name says so. */
function threadOf(nodes: readonly ProfileNode[]): string {
  const scripts = nodes.map(({ callFrame: { url } }) => url).filter((url) => /\/src\/.*(main|thread|worker)\.ts$/.test(url));
  const own = scripts.find((url) => url.endsWith("/src/main.ts")) ?? scripts.find((url) => /(-thread|\/worker)\.ts$/.test(url));
  return own?.replace(/^.*\/src\//, "src/") ?? "?";
}
