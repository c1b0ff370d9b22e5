import { SignJWT, UnsecuredJWT } from "jose";
import { PlatformKeys } from "../../src/kernel/sealing/platform-keys.ts";
import { createUser, roleCodes, type Client } from "./accounts.ts";
import type { TestApi } from "./api.ts";
import type { Scene } from "./good-requests.ts";

/** An `Authorization` header that must let nobody in. */
export interface BadToken {
  readonly kind: string;
  readonly authorization: string;
}

const encoded = (value: object) => Buffer.from(JSON.stringify(value)).toString("base64url");

/** Invalid and ended tokens of every kind: each differs in one thing from a valid one. */
export async function badTokens(api: TestApi, { one, other, ingest }: Scene): Promise<readonly BadToken[]> {
  const { tokenKey } = await new PlatformKeys(api.world).get();
  const good = one.owner.client.token ?? "";
  const [head = "", body = "", signature = ""] = good.split(".");
  const claims = JSON.parse(Buffer.from(body, "base64url").toString()) as Record<string, string | number>;
  const sign = (change: object, header: object = {}, key: Uint8Array = tokenKey) =>
    new SignJWT({ ...claims, ...change }).setProtectedHeader({ alg: "HS256", typ: "JWT", ...header }).sign(key);
  const forged = {
    "signed by another key": sign({}, {}, new Uint8Array(32)),
    "signed with another algorithm": sign({}, { alg: "HS512" }),
    expired: sign({ exp: Math.floor(api.world.clock.now() / 1000) - 1 }),
    "without an end": sign({ exp: undefined }),
    "without a role": sign({ role: undefined }),
    "of a role that is none": sign({ role: "Root" }),
    "of a role that is not the user's": sign({ role: "Admin" }),
    "of another tenant's id": sign({ tenantId: other.tenantId }),
    "of another tenant's user": sign({ sub: other.owner.id }),
    "of another issuer": sign({ iss: "another" }),
    "for another audience": sign({ aud: "another" }),
  };
  const spelled = {
    unsigned: new UnsecuredJWT(claims).encode(),
    'of algorithm "none"': `${encoded({ alg: "none" })}.${body}.`,
    "of changed claims": `${head}.${encoded({ ...claims, role: "Admin" })}.${signature}`,
    padded: `${good}=`,
    "spelled another way": `${head}.${body}.${respelled(signature)}`,
    "without its signature": `${head}.${body}.`,
    "an API key": ingest.apiKey,
    "an ingest token": ingest.ingestToken,
    "the webhook secret": one.webhookSecret,
    "nothing like a token": "x",
  };
  const ended = await endedSessions(one.owner.client);
  const tokens = { ...spelled, ...Object.fromEntries(await resolved(forged)), ...ended };
  const schemes = {
    "without its scheme": good,
    "under another scheme": `Basic ${good}`,
    "given twice": `Bearer ${good}, Bearer ${good}`,
  };
  return [
    ...Object.entries(tokens).map(([kind, token]) => ({ kind, authorization: `Bearer ${token}` })),
    ...Object.entries(schemes).map(([kind, authorization]) => ({ kind, authorization })),
  ];
}

/** Well-formed tokens of sessions that have ended. */
async function endedSessions(client: Client): Promise<Record<string, string>> {
  const endings: Record<string, (id: string, own: Client) => Promise<unknown>> = {
    "logged out": (_id, own) => own.post("/api/v1/auth/logout"),
    "of a deleted user": (id) => client.delete(`/api/v1/users/${id}`),
    "of an inactive user": (id) => client.patch(`/api/v1/users/${id}`, { status: 1 }),
    "of a user of another role since": (id) => client.patch(`/api/v1/users/${id}`, { role: roleCodes.viewer }),
    "of a user of another password since": (id, own) => own.patch(`/api/v1/users/${id}`, { password: "another one" }),
    "of a user who was away": async (id) => {
      await client.patch(`/api/v1/users/${id}`, { status: 1 });
      await client.patch(`/api/v1/users/${id}`, { status: 0 });
    },
  };
  const tokens: Record<string, string> = {};
  for (const [kind, end] of Object.entries(endings)) {
    const person = await createUser(client, "admin");
    await end(person.id, person.client);
    tokens[kind] = person.client.token ?? "";
  }
  return tokens;
}

/** The last character of 32 bytes in base64url has two bits to spare. */
function respelled(signature: string): string {
  const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
  return signature.slice(0, -1) + (alphabet[alphabet.indexOf(signature.at(-1) ?? "") ^ 1] ?? "");
}

async function resolved(tokens: Readonly<Record<string, Promise<string>>>): Promise<[string, string][]> {
  return Promise.all(Object.entries(tokens).map(async ([kind, token]) => [kind, await token] as [string, string]));
}
