import { readdir, readFile } from "node:fs/promises";
import type { IncomingHttpHeaders } from "node:http";
import { extname, join } from "node:path";
import { promisify } from "node:util";
import { gzip } from "node:zlib";
import type { Context, Middleware } from "koa";
import { answer, answerOtherMethod, answerUnknownPath } from "../answers/answer.ts";

/** A file. */
export interface PageFile {
  readonly type: string;
  readonly bytes: Buffer;
  readonly compressed: Buffer;
}

/** The built pages: their one document, scripts and styles. */
export interface PageFiles {
  /** Its addresses begin with `./`. */
  readonly document: string;
  /** By name; a name changes with its contents. */
  readonly assets: ReadonlyMap<string, PageFile>;
}

const compress = promisify(gzip);

const types: Readonly<Record<string, string>> = {
  ".js": "text/javascript; charset=utf-8",
  ".css": "text/css; charset=utf-8",
  ".svg": "image/svg+xml",
};

/** Only the pages' own files, no markup from texts, no frames. */
const policy = [
  "default-src 'none'", "script-src 'self'", "style-src 'self'", "connect-src 'self'", "img-src 'self'",
  "font-src 'self'", "manifest-src 'self'", "base-uri 'none'", "form-action 'self'", "frame-ancestors 'none'",
  "require-trusted-types-for 'script'", "trusted-types 'none'",
].join("; ");

const methods: readonly string[] = ["GET", "HEAD"];

/** Serves `/app` and the paths below it from a folder, which is read at the first request. */
export function servePages(folder: string): Middleware {
  let read: Promise<PageFiles> | undefined;
  const files = () => {
    read ??= readPageFiles(folder).catch((error: unknown) => {
      read = undefined;
      throw error;
    });
    return read;
  };
  return async (context, next): Promise<void> => {
    const { path } = context;
    if (path !== "/app" && !path.startsWith("/app/")) {
      await next();
      return;
    }
    if (!methods.includes(context.method)) return answerOtherMethod(context, methods);
    if (path === "/app") return answer(context, { status: 302, headers: { Location: "app/" } }, "see app/");
    const { document, assets } = await files();
    if (!path.startsWith("/app/assets/")) return sendDocument(context, document);
    const file = assets.get(path.slice("/app/assets/".length));
    if (!file) return answerUnknownPath(context);
    context.set("Cache-Control", "public, max-age=31536000, immutable");
    context.vary("Accept-Encoding");
    const takesGzip = context.acceptsEncodings("gzip", "identity") === "gzip";
    if (takesGzip) context.set("Content-Encoding", "gzip");
    context.type = file.type;
    context.body = takesGzip ? file.compressed : file.bytes;
  };
}

/** Whether a browser sent the request. */
export function wantsPage({ accept = "" }: IncomingHttpHeaders): boolean {
  return accept.includes("text/html");
}

/** The addresses are relative, so that they hold behind any proxy's path. */
function sendDocument(context: Context, document: string): void {
  const depth = context.path.split("/").length - "/app/".split("/").length;
  context.set("Content-Security-Policy", policy);
  context.set("Referrer-Policy", "no-referrer");
  context.type = "text/html; charset=utf-8";
  context.body = document.replaceAll('"./assets/', `"${depth === 0 ? "./" : "../".repeat(depth)}assets/`);
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
