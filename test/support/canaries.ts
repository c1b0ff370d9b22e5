import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

/** What is searched for, in all forms, and where it was found. */
export interface Sighting {
  readonly kind: string;
  /** How it was written there. */
  readonly form: string;
  readonly place: string;
}

interface Canary {
  readonly kind: string;
  readonly forms: readonly { readonly name: string; readonly bytes: Buffer }[];
}

/** Secrets of every kind, and the search for them in bytes of any kind. */
export class Canaries {
  readonly #canaries: Canary[] = [];

  /** A secret, as the text or the bytes that it is. */
  add(kind: string, secret: string | Uint8Array): void {
    const bytes = Buffer.from(secret as string);
    if (bytes.length < 12) throw new Error(`${kind}: ${bytes.length} bytes might turn up by chance`);
    this.#canaries.push({ kind, forms: formsOf(bytes, typeof secret === "string" ? secret : null) });
  }

  /** What kinds there are. */
  get kinds(): readonly string[] {
    return this.#canaries.map(({ kind }) => kind);
  }

  /** Every form of every secret, for whoever wants to see that the search finds it. */
  get forms(): readonly { readonly kind: string; readonly form: string; readonly bytes: Buffer }[] {
    return this.#canaries.flatMap(({ kind, forms }) => forms.map(({ name: form, bytes }) => ({ kind, form, bytes })));
  }

  /** Where in this text or these bytes any of them stands. */
  search(place: string, where: string | Buffer): Sighting[] {
    const haystack = Buffer.from(where as string);
    return this.#canaries.flatMap(({ kind, forms }) =>
      forms.filter(({ bytes }) => haystack.includes(bytes)).map(({ name }) => ({ kind, form: name, place })));
  }

  /** Where in the files of a folder, however deep, any of them stands. */
  searchFolder(folder: string): Sighting[] {
    return filesIn(folder).flatMap((file) => this.search(file.slice(folder.length + 1), readFileSync(file)));
  }
}

/** Every file in a folder, however deep. */
export function filesIn(folder: string): string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile()).map(({ parentPath, name }) => join(parentPath, name));
}

function formsOf(bytes: Buffer, text: string | null): Canary["forms"] {
  const forms = new Map<string, Buffer | string>([
    ["raw", bytes], ["hex", bytes.toString("hex")], ["HEX", bytes.toString("hex").toUpperCase()],
  ]);
  for (let offset = 0; offset < 3; offset += 1) {
    const shifted = Buffer.concat([Buffer.alloc(offset), bytes]);
    for (const alphabet of ["base64", "base64url"] as const) {
      // Without its first and last characters, which depend on what stands beside it.
      const encoded = shifted.toString(alphabet).replace(/=+$/, "");
      forms.set(`${alphabet}, ${offset} bytes into it`, encoded.slice(offset === 0 ? 0 : 4, -1));
    }
  }
  if (text !== null) {
    forms.set("URL-encoded", encodeURIComponent(text));
    forms.set("form-encoded", new URLSearchParams({ "": text }).toString().slice(1));
    forms.set("JSON-escaped", JSON.stringify(text).slice(1, -1));
    forms.set("JSON-escaped twice", JSON.stringify(JSON.stringify(text)).slice(3, -3));
    forms.set("escaped ASCII", JSON.stringify(text).slice(1, -1).replace(/[^\x20-\x7e]/g, (character) =>
      `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`));
    forms.set("UTF-16", Buffer.from(text, "utf16le"));
    // What Node makes of the bytes of a header.
    forms.set("Latin-1 read as UTF-8", Buffer.from(bytes.toString("latin1")));
  }
  return [...forms].map(([name, form]) => ({ name, bytes: Buffer.from(form as string) }));
}
