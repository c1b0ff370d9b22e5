import { X509Certificate } from "node:crypto";
import { readFileSync } from "node:fs";
import { fail } from "./parse.ts";

/** The path of a PEM file with at least one certificate, all of them readable. */
export function certificateFile(path: string): string {
  const pem = contents(path);
  const blocks = pem.match(/-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g)
    ?? fail(`must be a PEM file, but ${JSON.stringify(path)} holds no certificate`);
  for (const [index, block] of blocks.entries()) {
    try {
      new X509Certificate(block);
    } catch {
      fail(`must be a PEM file, but certificate ${index + 1} in ${JSON.stringify(path)} cannot be read`);
    }
  }
  return path;
}

function contents(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch (error) {
    const code = error instanceof Error && "code" in error ? String(error.code) : "unknown error";
    return fail(`must be a PEM file, but ${JSON.stringify(path)} cannot be read (${code})`);
  }
}
