/** The parameters in the address of a page: filters, tabs, open panels, moments. Each has one text. */
export type Search = Readonly<Record<string, string>>;

/** Reads the part of an address behind the question mark. Of a parameter that is given twice the last one counts. */
export function parseSearch(text: string): Search {
  return Object.fromEntries(new URLSearchParams(text));
}

/** Writes parameters, a question mark first where there are any; those that are undefined or empty are left out. */
export function writeSearch(search: Readonly<Record<string, unknown>>): string {
  const given = Object.entries(search).filter(([, value]) => value !== undefined && value !== "");
  const text = new URLSearchParams(given.map(([name, value]): [string, string] => [name, String(value)])).toString();
  return text === "" ? "" : `?${text}`;
}
