import { expect } from "chai";
import { facts, histories, schemaOf, shownData } from "../../../../src/features/facts.ts";
import { examplesOf } from "../../../support/fact-examples.ts";

interface Schema {
  readonly description?: string;
  readonly pattern?: string;
  readonly properties?: Readonly<Record<string, Schema>>;
}

type Data = Readonly<Record<string, unknown>>;

const types = [...facts].sort(([one], [other]) => (one < other ? -1 : 1)).map(([type, fact]) =>
  ({ type, schema: schemaOf(type, fact) as Schema, examples: examplesOf(type) }));

const sealed = "^[\\w.-]+$";
/**
 * Fields for the own use of purges and replays: other purges under way, the place up to which one counted, and where a
 * replay has come to.
 */
const ownUse = ["earlier", "left", "upTo", "cursor", "batch"];
/** What a person wrote for own use: name and filters of a view. */
const personal: Readonly<Record<string, readonly string[]>> = {
  ViewSaved: ["name", "query"], ViewChanged: ["name", "query"],
};
/** Fields with a secret's name but without a secret: fingerprints, and the producer's idempotency key. */
const harmless = [
  "fingerprint", "secretFingerprint", "secretFingerprints", "webhookSecretFingerprint", "signingSecretFingerprint",
  "signingKeyFingerprint", "publicKey", "tenantSecretUntil", "idempotencyKey",
];
/** Whether the field's name or its schema suggests a secret. */
const isSecret = (name: string, { description = "", pattern }: Schema) =>
  !harmless.includes(name) &&
  (/hash|secret|password|token|credential|email|reservation|key$/i.test(name) || pattern === sealed ||
    /sealed|wrapped|hash|SHA-256|bcrypt/i.test(description));

/** The data with a canary in the place of every secret. */
const planted = (data: Data, { properties = {} }: Schema): Data =>
  Object.fromEntries(Object.entries(data).map(([name, value]) => {
    const schema = properties[name] ?? {};
    if (isSecret(name, schema)) return [name, `canary ${name}`];
    const isObject = typeof value === "object" && value !== null && !Array.isArray(value);
    return [name, isObject ? planted(value as Data, schema) : value];
  }));

describe("facts shown in histories", () => {
  it("contain no secret of any fact of the domain", () => {
    let secrets = 0;
    for (const { type, schema, examples } of types) {
      for (const { data } of examples) {
        const hiding = planted(data, schema);
        secrets += JSON.stringify(hiding).split("canary").length - 1;
        expect(JSON.stringify(shownData({ type, data: hiding })), type).not.to.include("canary");
      }
    }
    expect(secrets).to.be.greaterThan(30);
  });

  it("contain all other fields of the facts, and the type of authentication", () => {
    const told = new Set<string>(Object.values(histories).flat());
    for (const { type, schema, examples } of types.filter((one) => told.has(one.type))) {
      for (const { data } of examples) {
        const { auth, headers, clientCertificate, ...open } = Object.fromEntries(
          Object.entries(data).filter(([name]) =>
            ![...ownUse, ...(personal[type] ?? [])].includes(name) && !isSecret(name, schema.properties?.[name] ?? {})),
        );
        const kind = auth === undefined ? {} : { authType: (auth as { type: string } | null)?.type ?? null };
        const names = Object.keys((headers as object | undefined) ?? {});
        const masked = headers === undefined ? {} : { headers: Object.fromEntries(names.map((name) => [name, "***"])) };
        const { pem: _, ...shown } = (clientCertificate as { pem?: string } | undefined) ?? {};
        const certificate = clientCertificate === undefined ? {} : { clientCertificate: shown };
        expect(shownData({ type, data }), type).to.deep.equal({ ...open, ...masked, ...kind, ...certificate });
      }
    }
  });

  it("belong to one history each, except facts without a history, which show nothing", () => {
    const told: readonly string[] = Object.values(histories).flat();
    const untold = types.filter(({ type }) => !told.includes(type));
    expect(untold.map(({ type }) => type)).to.deep.equal([
      "DeliveryBegun", "MessageAccepted", "MessageDeliveryPurged", "NameReleased", "NameReserved", "PersonKeyCreated",
      "PlatformKeysCreated", "PlatformKeysRewrapped", "SessionRevoked", "TenantErased",
    ]);
    expect([...told, ...untold.map(({ type }) => type)].sort()).to.deep.equal(types.map(({ type }) => type).sort());
    for (const { type, examples } of untold) {
      for (const { data } of examples) expect(shownData({ type, data }), type).to.deep.equal({});
    }
  });
});
