import { readFileSync, writeSync } from "node:fs";
import { join } from "node:path";
import { bringUp } from "../../../../packages/embedded-engine/src/sqlite/conversion.ts";
import type { Logger } from "../../../../src/kernel/ports/telemetry.ts";
import { nextLog } from "../../../support/next-log.ts";
import { quiet } from "../../../support/telemetry.ts";

/** When the process dies or waits. */
export interface Plan {
  /** It is killed once it has written so many rows, in the middle of a step. */
  readonly dieAfter?: number;
  /** It says "waiting" once it has written so many rows, and stops until it is sent SIGCONT. */
  readonly waitAfter?: number;
}

/**
 * Converts the log in the given folder, as `plan.json` beside the folder says. Prints the relay's log messages, each
 * as a line of JSON, and on standard error the message of a conversion that failed.
 */
const dataDir = process.argv[2]!;
const { dieAfter, waitAfter } = JSON.parse(readFileSync(join(dataDir, "..", "plan.json"), "utf8")) as Plan;
const info: Logger["info"] = (fields, message) => void writeSync(1, `${JSON.stringify({ ...fields, message })}\n`);
let rows = 0;
const onRow = () => {
  rows += 1;
  if (rows === dieAfter) process.kill(process.pid, "SIGKILL");
  if (rows !== waitAfter) return;
  info({}, "waiting");
  process.kill(process.pid, "SIGSTOP");
};
// On this clock every step takes a quarter of a minute.
let now = 0;
const clock = { now: () => now, monotonic: () => (now += 15_000), schedule: () => ({ cancel: () => undefined }) };

await bringUp([nextLog(dataDir, onRow)], { clock, logger: { ...quiet, info } }).catch((error: unknown) => {
  writeSync(2, `${(error as Error).message}\n`);
  process.exitCode = 1;
});
