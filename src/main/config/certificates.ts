import { X509Certificate } from "node:crypto";
import { readFileSync } from "node:fs";
import { fail } from "./parse.ts";

/** The contents of a PEM file of authorities. */
export interface Certificates {
  /** Only the certificates, in the form that OpenSSL reads. */
  readonly pem: string;
  readonly parsed: readonly X509Certificate[];
  /** Labels of other blocks, such as `PRIVATE KEY`. */
  readonly otherBlocks: readonly string[];
}

const certificateLabels: readonly string[] = ["CERTIFICATE", "X509 CERTIFICATE", "TRUSTED CERTIFICATE"];
const opening = /-----BEGIN ([A-Z0-9 ]+)-----/;
const commentLine = /^[ \t]*#.*$/gm;
/** A misspelt marker, which would hide a certificate. */
const strayMarker = /[-\u2010-\u2015]{2,}\s*(?:BEGIN|END)\s[\w\s]*CERTIFICATE/i;
/** OpenSSL's default security level refuses a chain with a shorter key. */
const shortestRsaBits = 2048;

/** Reads a PEM file with at least one certificate among any other blocks and text. Lines with `#` are comments. */
export function certificateFile(path: string): Certificates {
  const file = JSON.stringify(path);
  const blocks: string[] = [];
  const parsed: X509Certificate[] = [];
  const otherBlocks: string[] = [];
  // The text before the first block, then the label and the rest of each.
  const [before = "", ...parts] = contents(path).replace(commentLine, "").split(opening);
  const checkText = (text: string) => {
    const [marker] = strayMarker.exec(text) ?? [];
    if (marker !== undefined) fail(`must be a PEM file, but a line with ${marker} in ${file} is no marker of a block`);
  };
  checkText(before);
  for (let at = 0; at < parts.length; at += 2) {
    const [label = "", rest = ""] = parts.slice(at);
    const [, ...behind] = rest.split(`-----END ${label}-----`);
    checkText(behind.join("\n"));
    if (!certificateLabels.includes(label)) {
      otherBlocks.push(label);
      continue;
    }
    const block = blockOf(label, rest);
    try {
      parsed.push(new X509Certificate(block));
    } catch {
      fail(`must be a PEM file, but certificate ${blocks.length + 1} in ${file} cannot be read`);
    }
    blocks.push(block);
  }
  if (blocks.length === 0) fail(`must be a PEM file, but ${file} holds no certificate${insteadOf(path, otherBlocks)}`);
  return { pem: blocks.join(""), parsed, otherBlocks };
}

/** Warnings about such a file, a line each; `now` in milliseconds since 1970. */
export function certificateWarnings({ parsed, otherBlocks }: Certificates, now: number): string[] {
  const ofCertificates = parsed.flatMap((certificate, index) => {
    const name = `certificate ${index + 1} (${nameOf(certificate)})`;
    const { publicKey: { asymmetricKeyType: type, asymmetricKeyDetails: key } } = certificate;
    return [
      ...(certificate.validToDate.getTime() < now ? [`${name} is not trusted: it expired ${certificate.validTo}`] : []),
      ...(certificate.validFromDate.getTime() > now
        ? [`${name} is not trusted yet: it is valid from ${certificate.validFrom}`]
        : []),
      ...(type === "rsa" && (key?.modulusLength ?? shortestRsaBits) < shortestRsaBits
        ? [`${name} is not trusted: its key is shorter than ${shortestRsaBits} bits`]
        : []),
    ];
  });
  return [...ofCertificates, ...otherBlocks.map((label) => `holds a block ${label}, which is not used`)];
}

function blockOf(label: string, rest: string): string {
  const end = rest.indexOf(`-----END ${label}-----`);
  const lines = rest.slice(0, Math.max(0, end)).replace(/\s+/g, "").replace(/.{64}(?=.)/g, "$&\n");
  return `-----BEGIN ${label}-----\n${lines}\n-----END ${label}-----\n`;
}

function nameOf({ subject, serialNumber }: X509Certificate): string {
  return subject === "" ? `serial number ${serialNumber}` : subject.replaceAll("\n", ", ");
}

function insteadOf(path: string, otherBlocks: readonly string[]): string {
  if (otherBlocks.length > 0) return `, only ${otherBlocks.join(", ")}`;
  try {
    new X509Certificate(readFileSync(path));
    return ": it is DER, which openssl x509 -inform der converts";
  } catch {
    return "";
  }
}

function contents(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch (error) {
    const code = error instanceof Error && "code" in error ? String(error.code) : "unknown error";
    return fail(`must be a PEM file, but ${JSON.stringify(path)} cannot be read (${code})`);
  }
}
