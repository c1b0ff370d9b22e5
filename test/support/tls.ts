import { createPublicKey, generateKeyPairSync, randomBytes, sign, type KeyObject } from "node:crypto";
import { isIP } from "node:net";

/** The private key and certificate of a server or client, PEM. */
export interface ServerIdentity {
  readonly key: string;
  readonly cert: string;
}

/** A certificate authority that lives as long as the test: its key is never written anywhere. */
export interface Authority {
  /** The certificate that clients trust, PEM. */
  readonly caPem: string;
  /** A certificate for these names and addresses; for this machine when left out. It expires in 30 days. */
  issue(hosts?: readonly string[], validMs?: number): ServerIdentity;
  /** An authority below this one, whose certificate this one signed. */
  intermediate(): Authority;
}

const thisMachine = ["localhost", "127.0.0.1", "::1"];

/** Makes an authority (ECDSA P-256, valid from yesterday for a month). `above` or its own key signs it. */
export function makeAuthority(above?: Issuer): Authority {
  // Clients that trust several authorities tell them apart by their names.
  const name = `throwaway authority ${randomBytes(8).toString("hex")}`;
  const { privateKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
  const issuer = { name, key: privateKey };
  const isAuthority = extension("2.5.29.19", sequence(boolean(true)));
  return {
    caPem: certificate(name, privateKey, above ?? issuer, [isAuthority]),
    issue(hosts = thisMachine, validMs = 30 * dayMs) {
      return serverIdentity(hosts, issuer, validMs);
    },
    intermediate: () => makeAuthority(issuer),
  };
}

/** A certificate that only vouches for itself. */
export function makeSelfSigned(hosts: readonly string[] = thisMachine): ServerIdentity {
  return serverIdentity(hosts);
}

interface Issuer {
  readonly name: string;
  readonly key: KeyObject;
}

function serverIdentity(hosts: readonly string[], issuer?: Issuer, validMs?: number): ServerIdentity {
  const { privateKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
  const name = hosts[0] ?? "server";
  const alternativeNames = extension("2.5.29.17", sequence(...hosts.map(generalName)));
  return {
    key: privateKey.export({ type: "pkcs8", format: "pem" }).toString(),
    cert: certificate(name, privateKey, issuer ?? { name, key: privateKey }, [alternativeNames], validMs),
  };
}

const dayMs = 86_400_000;
const ecdsaWithSha256 = sequence(objectId("1.2.840.10045.4.3.2"));

/** An X.509 version 3 certificate (RFC 5280), PEM. */
function certificate(
  name: string, key: KeyObject, issuer: Issuer, extensions: readonly Buffer[],
  validMs = 30 * dayMs,
): string {
  const now = Date.now();
  const content = sequence(
    tagged(0xa0, integer(Buffer.from([2]))),
    integer(Buffer.concat([Buffer.from([0x40]), randomBytes(15)])),
    ecdsaWithSha256,
    commonName(issuer.name),
    sequence(time(now - dayMs), time(now + validMs)),
    commonName(name),
    createPublicKey(key).export({ type: "spki", format: "der" }),
    tagged(0xa3, sequence(...extensions)),
  );
  const signature = sign("sha256", content, issuer.key);
  const der = sequence(content, ecdsaWithSha256, bitString(signature));
  const lines = der.toString("base64").replace(/.{64}/g, "$&\n");
  return `-----BEGIN CERTIFICATE-----\n${lines}\n-----END CERTIFICATE-----\n`;
}

function commonName(text: string): Buffer {
  return sequence(tagged(0x31, sequence(objectId("2.5.4.3"), tagged(0x0c, Buffer.from(text)))));
}

function extension(id: string, value: Buffer): Buffer {
  return sequence(objectId(id), tagged(0x04, value));
}

/** A name (tag 2) or an address (tag 7) that the certificate is for. */
function generalName(host: string): Buffer {
  const family = isIP(host);
  if (family === 0) return tagged(0x82, Buffer.from(host));
  return tagged(0x87, family === 4 ? Buffer.from(host.split(".").map(Number)) : ipv6Bytes(host));
}

function ipv6Bytes(address: string): Buffer {
  const [head = "", tail = ""] = new URL(`http://[${address}]`).hostname.slice(1, -1).split("::");
  const left = head === "" ? [] : head.split(":");
  const right = tail === "" ? [] : tail.split(":");
  const zeros = new Array<string>(8 - left.length - right.length).fill("0");
  return Buffer.from([...left, ...zeros, ...right].map((word) => word.padStart(4, "0")).join(""), "hex");
}

// DER: a tag, the length, the content.

function tagged(tag: number, content: Buffer): Buffer {
  const { length } = content;
  const head = length < 128 ? [tag, length] : [tag, 0x82, length >> 8, length & 255];
  return Buffer.concat([Buffer.from(head), content]);
}

function sequence(...parts: readonly Buffer[]): Buffer {
  return tagged(0x30, Buffer.concat(parts));
}

function integer(bytes: Buffer): Buffer {
  return tagged(0x02, bytes);
}

function boolean(value: boolean): Buffer {
  return tagged(0x01, Buffer.from([value ? 0xff : 0]));
}

function bitString(bytes: Buffer): Buffer {
  return tagged(0x03, Buffer.concat([Buffer.from([0]), bytes]));
}

function time(ms: number): Buffer {
  return tagged(0x18, Buffer.from(`${new Date(ms).toISOString().replace(/\D/g, "").slice(0, 14)}Z`));
}

function objectId(text: string): Buffer {
  const [first = 0, second = 0, ...rest] = text.split(".").map(Number);
  return tagged(0x06, Buffer.from([first * 40 + second, ...rest.flatMap(base128)]));
}

function base128(value: number): number[] {
  const bytes = [value & 127];
  for (let left = value >> 7; left > 0; left >>= 7) bytes.unshift((left & 127) | 128);
  return bytes;
}
