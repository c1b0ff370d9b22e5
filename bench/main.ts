import { dashboard } from "./dashboard.ts";
import { delivery } from "./delivery.ts";
import { engines } from "./engines.ts";
import { fanout } from "./fanout.ts";
import { finding } from "./finding.ts";
import { footprint } from "./footprint.ts";
import { growth } from "./growth.ts";
import { idle } from "./idle.ts";
import { ingest } from "./ingest.ts";
import { isolation } from "./isolation.ts";
import { latency } from "./latency.ts";
import { loop } from "./loop.ts";
import { profile } from "./profile.ts";
import { replay } from "./replay.ts";
import { stalls } from "./stalls.ts";
import { stream } from "./stream.ts";
import { machineTime, othersSince } from "./support/machine.ts";
import { publish, type Report } from "./support/report.ts";
import { table } from "./table.ts";
import { volume, volumeSets } from "./volume.ts";
import { warmth } from "./warmth.ts";

/** Exit code of a benchmark whose ledger does not balance. */
const voidCode = 3;
for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => process.exit(130));
const benchmarks: Readonly<Record<string, () => Promise<Report>>> = {
  ingest, latency, delivery, isolation, loop, engines, growth, idle, footprint, volume, stream, dashboard, replay,
  finding, stalls, fanout, warmth,
};
/** Commands without figures of their own. */
const others: Readonly<Record<string, () => unknown>> = { profile, data: volumeSets, table };
const names = process.argv.slice(2).flatMap((argument) => argument.split(",")).filter((name) => name !== "");
const unknown = names.find((name) => !benchmarks[name] && !others[name]);
if (unknown !== undefined) {
  console.error(`no benchmark ${unknown}: there are ${[benchmarks, others].flatMap(Object.keys).join(", ")}`);
  process.exit(2);
}

for (const name of names.length > 0 ? names : [...Object.keys(benchmarks), "table"]) {
  const benchmark = benchmarks[name];
  if (!benchmark) {
    await others[name]?.();
    continue;
  }
  console.log(`\n${name} …`);
  const before = machineTime();
  try {
    const report = await benchmark();
    if (!publish(report, othersSince(before)).balanced) process.exitCode = voidCode;
  } catch (error) {
    // The other benchmarks still run.
    console.error(error);
    process.exitCode = 1;
  }
}
