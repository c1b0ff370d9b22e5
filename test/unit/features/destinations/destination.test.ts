import { expect } from "chai";
import { decide, type DestinationCommand } from "../../../../src/features/destinations/decide.ts";
import {
  evolve, unset, type DestinationEvent, type DestinationState,
} from "../../../../src/features/destinations/facts.ts";
import { folded, specificationsOf } from "../../../support/given.ts";

const destination = { initial: (): DestinationState => undefined, evolve, decide };
const given = specificationsOf(destination);

const [at, later] = ["2026-01-15T09:30:00.000Z", "2026-01-15T10:00:00.000Z"];
const destinationId = "0193a1b2-c3d4-7000-8000-000000000003";
const tenantId = "0193a1b2-c3d4-7000-8000-000000000001";
const settings = {
  destinationId,
  tenantId,
  url: "https://a.example/",
  serverRateLimit: 5,
  auth: null,
  ingestTokenHash: "t1",
};
const about = { name: "Billing", description: "Invoices.", ownerId: "customer-42", metadata: { team: "billing" } };
const ids = { destinationId, tenantId, at: later };
const auth = { type: "BearerToken" as const, credentials: "s1.x" };
const registered: DestinationEvent = { type: "DestinationRegistered", data: { ...settings, at } };
const deleted: DestinationEvent = { type: "DestinationDeleted", data: { ...ids, ingestTokenHash: "t1" } };
const change = (what: object): DestinationCommand => ({ type: "ChangeDestination", ...what, at: later });

const notAfter = "2026-02-01T00:00:00.000Z";
const clientCertificate = { fingerprint: "0".repeat(64), notAfter, pem: "s1.x" };
const configured: DestinationEvent = { type: "DestinationCertificateConfigured", data: { ...ids, clientCertificate } };
const certificateRemoved: DestinationEvent = { type: "DestinationCertificateRemoved", data: ids };

