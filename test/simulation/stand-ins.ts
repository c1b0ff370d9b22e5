import { createHmac } from "node:crypto";
import type { Mappings } from "../../src/kernel/ports/mapping.ts";
import type { Passwords } from "../../src/kernel/ports/passwords.ts";
import { Unsealable, type Sealing, type SealingKey } from "../../src/kernel/ports/sealing.ts";
import type { SessionClaims, Tokens } from "../../src/kernel/ports/tokens.ts";
import { mappedBy, type expressions } from "./messages.ts";

const masterKeyId = "0123456789abcdef";

/** Deterministic sealing, so that a run depends on its seed alone. */
export const sealing: Sealing = {
  masterKeyIds: [masterKeyId],
  wrap: (key, place) => `w1.${masterKeyId}.${boxed(named(key), masterKeyId, place)}`,
  unwrap: (wrapped, place) => Buffer.from(opened(wrapped.split(".")[2] ?? "", masterKeyId, place), "hex"),
  seal: (text, key, place) => `s1.${boxed(text, named(key), place)}`,
  open: (sealed, key, place) => opened(sealed.slice(3), named(key), place),
};

/** The text that was sealed, without a key. */
export function textIn(sealed: string): string {
  return (JSON.parse(Buffer.from(sealed.slice(3), "base64url").toString()) as string[])[2] ?? "";
}

function boxed(text: string, key: string, place: string): string {
  return Buffer.from(JSON.stringify([key, place, text])).toString("base64url");
}

function opened(box: string, key: string, place: string): string {
  const [sealedBy, sealedFor, text] = JSON.parse(Buffer.from(box, "base64url").toString()) as string[];
  if (sealedBy !== key || sealedFor !== place || text === undefined) throw new Unsealable("another key or place");
  return text;
}

function named(key: SealingKey): string {
  return Buffer.from(key).toString("hex");
}

/** Passwords without the cost of hashing. */
export const passwords: Passwords = {
  hash: async (password) => `hash of ${password}`,
  matches: async (password, hash) => hash === `hash of ${password}`,
  nobody: "nobody's",
};

/** Tokens that do not use the platform's crypto threads. */
export const tokens: Tokens = {
  sign: async (claims, key) => {
    const text = Buffer.from(JSON.stringify(claims)).toString("base64url");
    return `${text}.${mac(text, key)}`;
  },
  verify: async (token, key, now) => {
    const [text = "", signature] = token.split(".");
    if (signature !== mac(text, key)) return null;
    const claims = JSON.parse(Buffer.from(text, "base64url").toString()) as SessionClaims;
    return Date.parse(claims.expiresAt) > now ? claims : null;
  },
};

function mac(text: string, key: Uint8Array): string {
  return createHmac("sha256", key).update(text).digest("base64url");
}

/** The mappings of {@link expressions}. */
export const mappings: Mappings = {
  problemOf: async () => null,
  apply: async (_tenantId, expression, payload) => {
    const text = mappedBy(expression as (typeof expressions)[number], payload);
    return text === null ? { problem: "yields nothing" } : { text };
  },
};
