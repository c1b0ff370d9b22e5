import { expect } from "chai";
import {
  eventStatuses, type EventStatus, finishedStatuses, isFinished,
} from "../../../../src/features/events/facts.ts";
import {
  decide as decideApiKey, evolve as evolveApiKey, type ApiKeyState,
} from "../../../../src/features/keys/api-keys/decide.ts";
import type { ApiKeyEvent } from "../../../../src/features/keys/api-keys/facts.ts";
import { isMeant, isPurged, type Placed, type Purge, type PurgeFilter } from "../../../../src/features/purges/facts.ts";
import { decide, type TenantCommand } from "../../../../src/features/tenants/decide.ts";
import { evolve, type TenantEvent, type TenantState } from "../../../../src/features/tenants/facts.ts";
import { roles } from "../../../../src/kernel/domain/roles.ts";
import { specificationsOf } from "../../../support/given.ts";
import { position } from "../../../support/position.ts";

const tenantId = "0193a1b2-c3d4-7000-8000-000000000001";
const destinationId = "0193a1b2-c3d4-7000-8000-000000000003";
const otherDestination = "0193a1b2-c3d4-7000-8000-0000000000d2";
const eventId = "0193a1b2-c3d4-7000-8000-000000000005";
const purgeId = "0193a1b2-c3d4-7000-8000-00000000000c";
const [early, at, late] = ["2026-01-15T09:29:59.999Z", "2026-01-15T09:30:00.000Z", "2026-01-15T09:30:00.001Z"];
const all: PurgeFilter = { before: null, status: null, destinationId: null };

describe("an event that a purge selects", () => {
  const event = (status: EventStatus) => ({ status, acceptedAt: at, destinationId });

  it("is finished: Succeeded, CriticalFailure or Cancelled", () => {
    expect(eventStatuses.filter(isFinished)).to.deep.equal(["Succeeded", "CriticalFailure", "Cancelled"]);
    for (const status of eventStatuses) expect(isMeant(all, event(status)), status).to.equal(isFinished(status));
  });

  it("is of the given status", () => {
    for (const status of finishedStatuses) {
      const meant = eventStatuses.filter((one) => isMeant({ ...all, status }, event(one)));
      expect(meant).to.deep.equal([status]);
    }
  });

  it("is of the given destination", () => {
    expect(isMeant({ ...all, destinationId }, event("Succeeded"))).to.equal(true);
    expect(isMeant({ ...all, destinationId: otherDestination }, event("Succeeded"))).to.equal(false);
  });

  it("was accepted before the given time, not at it", () => {
    const meant = [early, at, late].filter((before) => isMeant({ ...all, before }, event("Succeeded")));
    expect(meant).to.deep.equal([late]);
  });
});

describe("an event that a purge took", () => {
  const metadata = { correlationId: "request" };
  const accepted = (n: number): Placed => ({
    type: "EventAccepted",
    data: {
      eventId, tenantId, destinationId, apiKeyId: "k", senderId: null, senderRevision: null,
      idempotencyKey: null, payload: "{}", original: null, at,
    },
    position: position(n), metadata,
  });
  const moved = { eventId, tenantId, destinationId, acceptedAt: at, at };
  const cancelled = (n: number): Placed => ({
    type: "EventCancelled",
    data: { ...moved, from: "Pending", to: "Cancelled", reason: "requested" },
    position: position(n), metadata,
  });
  const exhausted = (n: number): Placed => ({
    type: "DeliveryExhausted",
    data: { ...moved, from: "Failed", to: "CriticalFailure", retryCount: 1, reason: "gone" },
    position: position(n), metadata,
  });
  const replayed = (n: number): Placed => ({
    type: "EventReplayed",
    data: { ...moved, from: "CriticalFailure", to: "Pending", mode: "replay", nextAttemptAt: at },
    position: position(n), metadata,
  });
  const succeeded = (n: number, from: EventStatus = "Processing", to: EventStatus = "Succeeded"): Placed => ({
    type: "DeliverySucceeded",
    data: {
      ...moved, from, to, attempt: 1, durationMs: 1, requestHeaders: {},
      answer: { statusCode: 204, headers: {}, body: "", truncated: false },
    },
    position: position(n), metadata,
  });
  const resent = (n: number): Placed => ({
    type: "EventReplayed",
    data: { ...moved, from: "Succeeded", to: "Pending", mode: "resend", nextAttemptAt: at },
    position: position(n), metadata,
  });
  const purge = (n: number, filter: Partial<PurgeFilter> = {}, upTo = n): Purge => ({
    ...all, ...filter, id: purgeId, position: position(n), upTo: position(upTo),
  });
  const lateSuccess = (n: number) => succeeded(n, "CriticalFailure");

  it("had finished before the purge", () => {
    expect(isPurged([purge(9)], [accepted(1), cancelled(2)])).to.equal(true);
    expect(isPurged([purge(9)], [accepted(1)])).to.equal(false);
    expect(isPurged([purge(2)], [accepted(1), cancelled(3)])).to.equal(false);
    expect(isPurged([], [accepted(1), cancelled(2)])).to.equal(false);
    expect(isPurged([purge(9)], [])).to.equal(false);
  });

  it("had finished by the purge's count, not later", () => {
    expect(isPurged([purge(9, {}, 2)], [accepted(1), cancelled(2)])).to.equal(true);
    expect(isPurged([purge(9, {}, 2)], [accepted(1), cancelled(3)])).to.equal(false);
    expect(isPurged([purge(9, {}, 2), purge(10, {}, 9)], [accepted(1), cancelled(3)])).to.equal(true);
  });

  it("was neither replayed nor settled by a late outcome after the count", () => {
    expect(isPurged([purge(9, {}, 2)], [accepted(1), exhausted(2), replayed(3)])).to.equal(false);
    expect(isPurged([purge(9, {}, 2)], [accepted(1), exhausted(2), replayed(3), cancelled(4)])).to.equal(false);
    expect(isPurged([purge(9, {}, 2)], [accepted(1), exhausted(2), lateSuccess(3)])).to.equal(false);
  });

  it("may have a late outcome that changed nothing", () => {
    const unmoved = succeeded(3, "Cancelled", "Cancelled");
    expect(isPurged([purge(9, {}, 2)], [accepted(1), cancelled(2), unmoved])).to.equal(true);
  });

  it("was not resent before the purge, though an attempt of before the resend succeeds late", () => {
    const again = [accepted(1), succeeded(2), resent(3)];
    for (const facts of [again, [...again, succeeded(4, "Pending", "Pending")]]) {
      for (const upTo of [2, 3, 4, 9]) expect(isPurged([purge(9, {}, upTo)], facts), `${upTo}`).to.equal(false);
    }
    const done = [...again, succeeded(4)];
    expect(isPurged([purge(9)], done), "it finished again").to.equal(true);
    expect(isPurged([purge(9, {}, 3)], done), "it finished again after the count").to.equal(false);
    expect(isPurged([purge(3, {}, 2)], again.slice(0, 2).concat(resent(4))), "resent after the purge").to.equal(true);
  });

  it("stays taken after any later facts", () => {
    expect(isPurged([purge(3)], [accepted(1), exhausted(2), replayed(4)])).to.equal(true);
    const facts = [accepted(1), exhausted(2), cancelled(4)];
    expect(isPurged([purge(3, { status: "CriticalFailure" })], facts)).to.equal(true);
    expect(isPurged([purge(3, { status: "Cancelled" })], facts)).to.equal(false);
  });

  it("is judged by its status at the purge, not by an earlier one", () => {
    expect(isPurged([purge(9)], [accepted(1), exhausted(2), replayed(3)])).to.equal(false);
  });

  it("was not accepted after the purge", () => {
    expect(isPurged([purge(5)], [accepted(6), cancelled(7)])).to.equal(false);
    expect(isPurged([purge(5), purge(8)], [accepted(6), cancelled(7)])).to.equal(true);
  });
});