describe("destination", () => {
  it("is registered once, active", () => {
    const register: DestinationCommand = { type: "RegisterDestination", destination: settings, at };
    given([]).when(register).gives(registered);
    given([registered]).when(register).refused("conflict", "destination");
    given([registered, deleted]).when(register).refused("conflict", "destination");
    expect(folded(destination, [registered])).to.deep.equal({
      id: destinationId,
      tenantId,
      url: "https://a.example/",
      serverRateLimit: 5,
      ...unset,
      signingSecret: null,
      signingKey: null,
      clientCertificate: null,
      expiryRecorded: false,
      active: true,
      activeSince: at,
      deleted: false,
      auth: null,
      orderedSince: at,
      ingestTokenHash: "t1",
      createdAt: at,
      updatedAt: at,
    });
  });

  it("has in its registration only those optional settings that are set", () => {
    const none = { name: null, description: null, ownerId: null, metadata: {} };
    const register = (optional: object): DestinationCommand =>
      ({ type: "RegisterDestination", destination: { ...settings, ...optional }, at });
    given([]).when(register(none)).gives(registered);
    const named: DestinationEvent = { type: "DestinationRegistered", data: { ...registered.data, name: "Billing" } };
    const spec = given([]).when(register({ ...none, name: "Billing" }));
    spec.gives(named);
    expect(spec.state()).to.deep.include({ ...none, name: "Billing" });
  });

  it("changes each setting by a fact of its own", () => {
    const changes: readonly (readonly [object, DestinationEvent, object])[] = [
      [
        { url: "https://b.example/" },
        { type: "DestinationUrlChanged", data: { ...ids, url: "https://b.example/" } },
        { url: "https://b.example/" },
      ],
      [
        { serverRateLimit: 1 },
        { type: "DestinationRateLimitChanged", data: { ...ids, serverRateLimit: 1 } },
        { serverRateLimit: 1 },
      ],
      [about, { type: "DestinationDescribed", data: { ...ids, ...about } }, about],
      [
        { timeoutMs: 30_000 },
        {
          type: "DestinationPolicyChanged",
          data: { ...ids, timeoutMs: 30_000, retryPolicy: null, circuit: null, expireAfterDays: null,
            disableAfterDays: null },
        },
        { timeoutMs: 30_000 },
      ],
      [{ auth }, { type: "DestinationAuthConfigured", data: { ...ids, auth } }, { auth }],
      [{ active: false }, { type: "DestinationDeactivated", data: ids }, { active: false }],
    ];
    for (const [what, fact, result] of changes) {
      given([registered]).when(change(what)).gives(fact);
      expect(folded(destination, [registered, fact])).to.deep.include({ ...result, updatedAt: later, createdAt: at });
    }
    const all = changes.reduce((sum, [what]) => ({ ...sum, ...what }), {});
    given([registered]).when(change(all)).gives(...changes.map(([, fact]) => fact));
  });

  it("keeps the rest of its description when a part changes, and loses a part for null", () => {
    const past: DestinationEvent[] = [registered, { type: "DestinationDescribed", data: { ...ids, ...about } }];
    const changes = [{ name: "Invoices" }, { name: null, ownerId: null }, { metadata: {} }];
    for (const what of changes) {
      given(past).when(change(what)).gives({ type: "DestinationDescribed", data: { ...ids, ...about, ...what } });
    }
    given(past).when(change({ metadata: { team: "billing" }, name: "Billing" })).changesNothing();
  });

  it("replaces all its headers, and keeps a stored value by its name in any case", () => {
    const configured = (headers: Readonly<Record<string, string>>): DestinationEvent =>
      ({ type: "DestinationHeadersConfigured", data: { ...ids, headers } });
    const past = [registered, configured({ "X-One": "s1.a", "X-Two": "s1.b" })];
    given(past).when(change({ headers: { "x-one": null, "X-Three": "s1.c" } }))
      .gives(configured({ "x-one": "s1.a", "X-Three": "s1.c" }));
    given(past).when(change({ headers: { "X-One": null, "X-Two": null } })).changesNothing();
    given(past).when(change({ headers: {} })).gives(configured({}));
    given(past).when(change({ headers: { "X-Three": null } })).refused("invalid", "headers.X-Three");
  });

  it("loses its authentication, and becomes active again", () => {
    const past: DestinationEvent[] = [
      registered,
      { type: "DestinationAuthConfigured", data: { ...ids, auth } },
      { type: "DestinationDeactivated", data: ids },
    ];
    const spec = given(past).when(change({ auth: null, active: true }));
    spec.gives({ type: "DestinationAuthRemoved", data: ids }, { type: "DestinationActivated", data: ids });
    expect(spec.state()).to.include({ auth: null, active: true });
  });

  it("stays as it is when nothing differs", () => {
    given([registered])
      .when(change({ url: settings.url, serverRateLimit: 5, active: true, auth: null }))
      .changesNothing();
    given([registered]).when(change({})).changesNothing();
  });

  it("always replaces credentials, since sealed ones cannot be compared", () => {
    const past: DestinationEvent[] = [registered, { type: "DestinationAuthConfigured", data: { ...ids, auth } }];
    given(past).when(change({ auth })).givesTypes("DestinationAuthConfigured");
  });

  it("regenerates its ingest token, and names the previous one", () => {
    const spec = given([registered]).when({ type: "RegenerateIngestToken", ingestTokenHash: "t2", at: later });
    spec.gives({ type: "IngestTokenRegenerated", data: { ...ids, ingestTokenHash: "t2", previousTokenHash: "t1" } });
    expect(spec.state()).to.include({ ingestTokenHash: "t2", updatedAt: later });
  });

  it("is deleted once, for good", () => {
    const spec = given([registered]).when({ type: "DeleteDestination", at: later });
    spec.gives(deleted);
    expect(spec.state()).to.include({ deleted: true });
    const commands: DestinationCommand[] = [
      change({ active: true }),
      { type: "RegenerateIngestToken", ingestTokenHash: "t2", at },
      { type: "DeleteDestination", at },
    ];
    for (const command of commands) {
      given([registered, deleted]).when(command).refused("not-found", "destination");
      given([]).when(command).refused("not-found", "destination");
    }
  });

  it("has a client certificate, from its registration on or later, until it is removed", () => {
    const withIt: DestinationEvent = { type: "DestinationRegistered", data: { ...registered.data, clientCertificate } };
    const register: DestinationCommand =
      { type: "RegisterDestination", destination: { ...settings, clientCertificate }, at };
    given([]).when(register).gives(withIt);
    expect(folded(destination, [withIt])).to.deep.include({ clientCertificate, expiryRecorded: false });
    given([registered]).when(change({ clientCertificate })).gives(configured);
    given([withIt]).when(change({ clientCertificate: null })).gives(certificateRemoved);
    given([withIt]).when(change({})).gives();
    given([registered]).when(change({ clientCertificate: null })).gives();
    expect(folded(destination, [withIt, certificateRemoved])).to.deep.include({ clientCertificate: null });
  });

  it("records once of each certificate that it expires within 14 days", () => {
    const record = (time: string): DestinationCommand => ({ type: "RecordCertificateExpiry", at: time });
    const { fingerprint } = clientCertificate;
    const soon = "2026-01-18T00:00:00.000Z";
    const expiring: DestinationEvent = {
      type: "DestinationCertificateExpiring", data: { ...ids, at: soon, fingerprint, notAfter },
    };
    given([registered]).when(record(soon)).gives();
    given([registered, configured]).when(record("2026-01-17T23:59:59.999Z")).gives();
    given([registered, configured]).when(record(soon)).gives(expiring);
    given([registered, configured, expiring]).when(record(notAfter)).gives();
    given([registered, configured, certificateRemoved]).when(record(soon)).gives();
    given([registered, configured, expiring, configured]).when(record(soon)).gives(expiring);
    expect(folded(destination, [registered, configured, expiring])).to.include({ updatedAt: later });
  });
});
