import { writeSync } from "node:fs";
import { Session } from "node:inspector/promises";
import { Worker, isMainThread, workerData } from "node:worker_threads";

/** No test holds its thread for as long; the longest wait for a compiler or a package. */
const patienceS = 300;
const titleBytes = 1_024;

interface Shared {
  /** Counts up while the test thread is free. */
  readonly beats: Int32Array;
  /** What runs, in UTF-8, ended by a zero byte. */
  readonly title: Uint8Array;
}

/**
 * Ends this process when a test holds its thread for good, which no time limit of Mocha's can: says before, on standard
 * error, which test it was and where it stands. Answers what is to be called with the name of each test that begins.
 */
export function watch(): (title: string) => void {
  const shared: Shared = {
    beats: new Int32Array(new SharedArrayBuffer(4)),
    title: new Uint8Array(new SharedArrayBuffer(titleBytes)),
  };
  new Worker(new URL(import.meta.url), { workerData: shared, execArgv: [] }).unref();
  setInterval(() => Atomics.add(shared.beats, 0, 1), 500).unref();
  return (title) => {
    shared.title.fill(0);
    shared.title.set(Buffer.from(title).subarray(0, titleBytes - 1));
  };
}

async function stack(): Promise<string> {
  const session = new Session();
  session.connectToMainThread();
  const urls = new Map<string, string>();
  session.on("Debugger.scriptParsed", ({ params: { scriptId, url } }) => urls.set(scriptId, url));
  const paused = new Promise<string>((resolve) => {
    session.once("Debugger.paused", ({ params: { callFrames } }) => resolve(
      callFrames.map(({ functionName, location: { scriptId, lineNumber } }) =>
        `    at ${functionName || "<anonymous>"} (${urls.get(scriptId) ?? ""}:${lineNumber + 1})`).join("\n"),
    ));
  });
  await session.post("Debugger.enable");
  await session.post("Debugger.pause");
  return paused;
}

function guard({ beats, title }: Shared): void {
  let [last, still] = [-1, 0];
  setInterval(() => {
    const now = Atomics.load(beats, 0);
    still = now === last ? still + 1 : 0;
    last = now;
    if (still !== patienceS) return;
    const name = Buffer.from(title).toString().replace(/\0.*/s, "");
    const end = (where: string) => {
      // Standard error of a thread goes by the thread that is held.
      writeSync(2, `  "${name}" has held its thread for ${patienceS} s:\n${where}\n`);
      process.kill(process.pid, "SIGKILL");
    };
    // A thread that waits in native code cannot be paused.
    setTimeout(() => end("    in native code"), 5_000);
    void stack().then(end);
  }, 1_000);
}

if (!isMainThread) guard(workerData as Shared);
