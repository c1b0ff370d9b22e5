import { expect } from "chai";
import type { DestinationDocument } from "../../../projections/destinations/destinations.ts";
import { project } from "../../../projections/index.ts";
import { newCircuit, type Circuit, type CircuitEvent } from "../../../src/features/circuits/facts.ts";
import { availability, type DestinationEvent } from "../../../src/features/destinations/facts.ts";
import type { ReceiverAnswer, EventStatus, WebhookEvent } from "../../../src/features/events/facts.ts";
import type { ApiKeyEvent } from "../../../src/features/keys/api-keys/facts.ts";
import type { TenantEvent } from "../../../src/features/tenants/facts.ts";
import type { DomainEvent } from "../../../src/kernel/domain/domain-event.ts";
import { position } from "../../support/position.ts";
import { projected } from "../../support/projected.ts";
import { recorded } from "../../support/recorded.ts";

const uuid = (n: number) => `00000000-0000-4000-8000-${String(n).padStart(12, "0")}`;
const [tenantId, userId, destinationId, keyId, eventId] = [1, 2, 3, 4, 5].map(uuid) as [
  string,
  string,
  string,
  string,
  string,
];
const at = (minutes: number) => new Date(Date.UTC(2026, 0, 15, 9, 30 + minutes)).toISOString();
const hash = (digit: string) => digit.repeat(64);

/** The read models after facts: `given(facts).then(collection, key)` is the document. */
const given = (...facts: DomainEvent[]) => ({
  then: async (collection: string, key: string) => (await projected(facts)).get(collection, key),
  counted: async (scope: string) => (await projected(facts)).sum(scope),
});

const tenantCreated: TenantEvent = {
  type: "TenantCreated",
  data: {
    tenantId,
    name: "Acme",
    nameHash: hash("a"),
    maxTrys: 10,
    circuitBreakerTimer: 300,
    dataKey: "w1.0011223344556677.boxed-data-key",
    webhookSecret: "sealed",
    webhookSecretFingerprint: "0123456789abcdef",
    at: at(0),
  },
};
const userCreated: TenantEvent = {
  type: "UserCreated",
  data: {
    tenantId,
    userId,
    email: "sealed-address",
    emailHash: hash("b"),
    passwordHash: "hash",
    role: "Owner",
    at: at(0),
  },
};
const registered: DestinationEvent = {
  type: "DestinationRegistered",
  data: {
    destinationId,
    tenantId,
    url: "https://receiver.example/",
    serverRateLimit: 5,
    auth: null,
    ingestTokenHash: hash("c"),
    at: at(0),
  },
};
const keyIssued: ApiKeyEvent = {
  type: "ApiKeyIssued",
  data: {
    keyId,
    tenantId,
    name: "shop",
    keyHash: hash("d"),
    prefix: "rk_",
    last4: "wxyz",
    expiresAt: null,
    at: at(0),
  },
};
const accepted: WebhookEvent = {
  type: "EventAccepted",
  data: {
    eventId,
    tenantId,
    destinationId,
    apiKeyId: keyId,
    senderId: null,
    senderRevision: null,
    idempotencyKey: "order-1",
    payload: '{"secret":"payload"}',
    original: null,
    at: at(1),
  },
};
const moved = (from: EventStatus, to: EventStatus, minutes: number) => ({
  eventId,
  tenantId,
  destinationId,
  acceptedAt: at(1),
  from,
  to,
  at: at(minutes),
});
const started = (attempt: number, minutes: number, from: EventStatus = "Pending"): WebhookEvent => ({
  type: "DeliveryAttemptStarted",
  data: {
    ...moved(from, "Processing", minutes),
    attempt,
    leaseUntil: at(minutes + 1),
    worker: "worker-1",
    url: "https://receiver.example/",
    authType: null,
    destinationRevision: 0,
    secretFingerprint: "0123456789abcdef",
    probe: false,
  },
});
const answer: ReceiverAnswer = { statusCode: 204, headers: {}, body: "", truncated: false };
const succeeded = (
  attempt: number,
  minutes: number,
  from: EventStatus = "Processing",
  to: EventStatus = "Succeeded",
): WebhookEvent => ({
  type: "DeliverySucceeded",
  data: { ...moved(from, to, minutes), attempt, durationMs: 5, requestHeaders: {}, answer },
});
const failed = (
  attempt: number,
  minutes: number,
  retryCount: number,
  from: EventStatus = "Processing",
  to: EventStatus = "Failed",
): WebhookEvent => ({
  type: "DeliveryFailed",
  data: {
    ...moved(from, to, minutes),
    attempt,
    durationMs: 5,
    reason: "outcome unknown",
    error: "lost",
    requestHeaders: {},
    answer: null,
    retryCount,
  },
});
const retry = (minutes: number, retryCount: number): WebhookEvent => ({
  type: "RetryScheduled",
  data: { ...moved("Failed", "WaitingRetry", minutes), retryCount, nextAttemptAt: at(minutes + 5) },
});
const exhausted: WebhookEvent = {
  type: "DeliveryExhausted",
  data: { ...moved("Failed", "CriticalFailure", 3), retryCount: 1, reason: "max attempts" },
};
const replayed: WebhookEvent = {
  type: "EventReplayed",
  data: { ...moved("CriticalFailure", "Pending", 9), mode: "replay", nextAttemptAt: at(9) },
};
const cancelled = (from: EventStatus): WebhookEvent => ({
  type: "EventCancelled",
  data: { ...moved(from, "Cancelled", 9), reason: "requested" },
});
const circuit = (type: CircuitEvent["type"], change: Partial<Circuit>) => ({
  type,
  data: { ...newCircuit(destinationId, tenantId), ...change, eventId, at: at(4) },
}) as CircuitEvent;
const opened = circuit("CircuitOpened", { position: "Open", failures: 3, openUntil: at(9) });
const deleted: DestinationEvent = {
  type: "DestinationDeleted",
  data: { destinationId, tenantId, ingestTokenHash: hash("c"), at: at(5) },
};

