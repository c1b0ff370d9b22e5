/** A line for the reader. */
export function say(text: string): void {
  process.stdout.write(`${text}\n`);
}

/** A line that begins a chapter. */
export function heading(text: string): void {
  say(`\n── ${text}`);
}

/** Rows in aligned columns. */
export function table(rows: readonly (readonly string[])[]): void {
  const widths = (rows[0] ?? []).map((_cell, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0)));
  for (const row of rows) say(row.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join("  ").trimEnd());
}