describe("retention, of a tenant", () => {
  const decider = { initial: (): TenantState => undefined, evolve, decide };
  const given = specificationsOf<TenantState, TenantCommand, TenantEvent>(decider);
  const created: TenantEvent = {
    type: "TenantCreated",
    data: {
      tenantId, name: "A", nameHash: "h", maxTrys: 10, circuitBreakerTimer: 300, dataKey: "w1.0011223344556677.key",
      webhookSecret: "s1.sealed", webhookSecretFingerprint: "0123456789abcdef", at,
    },
  };
  const by = (role: (typeof roles)[number]) =>
    ({ userId: `0193a1b2-c3d4-7000-8000-00000000001${roles.indexOf(role)}`, role });
  const staffed: TenantEvent[] = [created, ...(["Admin", "Developer"] as const).map((role): TenantEvent => ({
    type: "UserCreated",
    data: { tenantId, ...by(role), email: "s1.email", emailHash: role, passwordHash: "p", at },
  }))];
  const keep = (retentionDays: number | null | undefined, role: (typeof roles)[number] = "Admin") =>
    ({ type: "ChangeTenant", by: by(role), retentionDays, at }) as const;
  const kept = (retentionDays: number | null): TenantEvent => ({
    type: "TenantRetentionChanged",
    data: { tenantId, retentionDays, at },
  });

  it("is none at first, set and unset by Admins", () => {
    expect(evolve(undefined, created)?.retentionDays).to.equal(null);
    given(staffed).when(keep(30)).gives(kept(30));
    given([...staffed, kept(30)]).when(keep(null)).gives(kept(null));
    given([...staffed, kept(30)]).when(keep(30)).changesNothing();
    given(staffed).when(keep(null)).changesNothing();
    given([...staffed, kept(30)]).when(keep(undefined)).changesNothing();
    given(staffed).when(keep(30, "Developer")).refused("forbidden", "Admin");
    expect(given([...staffed, kept(30)]).when(keep(undefined)).state()?.retentionDays).to.equal(30);
  });
});

describe("an API key's last use", () => {
  const decider = { initial: (): ApiKeyState => undefined, evolve: evolveApiKey, decide: decideApiKey };
  const given = specificationsOf(decider);
  const ids = { keyId: "0193a1b2-c3d4-7000-8000-000000000004", tenantId };
  const issued: ApiKeyEvent = {
    type: "ApiKeyIssued",
    data: { ...ids, name: "k", keyHash: "h", prefix: "rk_", last4: "abcd", expiresAt: null, at },
  };
  const used = (usedAt: string): ApiKeyEvent => ({ type: "ApiKeyUsed", data: { ...ids, usedAt, at } });
  const revoked: ApiKeyEvent = { type: "ApiKeyRevoked", data: { ...ids, keyHash: "h", at } };

  it("is recorded when it is later than the one before, and the key is in use", () => {
    const record = (usedAt: string) => ({ type: "RecordUse", usedAt, at }) as const;
    given([issued]).when(record(early)).gives(used(early));
    given([issued, used(early)]).when(record(at)).gives(used(at));
    given([issued, used(at)]).when(record(at)).changesNothing();
    given([issued, used(at)]).when(record(early)).changesNothing();
    given([issued, revoked]).when(record(at)).changesNothing();
    given([]).when(record(at)).changesNothing();
    const state = given([issued, used(at)]).when({ type: "RevokeApiKey", at }).state();
    expect(state).to.include({ revoked: true, usedAt: at });
  });
});
