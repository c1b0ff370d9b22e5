import { globSync, readdirSync, readFileSync } from "node:fs";
import { Ajv2020 } from "ajv/dist/2020.js";
import { expect } from "chai";
import { catalogue, type AnyEvent } from "../../../src/adapters/event-codec/catalogue.ts";
import { JsonEventCodec } from "../../../src/adapters/event-codec/event-codec.ts";
import { authTypes } from "../../../src/domain/destination/events.ts";
import type { DomainEvent, Metadata } from "../../../src/domain/domain-event.ts";
import { eventStatuses, failureReasons } from "../../../src/domain/event/events.ts";
import { roles } from "../../../src/domain/roles.ts";

interface Schema {
  readonly $id?: string;
  readonly description?: string;
  readonly type?: string | readonly string[];
  readonly format?: string;
  readonly additionalProperties?: boolean | Schema;
  readonly required?: readonly string[];
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly enum?: readonly unknown[];
}

interface Example {
  readonly type: string;
  readonly data: Readonly<Record<string, unknown>>;
  readonly metadata: Metadata & { readonly schemaVersion: number };
}

type Data<T extends AnyEvent["type"]> = Extract<AnyEvent, { type: T }>["data"];

/** The JSON type of a field's TypeScript type; `?` where it may be null, `optional` where it may be missing. */
type Kind<V> = undefined extends V ? `optional ${PresentKind<Exclude<V, undefined>>}` : PresentKind<V>;
type PresentKind<V> = null extends V ? `${NonNullKind<NonNullable<V>>}?` : NonNullKind<V>;
type NonNullKind<V> =
  [V] extends [string] ? "string"
    : [V] extends [number] ? "number"
      : [V] extends [boolean] ? "boolean"
        : [V] extends [readonly unknown[]] ? "array"
          : "object";

type Kinds = { readonly [T in AnyEvent["type"]]: { readonly [K in keyof Required<Data<T>>]: Kind<Data<T>[K]> } };

const s = "string";
const n = "number";
const user = { tenantId: s, userId: s } as const;
const secret = { webhookSecret: s, webhookSecretFingerprint: s } as const;
const destination = { destinationId: s, tenantId: s, at: s } as const;
const sender = { senderId: s, tenantId: s, at: s } as const;
const serviceAccount = { serviceAccountId: s, tenantId: s, at: s } as const;
const closedCircuit = {
  ...destination, position: s, failures: n, openUntil: "string?", probe: "object?", pausedUntil: "optional string",
  eventId: "string?",
} as const;
const circuit = { ...closedCircuit, lastProbe: "optional string" } as const;
const event = { eventId: s, tenantId: s, destinationId: s } as const;
const classified = { eventType: "optional string", ownerId: "optional string", test: "optional boolean" } as const;
const moved = { ...event, acceptedAt: s, from: s, to: s, at: s, ...classified } as const;

