import { delivery } from "./delivery.ts";
import { engines } from "./engines.ts";
import { growth } from "./growth.ts";
import { ingest } from "./ingest.ts";
import { isolation } from "./isolation.ts";
import { latency } from "./latency.ts";
import { profile } from "./profile.ts";
import { machineTime, othersSince } from "./support/machine.ts";
import { publish, type Report } from "./support/report.ts";

/** Exit code of a benchmark that proves nothing. */
const voidCode = 3;
for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => process.exit(130));
const benchmarks: Readonly<Record<string, () => Promise<Report>>> = {
  ingest, latency, delivery, isolation, engines, growth,
};
const names = process.argv.slice(2).flatMap((argument) => argument.split(",")).filter((name) => name !== "");

for (const name of names.length > 0 ? names : Object.keys(benchmarks)) {
  if (name === "profile") {
    await profile();
    continue;
  }
  const benchmark = benchmarks[name];
  if (!benchmark) {
    console.error(`no benchmark ${name}: there are ${[...Object.keys(benchmarks), "profile"].join(", ")}`);
    process.exit(2);
  }
  console.log(`\n${name} …`);
  const before = machineTime();
  const report = await benchmark();
  if (!publish(report, othersSince(before)).balanced) process.exitCode = voidCode;
}
