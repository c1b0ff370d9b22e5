import { readdir, readFile } from "node:fs/promises";
import { extname, join } from "node:path";
import { promisify } from "node:util";
import { gzip } from "node:zlib";

const compress = promisify(gzip);

const types: Readonly<Record<string, string>> = {
  ".js": "text/javascript; charset=utf-8",
  ".css": "text/css; charset=utf-8",
  ".svg": "image/svg+xml",
};

/** A file as it is sent. */
export interface PageFile {
  readonly type: string;
  readonly bytes: Buffer;
  readonly compressed: Buffer;
}

/** The built pages: the document that all of them share, and its scripts and styles. */
export interface PageFiles {
  /** The document; addresses in it begin with `./`. */
  readonly document: string;
  /** By their names. The names of files change with their contents. */
  readonly assets: ReadonlyMap<string, PageFile>;
}

/** Reads the built pages in a folder. Rejects if there are none. */
export async function readPageFiles(folder: string): Promise<PageFiles> {
  const assets = join(folder, "assets");
  const names = await readdir(assets);
  const files = await Promise.all(names.map(async (name) => {
    const bytes = await readFile(join(assets, name));
    const type = types[extname(name)] ?? "application/octet-stream";
    return [name, { type, bytes, compressed: await compress(bytes) }] as const;
  }));
  return { document: await readFile(join(folder, "index.html"), "utf8"), assets: new Map(files) };
}
