/** A received delivery. */
export interface Delivery {
  /** The very bytes that came, or their text: parsed and written again they would have another signature. */
  readonly body: string | Uint8Array;
  readonly headers: Headers | Readonly<Record<string, string | readonly string[] | undefined>>;
}

/** The secrets and options for the verification of a delivery. */
export interface Verification {
  /** The webhook secret (`whsec_`), or several of which any may have signed, as while one is being replaced. */
  readonly secret: string | readonly string[];
  /** How many seconds the signature's time may differ from now; 300 unless set. */
  readonly tolerance?: number;
  /** The present moment, ms since 1970; the platform's clock unless set. */
  readonly now?: () => number;
}

/** A delivery that the relay signed. */
export interface VerifiedDelivery {
  /** The event's id (`webhook-id`), the same on every attempt: an event may come more than once. */
  readonly id: string;
  readonly signedAt: Date;
  readonly payload: unknown;
}

/** Why a delivery is not believed. */
export type SignatureFault = "headers" | "timestamp" | "signature";

/** A delivery that the relay did not sign, or not now. */
export class SignatureError extends Error {
  override readonly name = "SignatureError";
  /** A header is missing or malformed, the moment is not near, or no signature is right. */
  readonly code: SignatureFault;

  constructor(code: SignatureFault, message: string) {
    super(message);
    this.code = code;
  }
}

const prefix = "whsec_";
const digestBytes = 32;

/**
 * Verifies `webhook-signature` (Standard Webhooks) in constant time. Rejects with a SignatureError unless one of the
 * secrets signed these very bytes at a time near now, with a TypeError if a secret is malformed, and with a SyntaxError
 * if the signed body is not JSON.
 */
export async function verifyDelivery(
  { body, headers }: Delivery, { secret, tolerance = 300, now = Date.now }: Verification,
): Promise<VerifiedDelivery> {
  const keys = [secret].flat().map(keyOf);
  if (keys.length === 0) throw new TypeError("secret: is required");
  const [id, seconds, listed] = ["webhook-id", "webhook-timestamp", "webhook-signature"].map((name) =>
    headerOf(headers, name)) as [string, string, string];
  if (!/^\d{1,12}$/.test(seconds)) throw new SignatureError("headers", "webhook-timestamp: must be seconds since 1970");
  const signedAt = Number(seconds) * 1_000;
  if (!(Math.abs(now() - signedAt) <= tolerance * 1_000)) {
    throw new SignatureError("timestamp", `webhook-timestamp: is not within ${tolerance} s of now`);
  }
  const bytes = typeof body === "string" ? new TextEncoder().encode(body) : body;
  const signed = joined(new TextEncoder().encode(`${id}.${seconds}.`), bytes);
  const signatures = listed.split(" ").map(bytesOf).filter((signature) => signature !== null);
  for (const key of keys) {
    const imported = await crypto.subtle.importKey("raw", key, { name: "HMAC", hash: "SHA-256" }, false, ["verify"]);
    for (const signature of signatures) {
      if (!(await crypto.subtle.verify("HMAC", imported, signature, signed))) continue;
      return { id, signedAt: new Date(signedAt), payload: JSON.parse(new TextDecoder().decode(bytes)) };
    }
  }
  throw new SignatureError("signature", "webhook-signature: none is of these bytes by this secret");
}

function headerOf(headers: Delivery["headers"], name: string): string {
  const value = headers instanceof Headers
    ? headers.get(name)
    : Object.entries(headers).find(([key]) => key.toLowerCase() === name)?.[1];
  if (typeof value === "string" && value !== "") return value;
  throw new SignatureError("headers", `${name}: is ${value ? "given more than once" : "missing"}`);
}

/** Throws a TypeError that does not show the secret. */
function keyOf(secret: string): Uint8Array<ArrayBuffer> {
  const key = secret.startsWith(prefix) ? decoded(secret.slice(prefix.length)) : null;
  if (!key?.length) throw new TypeError("secret: must be whsec_ and base64");
  return key;
}

/** The bytes of a `v1` signature; null for other versions, and for any other text. */
function bytesOf(signature: string): Uint8Array<ArrayBuffer> | null {
  const bytes = signature.startsWith("v1,") ? decoded(signature.slice("v1,".length)) : null;
  return bytes?.length === digestBytes ? bytes : null;
}

function decoded(base64: string): Uint8Array<ArrayBuffer> | null {
  try {
    return Uint8Array.from(atob(base64), (character) => character.charCodeAt(0));
  } catch {
    return null;
  }
}

function joined(head: Uint8Array, tail: Uint8Array): Uint8Array<ArrayBuffer> {
  const whole = new Uint8Array(head.length + tail.length);
  whole.set(head);
  whole.set(tail, head.length);
  return whole;
}
