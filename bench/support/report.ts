import { appendFileSync, existsSync, mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { machine, type Machine } from "./machine.ts";
import { size } from "./size.ts";

/** The bounds of a figure: lower bounds, or upper bounds. */
export interface Bounds {
  readonly better: "higher" | "lower";
  readonly floor: number;
  readonly aim: number;
  readonly unit?: string;
}

export interface Figure {
  readonly id: string;
  readonly what: string;
  /** Undefined where a measurement stands for no promise. */
  readonly bounds?: Bounds;
  readonly measured: number;
  /** The numbers that it was computed from, so that readers can check it. */
  readonly note: string;
}

/** One equation that must hold: nothing may get lost between the two sides. */
export interface LedgerLine {
  readonly what: string;
  readonly left: number;
  readonly right: number;
}

export interface Report {
  readonly name: string;
  readonly figures: readonly Figure[];
  readonly ledger: readonly LedgerLine[];
  /** Everything the rounds measured. */
  readonly rounds: unknown;
}

/** A report as a line of `bench/results/<name>.jsonl` keeps it. */
export interface ReportLine extends Report {
  /** ISO 8601. */
  readonly at: string;
  readonly size: string;
  readonly machine: Machine & { readonly othersCores: number };
  /** Whether its ledger did not balance. */
  readonly void: boolean;
}

/** The results of benchmarks; not committed. */
export const resultsFolder = join(import.meta.dirname, "..", "results");

export type Verdict = "aim" | "floor" | "MISSED" | "";

/** Which of its bounds a figure reaches; nothing where it has none. */
function verdictOf({ bounds, measured }: Figure): Verdict {
  if (!bounds) return "";
  const reaches = (bound: number) => (bounds.better === "higher" ? measured >= bound : measured <= bound);
  if (reaches(bounds.aim)) return "aim";
  return reaches(bounds.floor) ? "floor" : "MISSED";
}

/** Numbers for a note, with so many digits behind the point. */
export function listed(values: readonly number[], digits = 0): string {
  return values.map((value) => value.toFixed(digits)).join(", ");
}

/** The ratio of every round by itself, for a note: where they differ much, others were using the machine. */
export function byRound(ratios: readonly number[]): string {
  return `by round: ${ratios.map((ratio) => shown(ratio)).join(", ")}`;
}

/** The lines of a ledger that do not balance. */
export function imbalances(ledger: readonly LedgerLine[]): readonly LedgerLine[] {
  return ledger.filter(({ left, right }) => left !== right);
}

const columns = ["", "figure", "floor", "aim", "measured", "verdict"];

function shown(value: number, unit = ""): string {
  const text = Math.abs(value) >= 1000 ? Math.round(value).toLocaleString("en") : String(Number(value.toPrecision(3)));
  return unit === "" ? text : `${text} ${unit}`;
}

/** A figure as a row of texts: id, name, floor, aim, measured, verdict. */
export function rowOf(figure: Figure): readonly string[] {
  const { id, what, bounds, measured } = figure;
  const sign = bounds?.better === "lower" ? "≤" : "≥";
  const bound = (value: number | undefined) => (value === undefined ? "" : `${sign} ${shown(value, bounds?.unit)}`);
  return [id, what, bound(bounds?.floor), bound(bounds?.aim), shown(measured, bounds?.unit), verdictOf(figure)];
}

/** One row for each figure, as text. */
function tableOf(figures: readonly Figure[]): string {
  const rows = padded([columns, ...figures.map(rowOf)]);
  return rows.map((row) => row.join("  ").trimEnd()).join("\n");
}

/** The rows with each cell as wide as the widest of its column. */
export function padded(rows: readonly (readonly string[])[]): readonly (readonly string[])[] {
  const widths = (rows[0] ?? []).map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0)));
  return rows.map((row) => row.map((cell, column) => cell.padEnd(widths[column] ?? 0)));
}

/** The newest line of a benchmark's results; undefined when it never ran. */
export function newestLine(name: string): ReportLine | undefined {
  const file = join(resultsFolder, `${name}.jsonl`);
  const line = existsSync(file) ? readFileSync(file, "utf8").trimEnd().split("\n").at(-1) : undefined;
  return line === undefined ? undefined : (JSON.parse(line) as ReportLine);
}

/** Prints the table, its notes and the ledger, and adds one line to `bench/results/<name>.jsonl`. */
export function publish(report: Report, othersCores: number): { readonly balanced: boolean } {
  const { name, figures, ledger } = report;
  const broken = imbalances(ledger);
  console.log(`\n${tableOf(figures)}`);
  for (const { id, note } of figures) console.log(`  ${id}: ${note}`);
  for (const { what, left, right } of ledger) {
    console.log(`  ledger: ${what}: ${left} = ${right}${left === right ? "" : "  DOES NOT BALANCE"}`);
  }
  if (broken.length > 0) console.log(`  VOID: ${name} proves nothing, its ledger does not balance`);
  const { cpu, cores, node } = machine();
  const others = othersCores.toFixed(1);
  console.log(`  machine: ${cores} cores (${cpu}), others used ${others} of them; node ${node}; size ${size}`);
  const line: ReportLine = {
    name, at: new Date().toISOString(), size, machine: { ...machine(), othersCores }, void: broken.length > 0,
    figures: figures.map((figure) => ({ ...figure, verdict: verdictOf(figure) })),
    ledger, rounds: report.rounds,
  };
  mkdirSync(resultsFolder, { recursive: true });
  appendFileSync(join(resultsFolder, `${name}.jsonl`), `${JSON.stringify(line)}\n`);
  return { balanced: broken.length === 0 };
}
