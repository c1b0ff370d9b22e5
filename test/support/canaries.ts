import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

/** What is searched for, in all forms, and where it was found. */
export interface Sighting {
  readonly kind: string;
  /** How it was written there. */
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
  /** Every form of every secret, for whoever wants to see that the search finds it. */
  readonly forms: Form[] = [];
  /** By the number that their first four bytes are: a search looks at each place once, however many there are. */
  readonly #byStart = new Map<number, Form[]>();

  /** A secret, as the text or the bytes that it is. */
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

  /** What kinds there are, each once. */
  get kinds(): ReadonlySet<string> {
    return new Set(this.forms.map(({ kind }) => kind));
  }

  /** Which of them, in which forms, stand in this text or these bytes. */
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

  /** Where in the files of a folder, however deep, any of them stands. */
  searchFolder(folder: string): Sighting[] {
    return filesIn(folder).flatMap((file) => this.search(file.slice(folder.length + 1), readFileSync(file)));
  }
}

/** Every file in a folder, however deep. */
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
