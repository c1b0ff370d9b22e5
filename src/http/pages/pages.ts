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

/** The settings of the portal's pages. */
export interface PortalPages {
  /** Origins that may frame them. */
  readonly origins: readonly string[];
  readonly logo: { readonly type: string; readonly bytes: Buffer } | null;
}

/** Only the pages' own files, no markup from texts, and only these frames. */
function policyOf(ancestors: readonly string[]): string {
  return [
    "default-src 'none'", "script-src 'self'", "style-src 'self'", "connect-src 'self'", "img-src 'self'",
    "font-src 'self'", "manifest-src 'self'", "base-uri 'none'", "form-action 'self'",
    `frame-ancestors ${ancestors.join(" ") || "'none'"}`, "require-trusted-types-for 'script'", "trusted-types 'none'",
  ].join("; ");
}

/** For an image that is opened as a page: nothing in it runs or is loaded. */
const logoPolicy = "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'; sandbox";
const logoPath = "/portal/logo";

const methods: readonly string[] = ["GET", "HEAD"];

/** Serves `/app`, `/portal` and the paths below them from a folder, which is read at the first request. */
export function servePages(folder: string, { origins, logo }: PortalPages): Middleware {
  const policies = { app: policyOf([]), portal: policyOf(origins) };
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
    const [, root, , rest] = /^\/(app|portal)(\/(.*))?$/s.exec(path) ?? [];
    if (root === undefined) {
      await next();
      return;
    }
    if (!methods.includes(context.method)) return answerOtherMethod(context, methods);
    // Browsers keep the fragment, in which a portal link has its code.
    if (rest === undefined) return answer(context, { status: 302, headers: { Location: `${root}/` } }, `see ${root}/`);
    if (path === logoPath) return logo ? sendLogo(context, logo) : answerUnknownPath(context);
    const { document, assets } = await files();
    if (!rest.startsWith("assets/")) return sendDocument(context, document, rest, policies[root as "app" | "portal"]);
    const file = assets.get(rest.slice("assets/".length));
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
function sendDocument(context: Context, document: string, path: string, policy: string): void {
  const depth = path.split("/").length - 1;
  context.set("Content-Security-Policy", policy);
  context.set("Referrer-Policy", "no-referrer");
  context.type = "text/html; charset=utf-8";
  context.body = document.replaceAll('"./assets/', `"${depth === 0 ? "./" : "../".repeat(depth)}assets/`);
}

function sendLogo(context: Context, { type, bytes }: NonNullable<PortalPages["logo"]>): void {
  context.set("Content-Security-Policy", logoPolicy);
  context.set("Cache-Control", "public, max-age=300");
  context.type = type;
  context.body = bytes;
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
