import type { Values } from "./changes.ts";
import type { Fact } from "./fact-words.ts";

/** What an entry is about, as the audit has it. */
export interface FactSubject {
  readonly type: string;
  readonly id: string;
}

/** By type of subject, the field of its facts that has its own id. */
const ownId: Readonly<Record<string, string>> = {
  destination: "destinationId", sender: "senderId", apiKey: "keyId", serviceAccount: "serviceAccountId", user: "userId",
  invite: "inviteId", purge: "purgeId", replay: "replayId", cancellation: "cancellationId",
};

const statuses: readonly (readonly [RegExp, string])[] = [
  [/^(SenderCreated|DestinationRegistered|ServiceAccountCreated|ApiKeyIssued)$/, "Active"],
  [/^(Sender|Destination|ServiceAccount)Activated$/, "Active"],
  [/^(Sender|Destination|ServiceAccount)Deactivated$/, "Inactive"],
  [/^InviteAccepted$/, "Accepted"],
  [/^(ApiKey|Invite)Revoked$/, "Revoked"],
  [/^(Sender|Destination|ServiceAccount|User)Deleted$/, "Deleted"],
];

/** Facts about a value that nobody is shown: the field, which shows when it was replaced. */
const replaced: Readonly<Record<string, string>> = {
  IngestTokenRegenerated: "ingest token", SenderIngestTokenRegenerated: "ingest token",
  UserPasswordChanged: "password", UserEmailChanged: "email",
};

/** The settings of a thing after these facts about it, the oldest first, by names for people. */
export function valuesAfter(facts: readonly Fact[], subject: FactSubject): Values {
  return Object.assign({}, ...facts.map((fact) => valuesIn(fact, subject))) as Values;
}

function valuesIn(fact: Fact, subject: FactSubject): Values {
  const { type, time } = fact;
  const data = Object.entries(fact.data as Readonly<Record<string, unknown>>);
  const isChange = /^(User|ServiceAccount)(Role|Status)Changed$/.test(type);
  const hidden = new Set(["at", "tenantId", ownId[subject.type] ?? "", isChange ? "from" : ""]);
  const status = statuses.find(([types]) => types.test(type))?.[1];
  const secret = replaced[type];
  const fields = data.filter(([name]) => !hidden.has(name)).map(([name, value]) => [title(name), text(value)]);
  return {
    ...(Object.fromEntries(fields) as Values),
    ...(type === "DestinationAuthRemoved" ? { "auth type": null } : {}),
    ...(status === undefined ? {} : { status }),
    ...(secret === undefined ? {} : { [secret]: `replaced at ${time}` }),
  };
}

/** A name in camel case as words: `serverRateLimit` is `server rate limit`. */
export function title(name: string): string {
  return name.replace(/(?<=[a-z])[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`);
}

/** A value as a line of text: search fields are `name path` each, a mapping is its expression. */
function text(value: unknown): string | null {
  if (value === null || value === undefined) return null;
  if (Array.isArray(value)) return value.length === 0 ? null : value.map(text).join(", ");
  if (typeof value !== "object") return typeof value === "string" ? value : JSON.stringify(value);
  return Object.entries(value).filter(([name]) => name !== "language").map(([, part]) => text(part)).join(" ");
}
