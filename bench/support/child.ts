import { fork, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";

/** The interface of a helper process: each method takes one plain value and returns one. */
type Api = Readonly<Record<string, (input: never) => unknown>>;
type Input<A extends Api, Name extends keyof A> = Parameters<A[Name]>[0];
type Output<A extends Api, Name extends keyof A> = Awaited<ReturnType<A[Name]>>;

interface Call {
  readonly id: number;
  readonly name: string;
  readonly input: unknown;
}
type Reply = { readonly id: number; readonly result: unknown } | { readonly id: number; readonly error: string };

/** A helper process with its API at the other end of a channel. */
export interface Remote<A extends Api> {
  readonly pid: number;
  call<Name extends keyof A & string>(name: Name, input: Input<A, Name>): Promise<Output<A, Name>>;
  stop(): Promise<void>;
}

/** Starts `bench/processes/<file>` as a process of its own, so that its work is not the benchmark's. */
export function startProcess<A extends Api>(file: string): Remote<A> {
  const path = join(import.meta.dirname, "..", "processes", file);
  const child = fork(path, { serialization: "advanced", execArgv: ["--disable-warning=ExperimentalWarning"] });
  const waiting = new Map<number, { resolve: (result: unknown) => void; reject: (error: Error) => void }>();
  let calls = 0;
  child.on("message", (answer: Reply) => {
    const caller = waiting.get(answer.id);
    waiting.delete(answer.id);
    if ("error" in answer) caller?.reject(new Error(`${file}: ${answer.error}`));
    else caller?.resolve(answer.result);
  });
  child.once("exit", (code) => {
    for (const { reject } of waiting.values()) reject(new Error(`${file} ended with ${code}`));
  });
  return {
    pid: pidOf(child),
    call(name, input) {
      const id = ++calls;
      const call: Call = { id, name, input };
      return new Promise((resolve, reject) => {
        waiting.set(id, { resolve: (result) => resolve(result as Output<A, typeof name>), reject });
        child.send(call);
      });
    },
    async stop() {
      if (child.exitCode !== null || child.signalCode !== null) return;
      child.disconnect();
      await once(child, "exit");
    },
  };
}

/** The pid of a process that was started; throws when it could not be. */
export function pidOf(child: ChildProcess): number {
  if (child.pid === undefined) throw new Error(`${child.spawnfile} did not start`);
  return child.pid;
}

/** In a helper process: answers the calls until the channel is closed, then ends. */
export function serve(api: Api): void {
  process.on("message", ({ id, name, input }: Call) => {
    const reply = (answer: Reply) => void process.send?.(answer);
    void (async () => api[name]?.(input as never))().then(
      (result) => reply({ id, result }),
      (error: unknown) => reply({ id, error: error instanceof Error ? error.stack ?? error.message : String(error) }),
    );
  });
  process.once("disconnect", () => process.exit(0));
}
