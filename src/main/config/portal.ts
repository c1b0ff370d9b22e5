import { readFileSync } from "node:fs";
import { fail } from "./parse.ts";

/** An image as it is served. */
export interface Logo {
  readonly type: "image/png" | "image/svg+xml";
  readonly bytes: Buffer;
}

const mostLogoBytes = 65_536;
const mostNameCharacters = 100;
/** That of normal text (WCAG 2.2, 1.4.3). */
const leastContrast = 4.5;
const pngSignature = "89504e470d0a1a0a";

/** How browsers reach the relay: an origin, or with a path in front of the relay's. It has no slash at the end. */
export function publicUrl(text: string): string {
  const url = URL.parse(text);
  if (!isWeb(url)) fail("must be a URL that starts with https:// or http://");
  if (url.username !== "" || url.password !== "") fail("must not hold a name or password");
  if (url.search !== "" || url.hash !== "") fail("must not have a query or fragment");
  return url.href.replace(/\/+$/, "");
}

/** An origin, as `frame-ancestors` of a Content-Security-Policy takes it. */
export function origin(text: string): string {
  const url = URL.parse(text);
  if (isWeb(url) && !text.includes("*") && [url.origin, `${url.origin}/`].includes(text)) return url.origin;
  return fail("must be origins such as https://app.example.com");
}

/** A name for people. */
export function brandName(text: string): string {
  if (text.length > mostNameCharacters) fail(`must be at most ${mostNameCharacters} characters long`);
  return /\p{Cc}/u.test(text) || !text.isWellFormed() ? fail("must have no control characters") : text;
}

/** A colour that white text can be read on, and that can be read as text on white. */
export function color(text: string): string {
  const [, red = "", green = "", blue = ""] = /^#([\da-f]{2})([\da-f]{2})([\da-f]{2})$/i.exec(text)
    ?? fail("must be a colour such as #1a4fa3");
  const contrast = 1.05 / (luminance([red, green, blue]) + 0.05);
  if (contrast >= leastContrast) return text.toLowerCase();
  const words = `a contrast of at least ${leastContrast} with white, not ${contrast.toFixed(2)}`;
  return fail(`must have ${words}: take a darker one`);
}

function isWeb(url: URL | null): url is URL {
  return url?.protocol === "https:" || url?.protocol === "http:";
}

/** The relative luminance of a colour (WCAG 2.2). */
function luminance(channels: readonly string[]): number {
  const [red = 0, green = 0, blue = 0] = channels.map((hex) => {
    const share = parseInt(hex, 16) / 255;
    return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}

/** An image file, SVG or PNG. */
export function logoFile(path: string): Logo {
  const bytes = contents(path);
  const file = JSON.stringify(path);
  if (bytes.length > mostLogoBytes) fail(`must be at most ${mostLogoBytes} bytes, which ${file} is not`);
  if (bytes.subarray(0, 8).toString("hex") === pngSignature) return { type: "image/png", bytes };
  if (/^\uFEFF?\s*(?:<\?xml[^>]*>|<!--[\s\S]*?-->|<!DOCTYPE[^>]*>|\s)*<svg[\s>]/i.test(bytes.toString("utf8"))) {
    return { type: "image/svg+xml", bytes };
  }
  return fail(`must be an SVG or PNG image, which ${file} is not`);
}

function contents(path: string): Buffer {
  try {
    return readFileSync(path);
  } catch (error) {
    const code = error instanceof Error && "code" in error ? String(error.code) : "unknown error";
    return fail(`must be an image file, but ${JSON.stringify(path)} cannot be read (${code})`);
  }
}
