import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { isDeepStrictEqual } from "node:util";
import { machine } from "./support/machine.ts";
import { newestLine, padded, resultsFolder, rowOf, type ReportLine } from "./support/report.ts";

/** The promised figures, and the benchmark that measures each. */
const promised: Readonly<Record<string, string>> = {
  P1: "ingest", P2: "ingest", P3: "ingest", P4: "latency", P5: "delivery", P6: "delivery", P7: "volume", P8: "volume",
  P9: "isolation", P10: "isolation", P11: "growth", P12: "idle", P13: "loop", P14: "growth", P15: "engines",
  P16: "delivery", P17: "latency", P18: "isolation", P19: "footprint", P20: "footprint", P21: "footprint",
  P22: "warmth", P24: "stalls", P26: "warmth",
};
const columns = ["", "figure", "floor", "aim", "measured", "verdict", "taken"];

/** Prints everything promised as one table, from the newest results, and writes it to `bench/results/table.md`. */
export function table(): void {
  const { cpu, cores, memoryGiB, disk, kernel, node } = machine();
  const rows = padded([columns, ...Object.entries(promised).flatMap(([id, name]) => rowsOf(id, name))]);
  const [head = "", ...others] = rows.map((row) => `| ${row.join(" | ")} |`);
  const rule = `|${(rows[0] ?? []).map((cell) => "-".repeat(cell.length + 2)).join("|")}|`;
  const text = [
    `${cpu}, ${cores} cores, ${memoryGiB} GiB of memory, disk ${disk}, Linux ${kernel}, Node ${node}`, "",
    head, rule, ...others, "",
  ].join("\n");
  mkdirSync(resultsFolder, { recursive: true });
  writeFileSync(join(resultsFolder, "table.md"), text);
  console.log(`\n${text}`);
}

function rowsOf(id: string, name: string): readonly (readonly string[])[] {
  const line = newestLine(name);
  // Figures of different machines do not belong into one table.
  if (!line || !isOfThisMachine(line)) return [[id, `not measured: make bench NAME=${name}`, "", "", "", "", ""]];
  const taken = `${line.size}, ${line.at.slice(0, 16)}Z, others ${line.machine.othersCores.toFixed(1)} cores`;
  return line.figures.filter((figure) => figure.id === id).map((figure) => {
    const row = rowOf(figure);
    return line.void ? [...row.slice(0, 4), "", "VOID", taken] : [...row, taken];
  });
}

function isOfThisMachine({ machine: { othersCores: _othersCores, ...taken } }: ReportLine): boolean {
  return isDeepStrictEqual(taken, machine());
}