/** All fields of all facts: the compiler compares them with the domain, the tests compare them with the schemas. */
const kinds: Kinds = {
  ApiKeyIssued: { keyId: s, tenantId: s, name: s, keyHash: s, prefix: s, last4: s, expiresAt: "string?", at: s },
  ApiKeyRevoked: { keyId: s, tenantId: s, keyHash: s, at: s },
  ApiKeyUsed: { keyId: s, tenantId: s, usedAt: s, at: s },
  CancellationCompleted: { cancellationId: s, tenantId: s, cancelled: n, at: s },
  CancellationOrdered: {
    cancellationId: s, tenantId: s, destinationId: "string?", senderId: "string?", eventType: "string?",
    tag: "string?", statuses: "array", from: "string?", to: "string?", ids: "number?", matched: n, at: s,
  },
  CircuitClosed: closedCircuit,
  CircuitCounted: circuit,
  CircuitHalfOpened: circuit,
  CircuitOpened: circuit,
  CircuitProbeClaimed: circuit,
  CircuitProbeReleased: circuit,
  DeliveryAttemptStarted: {
    ...moved, attempt: n, leaseUntil: s, worker: s, url: s, authType: "string?", destinationRevision: n,
    secretFingerprint: s, probe: "boolean", waitedFor: "optional string",
  },
  DeliveryExhausted: { ...moved, retryCount: n, reason: s },
  DeliveryFailed: {
    ...moved, attempt: n, durationMs: "number?", reason: s, error: s, requestHeaders: "object?", answer: "object?",
    retryCount: n,
  },
  DeliverySucceeded: { ...moved, attempt: n, durationMs: n, requestHeaders: "object", answer: "object" },
  DestinationActivated: destination,
  DestinationAuthConfigured: { ...destination, auth: "object" },
  DestinationAuthRemoved: destination,
  DestinationDeactivated: destination,
  DestinationDeleted: { ...destination, ingestTokenHash: s },
  DestinationRateLimitChanged: { ...destination, serverRateLimit: n },
  DestinationRegistered: { ...destination, url: s, serverRateLimit: n, auth: "object?", ingestTokenHash: s },
  DestinationUrlChanged: { ...destination, url: s },
  EventAccepted: {
    ...event, apiKeyId: s, senderId: "string?", senderRevision: "number?", idempotencyKey: "string?", payload: s,
    original: "string?", at: s, ...classified, tags: "optional object",
    sourceEventId: "optional string",
  },
  EventCancelled: { ...moved, reason: s },
  EventReplayed: { ...moved, mode: s, nextAttemptAt: s },
  EventsPurged: {
    purgeId: s,
    tenantId: s,
    before: "string?",
    status: "string?",
    destinationId: "string?",
    upTo: "string?",
    matched: n,
    earlier: "array",
    at: s,
  },
  IngestTokenRegenerated: { ...destination, ingestTokenHash: s, previousTokenHash: s },
  InviteAccepted: { inviteId: s, tenantId: s, at: s },
  InviteCreated: { inviteId: s, tenantId: s, email: s, role: s, tokenHash: s, expiresAt: s, at: s },
  InviteForgotten: { inviteId: s, tenantId: s, tokenHash: s, at: s },
  InviteRevoked: { inviteId: s, tenantId: s, tokenHash: s, at: s },
  NameReleased: { holder: "object", at: s },
  NameReserved: { holder: "object", at: s },
  PersonKeyCreated: { userId: s, tenantId: s, key: s, at: s },
  PlatformKeysCreated: { nameHashKey: s, tokenKey: s, keyedEventIds: "optional boolean", at: s },
  PlatformKeysRewrapped: { nameHashKey: s, tokenKey: s, keyedEventIds: "optional boolean", masterKeys: "array", at: s },
  PurgeCompleted: { purgeId: s, tenantId: s, left: "array", at: s },
  ReplayCompleted: { replayId: s, tenantId: s, replayed: n, at: s },
  ReplayJobCancelled: { replayId: s, tenantId: s, done: n, skipped: n, cursor: "string?", batch: "array", at: s },
  ReplayJobFinished: { replayId: s, tenantId: s, done: n, skipped: n, cancelledAt: "string?", at: s },
  ReplayJobOrdered: {
    replayId: s, tenantId: s, destinationId: "string?", senderId: "string?", eventType: "string?", tag: "string?",
    ids: "array?", statuses: "array", from: "string?", to: "string?", toDestinationId: "string?", perSecond: n,
    upTo: s, matched: n, at: s,
  },
  ReplayJobProgressed: { replayId: s, tenantId: s, done: n, skipped: n, cursor: "string?", batch: "array", at: s },
  ReplayOrdered: {
    replayId: s, tenantId: s, destinationId: "string?", from: "string?", to: "string?", matched: n, at: s,
  },
  ReservationRefused: { reservation: s, at: s },
  RetryBroughtForward: { ...moved, nextAttemptAt: s },
  RetryScheduled: { ...moved, retryCount: n, nextAttemptAt: s, retryAfterMs: "optional number" },
  SenderActivated: sender,
  SenderCreated: {
    ...sender, name: s, destinationId: s, mapping: "object?", ingestTokenHash: s, searchFields: "optional array",
  },
  SenderDeactivated: sender,
  SenderDeleted: { ...sender, ingestTokenHash: s },
  SenderDestinationChanged: { ...sender, destinationId: s },
  SenderIngestTokenRegenerated: { ...sender, ingestTokenHash: s, previousTokenHash: s },
  SenderMappingChanged: { ...sender, mapping: "object?" },
  SenderRenamed: { ...sender, name: s },
  SenderSearchFieldsChanged: { ...sender, searchFields: "array" },
  ServiceAccountActivated: serviceAccount,
  ServiceAccountCreated: { ...serviceAccount, name: s, role: s },
  ServiceAccountDeactivated: serviceAccount,
  ServiceAccountDeleted: serviceAccount,
  ServiceAccountRenamed: { ...serviceAccount, name: s },
  ServiceAccountRoleChanged: { ...serviceAccount, from: s, role: s },
  ServiceKeyIssued: {
    ...serviceAccount, keyId: s, name: s, keyHash: s, prefix: s, last4: s, scopes: "array?", expiresAt: "string?",
  },
  ServiceKeyRevoked: { ...serviceAccount, keyId: s, keyHash: s },
  SessionRevoked: { tokenId: s, userId: s, tenantId: s, expiresAt: s, at: s },
  TenantCreated: {
    tenantId: s, name: s, nameHash: s, maxTrys: n, circuitBreakerTimer: n, dataKey: s, ...secret, at: s,
  },
  TenantDataKeyRewrapped: { tenantId: s, dataKey: s, at: s },
  TenantDeliveryPolicyChanged: { tenantId: s, maxTrys: n, circuitBreakerTimer: n, at: s },
  TenantErased: { tenantId: s, at: s },
  TenantRenamed: { tenantId: s, name: s, nameHash: s, at: s },
  TenantRetentionChanged: { tenantId: s, retentionDays: "number?", at: s },
  UserCreated: { ...user, email: s, emailHash: s, passwordHash: s, role: s, at: s },
  UserDeleted: { ...user, role: s, status: s, at: s },
  UserEmailChanged: { ...user, email: s, emailHash: s, at: s },
  UserForgotten: { ...user, at: s },
  UserPasswordChanged: { ...user, passwordHash: s, at: s },
  UserRoleChanged: { ...user, from: s, role: s, status: s, at: s },
  UserStatusChanged: { ...user, from: s, status: s, role: s, at: s },
  WebhookSecretRegenerated: { tenantId: s, ...secret, at: s },
};

