import { writeSync } from "node:fs";
import { Session } from "node:inspector/promises";
import { setTimeout as wait } from "node:timers/promises";
import { Worker, isMainThread, parentPort } from "node:worker_threads";

/** No test holds its thread for as long; the longest wait for a compiler or a package. */
const patienceS = 300;

/**
 * Ends this process when a test holds its thread for good, which no time limit of Mocha's can: says before, on standard
 * error, which test it was and where it stands. Returns a function to call with the name of each test that begins.
 */
export function watch(): (title: string) => void {
  let runs = "";
  const guard = new Worker(new URL(import.meta.url), { execArgv: [] });
  guard.unref();
  const beat = () => guard.postMessage(runs);
  setInterval(beat, 500).unref();
  return (title) => {
    runs = title;
    beat();
  };
}

/** Where the test's thread stands. */
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

/** Gets messages from the test's thread while that is not blocked. */
function guard(): void {
  let [title, silentS] = ["", 0];
  parentPort?.on("message", (runs: string) => [title, silentS] = [runs, 0]);
  setInterval(() => {
    silentS += 1;
    if (silentS === patienceS) void end(title);
  }, 1_000);
}

async function end(title: string): Promise<void> {
  // A thread that waits in native code cannot be paused.
  const where = await Promise.race([stack(), wait(5_000, "    in native code")]);
  // Standard error of a worker goes through the main thread, which is blocked.
  writeSync(2, `  "${title}" has held its thread for ${patienceS} s:\n${where}\n`);
  process.kill(process.pid, "SIGKILL");
}

if (!isMainThread) guard();