describe("projections", () => {
  it("ignore facts they do not know", () => {
    for (const type of ["SomethingNew", "constructor", "__proto__", "PersonKeyCreated"]) {
      expect(project(recorded({ type, data: {} }, 1))).to.deep.equal([]);
    }
  });

  it("contain no payload, no credentials and no key", async () => {
    const auth = { type: "BasicAuth", credentials: "v1.sealed-credentials" } as const;
    const configured: DestinationEvent = {
      type: "DestinationAuthConfigured",
      data: { destinationId, tenantId, auth, at: at(2) },
    };
    const facts = [tenantCreated, userCreated, registered, configured, keyIssued, accepted, started(1, 2)];
    const { documents } = (await projected(facts)).contents();
    expect(documents["destinations"]?.[destinationId]).to.include({ authType: "BasicAuth" });
    const text = JSON.stringify(documents);
    for (const secret of ["payload", "sealed-credentials", "boxed-data-key", hash("a")]) {
      expect(text).to.not.include(secret);
    }
    expect(JSON.stringify({ ...documents, audit: {} })).to.not.include("0123456789abcdef");
  });

  describe("users", () => {
    it("have no email once the person's key is gone", async () => {
      const forgotten = { ...userCreated, data: { ...userCreated.data, email: null } };
      expect(project(recorded(forgotten, 1))[0]).to.have.nested.property("document.email", null);
    });
  });

  describe("destinations", () => {
    const availabilityAfter = async (...facts: DomainEvent[]) => {
      return availability(await given(registered, ...facts).then("destinations", destinationId) as DestinationDocument);
    };
    const ids = { destinationId, tenantId, at: at(5) };

    it("are Suspended from the opening of their circuit until it is half-open or closed", async () => {
      const suspended = { status: "Suspended", suspendedUntil: at(9) };
      const active = { status: "Active", suspendedUntil: null };
      const probe = { position: "Open", openUntil: at(9), probe: { eventId, leaseUntil: at(8) } } as const;
      expect(await availabilityAfter()).to.deep.equal(active);
      expect(await availabilityAfter(opened)).to.deep.equal(suspended);
      expect(await availabilityAfter(opened, circuit("CircuitProbeClaimed", probe))).to.deep.equal(suspended);
      for (const over of [circuit("CircuitHalfOpened", { position: "HalfOpen" }), circuit("CircuitClosed", {})]) {
        expect(await availabilityAfter(opened, over)).to.deep.equal(active);
      }
    });

    it("are Inactive when a person deactivates them, in any position of the circuit", async () => {
      const [off, on] = ["DestinationDeactivated", "DestinationActivated"].map((type) => ({ type, data: ids }));
      const inactive = { status: "Inactive", suspendedUntil: null };
      expect(await availabilityAfter(off!, opened)).to.deep.equal(inactive);
      expect(await availabilityAfter(opened, off!)).to.deep.equal(inactive);
      expect((await availabilityAfter(opened, off!, on!)).status).to.equal("Suspended");
    });

    it("are removed with their token and circuit when deleted, also before a late fact of the circuit", async () => {
      const models = await projected([registered, opened, deleted, circuit("CircuitClosed", {})]);
      expect(models.contents().documents).to.deep.include({ destinations: {}, tokenHashes: {} });
      expect(await models.sum(`destinations/${tenantId}`)).to.equal(0);
    });
  });

  describe("credential lookup", () => {
    it("knows a token until it is regenerated", async () => {
      const regenerated: DestinationEvent = {
        type: "IngestTokenRegenerated",
        data: { destinationId, tenantId, ingestTokenHash: hash("e"), previousTokenHash: hash("c"), at: at(5) },
      };
      expect(await given(registered).then("tokenHashes", hash("c"))).to.deep.equal({
        tokenHash: hash("c"),
        destinationId,
      });
      expect(await given(registered, regenerated).then("tokenHashes", hash("c"))).to.equal(null);
      expect(await given(registered, regenerated).then("tokenHashes", hash("e"))).to.include({ destinationId });
    });

    it("knows a key until it is revoked", async () => {
      const revoked: ApiKeyEvent = { type: "ApiKeyRevoked", data: { keyId, tenantId, keyHash: hash("d"), at: at(5) } };
      expect(await given(keyIssued).then("keyHashes", hash("d"))).to.deep.equal({
        keyHash: hash("d"),
        keyId,
      });
      expect(await given(keyIssued, revoked).then("keyHashes", hash("d"))).to.equal(null);
      expect(await given(keyIssued, revoked, accepted).then("apiKeys", keyId)).to.equal(null);
    });
  });

  describe("API keys", () => {
    it("were last used by the latest accepted event", async () => {
      expect(await given(keyIssued).then("apiKeys", keyId)).to.include({ lastUsedAt: null, createdAt: at(0) });
      expect(await given(keyIssued, accepted).then("apiKeys", keyId)).to.include({ lastUsedAt: at(1) });
    });
  });

  describe("events", () => {
    const event = (...facts: DomainEvent[]) => given(accepted, ...facts).then("events", eventId);

    it("are Pending at first, due at once", async () => {
      expect(await event()).to.deep.equal({
        id: eventId,
        tenantId,
        destinationUrlId: destinationId,
        status: "Pending",
        idempotencyKey: "order-1",
        currentRetryCount: 0,
        nextAttemptAt: at(1),
        acceptedAt: at(1),
        deliveredAt: null,
        acceptedIn: position(1),
        finishedIn: null,
        finishedAt: null,
        test: null,
        correlationId: null,
        labels: ["@correlation:spec"],
        attempts: 0,
        endedAttempt: null,
        endedAt: null,
        endedStatusCode: null,
        endedReason: null,
        endedDurationMs: null,
      });
    });

    it("keep their planned time while an attempt is under way, and have none after it", async () => {
      expect(await event(started(1, 2))).to.include({ status: "Processing", nextAttemptAt: at(1) });
      expect(await event(started(1, 2), succeeded(1, 3))).to.include({
        status: "Succeeded",
        deliveredAt: at(3),
        nextAttemptAt: null,
      });
    });

    it("count their failures until a replay", async () => {
      const tried = [started(1, 2), failed(1, 3, 1)];
      expect(await event(...tried, retry(3, 1))).to.include({
        status: "WaitingRetry",
        currentRetryCount: 1,
        nextAttemptAt: at(8),
      });
      expect(await event(...tried, exhausted)).to.include({
        status: "CriticalFailure",
        currentRetryCount: 1,
        nextAttemptAt: null,
      });
      expect(await event(...tried, exhausted, replayed)).to.include({
        status: "Pending",
        currentRetryCount: 0,
        nextAttemptAt: at(9),
      });
    });

    it("change to Succeeded by a late success, and not at all by a late outcome without effect", async () => {
      const lost = [started(1, 2), failed(1, 3, 1), retry(3, 1)];
      expect(await event(...lost, succeeded(1, 4, "WaitingRetry"))).to.include({
        status: "Succeeded",
        deliveredAt: at(4),
        nextAttemptAt: null,
      });
      const settled = [...lost, started(2, 8, "WaitingRetry"), succeeded(1, 9)];
      const before = await event(...settled);
      expect(await event(...settled, succeeded(2, 10, "Succeeded"))).to.deep.equal(before);
      expect(await event(...settled, failed(2, 10, 1, "Succeeded", "Succeeded"))).to.deep.equal(before);
      expect(await event(cancelled("Pending"), succeeded(1, 10, "Cancelled", "Cancelled"))).to.include({
        status: "Cancelled",
        deliveredAt: null,
      });
    });

    it("are counted by their current status, for the tenant and the destination", async () => {
      const facts = [accepted, started(1, 2), failed(1, 3, 1), retry(3, 1), succeeded(1, 4, "WaitingRetry")];
      const counted = (scope: string) => given(...facts).counted(`events/${tenantId}/${scope}`);
      for (const level of ["", "/hour", "/all"]) {
        expect(await counted(`*/*${level}`)).to.equal(1);
        for (const whose of ["*", destinationId]) {
          expect(await counted(`${whose}/Succeeded${level}`)).to.equal(1);
          for (const left of ["Pending", "Processing", "Failed", "WaitingRetry"]) {
            expect(await counted(`${whose}/${left}${level}`), left).to.equal(0);
          }
        }
      }
    });
  });

  describe("due index", () => {
    const due = async (...facts: DomainEvent[]) => {
      const { documents } = (await projected([accepted, ...facts])).contents();
      const keys = (collection: string) => Object.keys(documents[collection] ?? {});
      return {
        waiting: documents["waiting"]?.[eventId] ?? null,
        leases: keys("leases"),
      };
    };

    it("does not hold Pending events, which the events have, but counts them", async () => {
      const { documents, counters } = (await projected([accepted])).contents();
      expect(documents["waiting"]).to.deep.equal({});
      expect(documents["events"]?.[eventId]).to.include({ status: "Pending", destinationUrlId: destinationId });
      expect(counters["due/backlog"]).to.deep.equal({ 0: 1 });
      expect((await projected([accepted, started(1, 2)])).contents().counters["due/backlog"]).to.equal(undefined);
    });

    it("holds an attempt from its start to its outcome", async () => {
      const models = await projected([accepted, started(1, 2)]);
      expect(await models.get("leases", `${eventId}:1`)).to.deep.equal({
        key: `${eventId}:1`,
        eventId,
        destinationId,
        attempt: 1,
        startedAt: at(2),
        leaseUntil: at(3),
        worker: "worker-1",
      });
      expect((await due(started(1, 2), succeeded(1, 3))).leases).to.deep.equal([]);
      expect((await due(started(1, 2), failed(1, 3, 1))).leases).to.deep.equal([]);
    });

    it("holds a retry until its attempt starts", async () => {
      const tried = [started(1, 2), failed(1, 3, 1)];
      const waits = [...tried, retry(3, 1)];
      expect((await due(...waits)).waiting).to.deep.equal({ eventId, destinationId, dueAt: at(8) });
      expect((await due(...waits, started(2, 8, "WaitingRetry"))).waiting).to.equal(null);
      expect((await due(...tried, exhausted)).waiting).to.equal(null);
      expect((await due(...tried, exhausted, replayed)).waiting).to.equal(null);
    });

    it("drops an event that was cancelled or succeeded late", async () => {
      const waits = [started(1, 2), failed(1, 3, 1), retry(3, 1)];
      expect((await due(cancelled("Pending"))).waiting).to.equal(null);
      expect((await due(...waits, cancelled("WaitingRetry"))).waiting).to.equal(null);
      expect((await due(...waits, succeeded(1, 4, "WaitingRetry"))).waiting).to.equal(null);
    });

    it("keeps the lease of an attempt under way when an older attempt succeeds", async () => {
      const two = [started(1, 2), failed(1, 3, 1), retry(3, 1), started(2, 8, "WaitingRetry"), succeeded(1, 9)];
      expect((await due(...two)).leases).to.deep.equal([`${eventId}:2`]);
      expect((await due(...two, failed(2, 10, 1, "Succeeded", "Succeeded"))).leases).to.deep.equal([]);
    });

    it("holds the time at which a circuit that is not closed needs attention", async () => {
      const wakeAt = async (...facts: CircuitEvent[]) =>
        (await (await projected([registered, ...facts])).get("destinations", destinationId))?.["wakeAt"];
      const open = { position: "Open", openUntil: at(9) } as const;
      const claimed = circuit("CircuitProbeClaimed", { ...open, probe: { eventId, leaseUntil: at(11) } });
      expect(await wakeAt(opened)).to.equal(at(9));
      expect(await wakeAt(opened, claimed)).to.equal(at(11));
      expect(await wakeAt(opened, claimed, circuit("CircuitProbeReleased", open))).to.equal(at(9));
      const paused = (minutes: number) => {
        const { type, data } = circuit("CircuitProbeReleased", { ...open, pausedUntil: at(minutes) });
        return { type, data: { ...data, at: at(10) } } as CircuitEvent;
      };
      expect(await wakeAt(opened, claimed, paused(15))).to.equal(at(15));
      expect(await wakeAt(opened, claimed, paused(8))).to.equal(at(9));
      const openedInPause = circuit("CircuitOpened", { ...open, pausedUntil: at(15) });
      expect(await wakeAt(openedInPause), "with nothing held it becomes half-open then").to.equal(at(9));
      expect(await wakeAt(opened, circuit("CircuitHalfOpened", { position: "HalfOpen" }))).to.equal(null);
      expect(await wakeAt(opened, circuit("CircuitClosed", {}))).to.equal(null);
      expect(await wakeAt(circuit("CircuitCounted", { failures: 1 }))).to.equal(null);
    });
  });

  describe("retention", () => {
    it("holds tenants while they have a retention period", async () => {
      const type = "TenantRetentionChanged";
      const changed = (retentionDays: number | null) => ({ type, data: { tenantId, retentionDays, at: at(1) } });
      const held = async (...facts: DomainEvent[]) => (await projected(facts)).get("retention", tenantId);
      expect(await held(changed(9), changed(7))).to.deep.equal({ tenantId, retentionDays: 7 });
      expect(await held(changed(7), changed(null))).to.equal(null);
    });
  });
});