const folder = new URL("../../../schemas/events/", import.meta.url);
const read = (file: string): unknown => JSON.parse(readFileSync(new URL(file, folder), "utf8"));
/** `<type>.v<version>` of every schema file, old versions included. */
const stored = readdirSync(folder).filter((file) => /\.v\d+\.json$/.test(file)).map((file) => file.slice(0, -5));
const codec = new JsonEventCodec();
const decode = ({ type, data, metadata }: Example) =>
  codec.decode({ type, data: JSON.stringify(data), metadata: JSON.stringify(metadata) });
const encode = ({ type, data, metadata }: Example) => codec.encode({ type, data }, metadata);

/** A value that no field of the JSON type accepts. */
const wrong = ({ type }: Schema): unknown => ([type].flat().includes("object") ? "an object" : { not: "this" });

describe("event schemas", () => {
  const ajv = new Ajv2020();

  it("exist for every fact that the domain's sources declare, and for no other", () => {
    const domain = new URL("../../../src/domain/", import.meta.url);
    const sources = globSync("**/*.ts", { cwd: domain }).map((file) => readFileSync(new URL(file, domain), "utf8"));
    const facts = sources.flatMap((text) => [...text.matchAll(/(?:DomainEvent|Fact)<\s*"(\w+)"/g)]);
    const declared = facts.map(([, type]) => type);
    expect(declared.length).to.be.greaterThan(40);
    expect(Object.keys(catalogue.versions).sort()).to.deep.equal(declared.sort());
  });

  it("exist for every version up to the current one, each with an example", () => {
    const wanted = Object.entries(catalogue.versions)
      .flatMap(([type, version]) => Array.from({ length: version }, (_, before) => `${type}.v${before + 1}`));
    expect(stored.sort()).to.deep.equal(wanted.sort());
    expect(readdirSync(new URL("examples/", folder)).map((file) => file.slice(0, -5)).sort()).to.deep.equal(wanted);
  });

  for (const name of stored) {
    const [type = "", version = ""] = name.split(".v");
    const schema = read(`${name}.json`) as Schema;
    const examples = read(`examples/${name}.json`) as readonly Example[];
    const fields = Object.entries(schema.properties ?? {});
    const isOptional = (field: string) => !schema.required?.includes(field);

    describe(name, () => {
      it("satisfies JSON Schema's own schema", () => {
        expect(ajv.validateSchema(schema)).to.equal(true);
      });

      it("is named, described and strict", () => {
        expect(schema.$id).to.equal(`urn:webhook-relay:event:${type}:v${version}`);
        expect(schema.description).to.match(/\.$/);
        const strict = (part: Schema): void => {
          for (const each of Object.values(part.properties ?? {})) strict(each);
          if (!part.properties) return;
          expect(part.additionalProperties).to.equal(false);
          expect(Object.keys(part.properties)).to.include.members([...part.required ?? []]);
          if (part !== schema) expect(part.required).to.have.length(Object.keys(part.properties).length);
        };
        strict(schema);
      });

      it("has examples that can be decoded", () => {
        expect(examples).to.not.be.empty;
        for (const example of examples) {
          expect(example).to.include({ type }).and.nested.property("metadata.schemaVersion", Number(version));
          expect(decode(example)).to.have.nested.property("event.type", type);
        }
      });

      if (Number(version) !== catalogue.versions[type as AnyEvent["type"]]) return;

      it("has the fields of the domain's type, with the same JSON types", () => {
        const ofSchema = Object.fromEntries(fields.map(([field, { type: types }]) => {
          const [first = "", nullable] = [types ?? []].flat();
          const kind = first.replace("integer", "number") + (nullable ? "?" : "");
          return [field, isOptional(field) ? `optional ${kind}` : kind];
        }));
        expect(ofSchema).to.deep.equal(kinds[type as AnyEvent["type"]]);
      });

      it("has an example with each field that may be missing, and one without", () => {
        for (const [field] of fields.filter(([name]) => isOptional(name))) {
          const having = examples.filter(({ data }) => field in data).length;
          expect(having, field).to.be.greaterThan(0).and.below(examples.length);
        }
      });

      it("decodes encoded facts unchanged", () => {
        for (const example of examples) {
          const decoded = codec.decode(encode(example)) as { event: DomainEvent };
          expect(decoded.event).to.deep.equal({ type, data: example.data });
        }
      });

      it("refuses missing fields, fields of another type and additional fields", () => {
        for (const example of examples) {
          const { data } = example;
          for (const [field, of] of fields) {
            const { [field]: _left, ...rest } = data;
            const missing = isOptional(field) ? [] : [rest, { ...data, [field]: undefined }];
            for (const bad of [...missing, { ...data, [field]: wrong(of) }]) {
              expect(() => encode({ ...example, data: bad }), field).to.throw("violates");
              expect(decode({ ...example, data: bad }), field).to.have.property("unreadable");
            }
            if (![of.type ?? []].flat().includes("null")) {
              expect(() => encode({ ...example, data: { ...data, [field]: null } }), field).to.throw("violates");
            }
          }
          expect(() => encode({ ...example, data: { ...data, extra: 1 } })).to.throw("violates");
        }
      });

      it("is decoded without a field that a later release added", () => {
        for (const example of examples) {
          const added = { ...example, data: { ...example.data, extra: { deep: 1 } } };
          expect(decode(added)).to.deep.equal(decode(example));
        }
      });
    });
  }

  it("upgrade a lost attempt to an unknown duration, and leave other attempts as they were", () => {
    const examples = read("examples/DeliveryFailed.v1.json") as readonly Example[];
    for (const example of examples) {
      const { data } = example;
      const isLost = data["reason"] === "outcome unknown";
      const { event: now } = decode(example) as { event: DomainEvent };
      expect(now.data).to.deep.equal(isLost ? { ...data, durationMs: null, requestHeaders: null } : data);
    }
    expect(examples.map(({ data }) => data["reason"])).to.include("outcome unknown").and.include("timeout");
  });

  it("upgrade accepted events to an unknown revision of the sender", () => {
    const examples = read("examples/EventAccepted.v1.json") as readonly Example[];
    for (const example of examples) {
      const data = { ...example.data, senderRevision: null };
      expect(decode(example)).to.deep.include({ event: { type: "EventAccepted", data } });
    }
    expect(examples.map(({ data }) => typeof data["senderId"])).to.include("string");
  });

  it("upgrade circuits' facts to an unknown event", () => {
    const types = Object.entries(catalogue.versions).map(([type]) => type).filter((type) => type.startsWith("Circuit"));
    expect(types).to.have.length(6);
    for (const type of types) {
      for (const example of read(`examples/${type}.v1.json`) as readonly Example[]) {
        const data = { ...example.data, eventId: null };
        expect(decode(example)).to.deep.include({ event: { type, data } });
      }
    }
  });

  it("upgrade purges to take the events finished before their own positions in the log", () => {
    for (const [name, field] of [["EventsPurged", "earlier"], ["PurgeCompleted", "left"]] as const) {
      const [first] = read(`examples/${name}.v1.json`) as readonly [Example];
      const own = name === "EventsPurged" ? { upTo: null } : {};
      expect(decode(first)).to.deep.include({ event: { type: name, data: { ...first.data, ...own, [field]: [] } } });
      for (const example of read(`examples/${name}.v2.json`) as readonly Example[]) {
        const others = example.data[field] as readonly { readonly position: string }[];
        const carried = others.map((other) => ({ ...other, upTo: other.position }));
        const data = { ...example.data, ...own, [field]: carried };
        expect(decode(example)).to.deep.include({ event: { type: name, data } });
      }
    }
  });

  it("list the domain's values in their enums", () => {
    const words = (name: AnyEvent["type"], field: string) =>
      (read(`${name}.v${catalogue.versions[name]}.json`) as Schema).properties?.[field];
    expect(words("UserCreated", "role")?.enum).to.deep.equal(roles);
    expect(words("RetryScheduled", "from")?.enum).to.deep.equal(eventStatuses);
    expect(words("RetryScheduled", "to")?.enum).to.deep.equal(eventStatuses);
    expect(words("DeliveryFailed", "reason")?.enum).to.deep.equal(failureReasons);
    expect(words("DeliveryAttemptStarted", "authType")?.enum).to.deep.equal([...authTypes, null]);
    expect(words("DestinationAuthConfigured", "auth")?.properties?.type?.enum).to.deep.equal(authTypes);
  });

  it("refuse an email or a secret in plain text", () => {
    const clear: Partial<Record<AnyEvent["type"], Record<string, unknown>>> = {
      UserCreated: { email: "ada@example.com" },
      UserEmailChanged: { email: "ada@example.com" },
      InviteCreated: { email: "ada@example.com" },
      TenantCreated: { webhookSecret: "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw/+=" },
      DestinationAuthConfigured: { auth: { type: "BasicAuth", credentials: '{"username":"ada","password":"s3cret"}' } },
    };
    for (const [type, change] of Object.entries(clear)) {
      const [example] = read(`examples/${type}.v1.json`) as readonly [Example];
      expect(() => encode({ ...example, data: { ...example.data, ...change } }), type).to.throw("violates");
    }
  });
});
