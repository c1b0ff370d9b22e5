import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

/** A secret that a search found: its kind, its form and its place. */
export interface Sighting {
  readonly kind: string;
  /** How the secret was written there. */
  readonly form: string;
  readonly place: string;
}

/** One way in which one secret may be written. */
interface Form {
  readonly kind: string;
  readonly form: string;
  readonly bytes: Buffer;
}

/** Secrets of every kind, and the search for them in bytes of any kind. */
export class Canaries {
  /** Every form of every secret: a test can check that the search finds each. */
  readonly forms: Form[] = [];
  /** Forms by their first four bytes as a number: a search looks at each place once, with any number of forms. */
  readonly #byStart = new Map<number, Form[]>();

  /** Adds a secret: a text or bytes. */
  add(kind: string, secret: string | Uint8Array): void {
    const bytes = Buffer.from(secret as string);
    if (bytes.length < 12) throw new Error(`${kind}: ${bytes.length} bytes might turn up by chance`);
    for (const { name, bytes: written } of formsOf(bytes, typeof secret === "string" ? secret : null)) {
      const form = { kind, form: name, bytes: written };
      this.forms.push(form);
      const start = written.readUInt32LE();
      this.#byStart.set(start, [...(this.#byStart.get(start) ?? []), form]);
    }
  }

  /** The kinds of the secrets. */
  get kinds(): ReadonlySet<string> {
    return new Set(this.forms.map(({ kind }) => kind));
  }

  /** The secrets in a text or in bytes, each with its form. */
  search(place: string, where: string | Buffer): Sighting[] {
    const haystack = Buffer.from(where as string);
    const found = new Set<Form>();
    for (let at = 0; at <= haystack.length - 4; at += 1) {
      for (const form of this.#byStart.get(haystack.readUInt32LE(at)) ?? []) {
        if (haystack.subarray(at, at + form.bytes.length).equals(form.bytes)) found.add(form);
      }
    }
    return [...found].map(({ kind, form }) => ({ kind, form, place }));
  }

  /** The secrets in all files of a folder, at any depth. */
  searchFolder(folder: string): Sighting[] {
    return filesIn(folder).flatMap((file) => this.search(file.slice(folder.length + 1), readFileSync(file)));
  }
}

/** Every file in a folder, at any depth. */
function filesIn(folder: string): string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile()).map(({ parentPath, name }) => join(parentPath, name));
}

function formsOf(bytes: Buffer, text: string | null): readonly { readonly name: string; readonly bytes: Buffer }[] {
  const forms = new Map<string, Buffer | string>([
    ["raw", bytes], ["hex", bytes.toString("hex")], ["HEX", bytes.toString("hex").toUpperCase()],
  ]);
  for (let offset = 0; offset < 3; offset += 1) {
    const shifted = Buffer.concat([Buffer.alloc(offset), bytes]);
    for (const alphabet of ["base64", "base64url"] as const) {
      // Without the first and last characters, which depend on the bytes beside the secret.
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
    // Node decodes the bytes of a header as Latin-1.
    forms.set("Latin-1 read as UTF-8", Buffer.from(bytes.toString("latin1")));
  }
  return [...forms].map(([name, form]) => ({ name, bytes: Buffer.from(form as string) }));
}
