import { Ajv2020 } from "ajv/dist/2020.js";
import { expect } from "chai";
import { factSchemas } from "../../../scripts/fact-schemas.ts";
import { JsonEventCodec } from "../../../src/engines/event-codec/event-codec.ts";
import { facts, versionOf, type FactType } from "../../../src/features/facts.ts";
import type { DomainEvent } from "../../../src/kernel/domain/domain-event.ts";
import { examplesOf, storedVersions, type StoredFact } from "../../support/fact-examples.ts";

interface Schema {
  readonly $id?: string;
  readonly description?: string;
  readonly type?: string | readonly string[];
  readonly additionalProperties?: boolean | Schema;
  readonly required?: readonly string[];
  readonly properties?: Readonly<Record<string, Schema>>;
}

const { metadata: _metadata, ...schemas } = Object.fromEntries(
  await factSchemas(new URL("../../..", import.meta.url).pathname)) as Readonly<Record<string, Schema>>;
const codec = new JsonEventCodec();
const decode = ({ type, data, metadata }: StoredFact) =>
  codec.decode({ type, data: JSON.stringify(data), metadata: JSON.stringify(metadata) });
const encode = ({ type, data, metadata }: StoredFact) => codec.encode({ type, data }, metadata);

/** A value that no field of the JSON type accepts. */
const wrong = ({ type }: Schema): unknown => ([type].flat().includes("object") ? "an object" : { not: "this" });

describe("facts", () => {
  const ajv = new Ajv2020();

  it("have a schema and an example for every version up to the written one", () => {
    const wanted = [...facts].flatMap(([type, fact]) =>
      Array.from({ length: versionOf(fact) }, (_, before) => `${type}.v${before + 1}`)).sort();
    expect(Object.keys(schemas).sort()).to.deep.equal(wanted);
    expect(storedVersions).to.deep.equal(wanted);
  });

  it("have words that name shown fields only", () => {
    for (const [type, { words = [], shown = [], data }] of facts) {
      const fields = (shown === "all" ? Object.keys(data) : shown).map((name) => (name === "auth" ? "authType" : name));
      for (const [, field] of [words].flat().join().matchAll(/\{(\w+)/g)) expect(fields, type).to.include(field);
    }
  });

  for (const [name, schema] of Object.entries(schemas)) {
    const [type = "", version = ""] = name.split(".v");
    const examples = examplesOf(type, Number(version));
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

      if (Number(version) !== versionOf(facts.get(type)!)) return;

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
    const examples = examplesOf("DeliveryFailed", 1);
    for (const example of examples) {
      const { data } = example;
      const isLost = data["reason"] === "outcome unknown";
      const { event: now } = decode(example) as { event: DomainEvent };
      expect(now.data).to.deep.equal(isLost ? { ...data, durationMs: null, requestHeaders: null } : data);
    }
    expect(examples.map(({ data }) => data["reason"])).to.include("outcome unknown").and.include("timeout");
  });

  it("upgrade accepted events to an unknown revision of the sender", () => {
    const examples = examplesOf("EventAccepted", 1);
    for (const example of examples) {
      const data = { ...example.data, senderRevision: null };
      expect(decode(example)).to.deep.include({ event: { type: "EventAccepted", data } });
    }
    expect(examples.map(({ data }) => typeof data["senderId"])).to.include("string");
  });

  it("upgrade circuits' facts to an unknown event", () => {
    const types = [...facts.keys()].filter((type) => type.startsWith("Circuit"));
    expect(types).to.have.length(6);
    for (const type of types) {
      for (const example of examplesOf(type, 1)) {
        const data = { ...example.data, eventId: null };
        expect(decode(example)).to.deep.include({ event: { type, data } });
      }
    }
  });

  it("upgrade purges to take the events finished before their own positions in the log", () => {
    for (const [name, field] of [["EventsPurged", "earlier"], ["PurgeCompleted", "left"]] as const) {
      const [first] = examplesOf(name, 1);
      const own = name === "EventsPurged" ? { upTo: null } : {};
      expect(decode(first)).to.deep.include({ event: { type: name, data: { ...first.data, ...own, [field]: [] } } });
      for (const example of examplesOf(name, 2)) {
        const others = example.data[field] as readonly { readonly position: string }[];
        const carried = others.map((other) => ({ ...other, upTo: other.position }));
        const data = { ...example.data, ...own, [field]: carried };
        expect(decode(example)).to.deep.include({ event: { type: name, data } });
      }
    }
  });

  it("refuse an email or a secret in plain text", () => {
    const clear: Partial<Record<FactType, Record<string, unknown>>> = {
      UserCreated: { email: "ada@example.com" },
      UserEmailChanged: { email: "ada@example.com" },
      InviteCreated: { email: "ada@example.com" },
      DestinationSecretReplaced: { signingSecret: "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw/+=" },
      DestinationSigningKeyReplaced: { privateKey: "whsk_MTIzNDU2Nzg5MDEyMzQ1Njc4OTAxMjM0NTY3ODkwMTI=" },
      DestinationCertificateConfigured: {
        clientCertificate: {
          fingerprint: "0".repeat(64), notAfter: "2027-01-15T09:30:00.000Z", pem: "-----BEGIN PRIVATE KEY-----",
        },
      },
      TenantCreated: { webhookSecret: "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw/+=" },
      DestinationAuthConfigured: { auth: { type: "BasicAuth", credentials: '{"username":"ada","password":"s3cret"}' } },
    };
    for (const [type, change] of Object.entries(clear)) {
      const [example] = examplesOf(type, 1);
      expect(() => encode({ ...example, data: { ...example.data, ...change } }), type).to.throw("violates");
    }
  });
});
