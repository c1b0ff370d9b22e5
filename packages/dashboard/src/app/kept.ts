/** The JSON value that this browser keeps under a name; undefined without one. */
export function readKept(name: string): unknown {
  try {
    return JSON.parse(localStorage.getItem(name) ?? "") as unknown;
  } catch {
    return undefined;
  }
}

/** Keeps a value in this browser. If its storage refuses, the value lasts as long as the page. */
export function keep(name: string, value: unknown): void {
  try {
    localStorage.setItem(name, JSON.stringify(value));
  } catch {
    // Storage is full or forbidden.
  }
}
