/** A function as V8's profiles name it. */
export interface CallFrame {
  readonly functionName: string;
  readonly url: string;
  /** From 0. */
  readonly lineNumber: number;
}

/** The cost of a function: milliseconds or bytes. */
export interface FunctionShare {
  readonly where: string;
  readonly amount: number;
}

/** The costs of a thread's functions. */
export interface ThreadShares {
  /** The script the thread runs, as far as its name is in the profile. */
  readonly thread: string;
  readonly total: number;
  /** By themselves, the largest first. */
  readonly functions: readonly FunctionShare[];
  /** The project's functions, with the costs of the functions outside the project that they call. */
  readonly ours: readonly FunctionShare[];
}

const elsewhere = "(none of ours on the stack)";

/** Adds up the costs of functions. */
export class Shares {
  readonly #self = new Map<string, number>();
  readonly #owned = new Map<string, number>();

  /** `owner`: the project's own function it is, or that called it last; undefined if none did. */
  add(where: string, owner: string | undefined, amount: number): void {
    this.#self.set(where, (this.#self.get(where) ?? 0) + amount);
    this.#owned.set(owner ?? elsewhere, (this.#owned.get(owner ?? elsewhere) ?? 0) + amount);
  }

  of(frames: readonly CallFrame[]): ThreadShares {
    const functions = sorted(this.#self);
    const total = functions.reduce((sum, { amount }) => sum + amount, 0);
    return { thread: threadOf(frames), total, functions, ours: sorted(this.#owned) };
  }
}

function sorted(amounts: ReadonlyMap<string, number>): readonly FunctionShare[] {
  return [...amounts].map(([where, amount]) => ({ where, amount })).sort((a, b) => b.amount - a.amount);
}

/** Whether the function is the project's own. */
export function isOurs({ url }: CallFrame): boolean {
  return /^file:.*\/(src|projections|schemas)\//.test(url) && !url.includes("/node_modules/");
}

export function placeOf({ functionName, url, lineNumber }: CallFrame): string {
  const name = functionName === "" ? "(anonymous)" : functionName;
  if (url === "") return name;
  const file = url.replace(/^.*\/node_modules\//, "").replace(/^file:\/\/.*?\/(src|projections|schemas)\//, "$1/");
  return `${name} ${file}:${lineNumber + 1}`;
}

/** A worker's own script is the one whose name says so. */
function threadOf(frames: readonly CallFrame[]): string {
  const scripts = frames.map(({ url }) => url).filter((url) => /\/src\/.*(main|thread|worker)\.js$/.test(url));
  const own = scripts.find((url) => url.endsWith("/src/main.js")) ?? scripts.find((url) => /(-thread|\/worker)\.js$/.test(url));
  return own?.replace(/^.*\/src\//, "src/") ?? "?";
}
