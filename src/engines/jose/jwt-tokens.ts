import { jwtVerify, SignJWT, type JWTPayload } from "jose";
import { JOSEError } from "jose/errors";
import { millis, timestamp } from "../../kernel/domain/time.ts";
import type { SessionClaims, Tokens } from "../../kernel/ports/tokens.ts";

const algorithm = "HS256";
const header = { alg: algorithm, typ: "JWT" };
const encodedHeader = Buffer.from(JSON.stringify(header)).toString("base64url");
const issuer = "webhook-relay";
const audience = "webhook-relay-api";
/** Not a registered claim. */
const versionClaim = "ver";

/** Access tokens as JWTs, HS256 only. */
export class JwtTokens implements Tokens {
  sign(claims: SessionClaims, key: Uint8Array): Promise<string> {
    const { tenantId, role, sessionVersion, sessionId, passwordAt } = claims;
    const browser = passwordAt === null ? {} : { auth_time: millis(passwordAt) / 1000, sid: sessionId };
    return new SignJWT({ tenantId, role, [versionClaim]: sessionVersion, ...browser })
      .setProtectedHeader(header)
      .setSubject(claims.userId)
      .setJti(claims.tokenId)
      .setIssuer(issuer)
      .setAudience(audience)
      .setIssuedAt(millis(claims.issuedAt) / 1000)
      .setExpirationTime(millis(claims.expiresAt) / 1000)
      .sign(key);
  }

  async verify(token: string, key: Uint8Array, now: number): Promise<SessionClaims | null> {
    if (!token.startsWith(`${encodedHeader}.`) || !token.split(".").every(isCanonical)) return null;
    try {
      const checks = { algorithms: [algorithm], issuer, audience, currentDate: new Date(now) };
      return claimsOf((await jwtVerify(token, key, checks)).payload);
    } catch (error) {
      if (error instanceof JOSEError) return null;
      throw error;
    }
  }
}

/** Null for missing or mistyped claims: jose requires `iss` and `aud` only. */
function claimsOf(payload: JWTPayload): SessionClaims | null {
  // `auth_time` is the time of the password (OpenID Connect Core, 2), `sid` the session (Front-Channel Logout, 3).
  const { sub, tenantId, role, jti, iat, exp, [versionClaim]: version, auth_time: passwordAt, sid } = payload;
  const texts = [sub, tenantId, role, jti].every((claim) => typeof claim === "string");
  if (!texts || iat === undefined || exp === undefined || typeof version !== "number") return null;
  if (passwordAt !== undefined && (typeof passwordAt !== "number" || typeof sid !== "string")) return null;
  return {
    userId: sub as string,
    tenantId: tenantId as string,
    role: role as string,
    tokenId: jti as string,
    sessionId: passwordAt === undefined ? jti as string : sid as string,
    sessionVersion: version,
    issuedAt: timestamp(iat * 1000),
    expiresAt: timestamp(exp * 1000),
    passwordAt: passwordAt === undefined ? null : timestamp(passwordAt * 1000),
  };
}

/** jose also accepts other spellings of the same bytes (padding, unused bits set). */
function isCanonical(part: string): boolean {
  return Buffer.from(part, "base64url").toString("base64url") === part;
}
