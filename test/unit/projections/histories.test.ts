import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { expect } from "chai";
import fc from "fast-check";
import { SqliteReadModels } from "../../../packages/embedded-engine/src/index.ts";
import { backlogCounter } from "../../../projections/due/due.ts";
import { planTotal } from "../../../projections/events/counters.ts";
import { eventsSelected, type EventFilter } from "../../../projections/events/events.ts";
import { collections, fingerprint, project } from "../../../projections/index.ts";
import { usersCounter, usersSelected } from "../../../projections/users/users.ts";
import { SystemClock } from "../../../src/engines/system/system-clock.ts";
import type { CircuitEvent } from "../../../src/features/circuits/facts.ts";
import { shownCertificate } from "../../../src/features/destinations/certificates/facts.ts";
import { maskedHeaders } from "../../../src/features/destinations/headers.ts";
import { isWaiting } from "../../../src/features/events/decide.ts";
import {
  eventStatuses, isFinished, type EventStatus, type Webhook, type WebhookEvent,
} from "../../../src/features/events/facts.ts";
import { shownData } from "../../../src/features/facts.ts";
import { roles } from "../../../src/kernel/domain/roles.ts";
import { categoryOf, streams, subjectOf } from "../../../src/kernel/domain/streams.ts";
import {
  tenantCounter, type Document, type PositionedChanges, type ReadModels, type ReadModelWriter,
} from "../../../src/kernel/ports/read-models.ts";
import { backlogByDestination } from "../../../src/main/operator/backlog.ts";
import { idOf } from "../../support/chronicle.ts";
import { histories, type History } from "../../support/histories.ts";
import { InMemoryReadModels } from "../../support/in-memory-read-models.ts";
import { position } from "../../support/position.ts";
import { metadata, recorded } from "../../support/recorded.ts";
import { sized } from "../../support/size.ts";
import { statisticsOf } from "../../support/statistics-of.ts";

function changesOf({ told }: History): PositionedChanges[] {
  return told.map(({ fact }, at) => ({ position: position(at + 1), changes: project(recorded(fact, at + 1)) }));
}

async function applied(writer: ReadModelWriter, changes: readonly PositionedChanges[], batch: number): Promise<void> {
  await writer.reset(collections, fingerprint);
  for (let at = 0; at < changes.length; at += batch) {
    const part = changes.slice(at, at + batch);
    await writer.apply(part, part.at(-1)!.position);
  }
}

async function projected(history: History): Promise<InMemoryReadModels> {
  const models = new InMemoryReadModels();
  await applied(models, changesOf(history), 1);
  return models;
}

/** For each event, the positions of the fact that accepted it, and of the fact that finished it last. */
function placesOf({ told }: History): {
  readonly beginnings: ReadonlyMap<string, string>;
  readonly endings: ReadonlyMap<string, { readonly position: string; readonly at: string }>;
  /** The newest acceptance, replay or resend of each event. */
  readonly orders: ReadonlyMap<string, string>;
} {
  const beginnings = new Map<string, string>();
  const orders = new Map<string, string>();
  const endings = new Map<string, { readonly position: string; readonly at: string }>();
  for (const [at, { stream, fact }] of told.entries()) {
    if (fact.type === "EventAccepted") beginnings.set(stream, position(at + 1));
    if (fact.type === "EventAccepted" || fact.type === "EventReplayed") orders.set(stream, position(at + 1));
    const { from, to, at: time } = fact.data as { from?: EventStatus; to?: EventStatus; at: string };
    if (to === undefined || from === to || !isFinished(to)) continue;
    endings.set(stream, { position: position(at + 1), at: time });
  }
  return { beginnings, endings, orders };
}

/** The categories of the streams whose facts the audit lists if they have an actor. */
const audited = ["tenant", "purges", "apiKey", "invite", "destination", "sender", "subscriptions"];
/** The facts of these streams that the audit never lists. */
const bookkeeping = ["ReservationRefused", "TenantDataKeyRewrapped", "PurgeCompleted", "ApiKeyUsed"];

type Named = "tenantId" | "userId" | "purgeId" | "subscriptionId" | "at";

function auditOf({ told }: History): Document[] {
  return told.flatMap(({ stream, fact: { type, data } }, at) => {
    const category = categoryOf(stream);
    const isListed = audited.includes(category) && !bookkeeping.includes(type);
    if (!isListed && type !== "CircuitClosed") return [];
    const { tenantId, userId, purgeId, subscriptionId, at: time } = data as Readonly<Record<Named, string>>;
    const [subjectType, subjectId] = category === "purges" ? ["purge", purgeId]
      : category === "subscriptions" ? ["subscription", subscriptionId]
        : category === "tenant" && userId ? ["user", userId] : [category, subjectOf(stream)];
    const { actor, correlationId } = metadata;
    const recording = { position: position(at + 1), revision: 0, time, actor, actorId: null, correlationId };
    return [{ ...recording, tenantId, type, subjectType, subjectId, data: shownData({ type, data }) }];
  });
}

/** The documents expected from the folded states. */
function expected(history: History): Record<string, Document[]> {
  const tenants = [...history.tenants.values()];
  const destinations = [...history.destinations.values()].filter(({ deleted }) => !deleted);
  const senders = [...history.senders.values()].filter(({ deleted }) => !deleted);
  const keys = [...history.apiKeys.values()].filter(({ revoked }) => !revoked);
  const webhooks = [...history.webhooks.values()];
  const { beginnings, endings } = placesOf(history);
  const lastAttempts = lastAttemptsOf(history);
  return {
    audit: auditOf(history),
    tenants: tenants.map(({ id, name }) => ({ id, name })),
    retention: tenants.flatMap(({ id: tenantId, retentionDays }) =>
      retentionDays === null ? [] : [{ tenantId, retentionDays }]),
    users: tenants.flatMap((tenant) =>
      [...tenant.users.values()].map(({ id, email, status, role, createdAt, updatedAt }) => ({
        id,
        tenantId: tenant.id,
        email,
        status,
        role,
        createdAt,
        updatedAt,
      })),
    ),
    destinations: destinations.map(({
      auth, deleted: _, activeSince: __, ingestTokenHash: ___, orderedSince: _since, signingSecret: _secret,
      signingKey: _signingKey, clientCertificate, expiryRecorded: _recorded, circuit, headers, ...rest
    }) => ({
      ...rest, headers: maskedHeaders(headers), clientCertificate: shownCertificate(clientCertificate),
      authType: auth?.type ?? null, circuitPolicy: circuit,
      ...circuitOf(history, rest.id),
      failingSince: failingSinceOf(history, rest.id),
      lastSuccessAt: lastOf(history, rest.id, "DeliverySucceeded"),
      lastFailureAt: lastOf(history, rest.id, "DeliveryFailed"),
    })),
    tokenHashes: destinations.map(({ id, ingestTokenHash }) => ({ tokenHash: ingestTokenHash, destinationId: id })),
    senders: senders.map(({ destinationId, deleted: _deleted, ingestTokenHash: _hash, ...rest }) =>
      ({ ...rest, destinationUrlId: destinationId })),
    subscriptions: [...history.subscriptions.values()].flatMap(({ live }) =>
      live.map(({ destinationId, revision: _revision, ...rest }) => ({ ...rest, destinationUrlId: destinationId }))),
    senderTokenHashes: senders.map(({ id, ingestTokenHash }) => ({ tokenHash: ingestTokenHash, senderId: id })),
    keyHashes: keys.map(({ id, keyHash }) => ({ keyHash, keyId: id })),
    events: webhooks.map(
      ({ id, tenantId, destinationId, status, idempotencyKey, retryCount, nextAttemptAt, ...rest }) => ({
        id,
        tenantId,
        destinationUrlId: destinationId,
        status,
        idempotencyKey,
        currentRetryCount: retryCount,
        nextAttemptAt,
        acceptedAt: rest.acceptedAt,
        deliveredAt: rest.deliveredAt,
        acceptedIn: beginnings.get(streams.event(id))!,
        finishedIn: endings.get(streams.event(id))?.position ?? null,
        finishedAt: endings.get(streams.event(id))?.at ?? null,
        test: rest.test || null,
        correlationId: null,
        labels: labelsOf(rest),
        ...(lastAttempts.get(id) ?? { attempts: 0, ...unended }),
      }),
    ),
    labels: webhooks.flatMap((webhook) =>
      labelsOf(webhook).map((label) => ({ key: `${webhook.tenantId}/${label}\n${webhook.id}` }))),
  };
}

const unended = {
  endedAttempt: null, endedAt: null, endedStatusCode: null, endedReason: null, endedDurationMs: null,
};

/** The last attempt of each event that had any, and its outcome if that was recorded in time. */
function lastAttemptsOf({ told }: History): ReadonlyMap<string, Document> {
  const last = new Map<string, Document>();
  for (const { fact } of told) {
    const { type, data } = fact as WebhookEvent;
    if (type === "DeliveryAttemptStarted") last.set(data.eventId, { attempts: data.attempt, ...unended });
    if ((type !== "DeliverySucceeded" && type !== "DeliveryFailed") || data.from === data.to) continue;
    const { eventId, attempt, at, answer, durationMs } = data;
    last.set(eventId, {
      attempts: last.get(eventId)!["attempts"]!, endedAttempt: attempt, endedAt: at,
      endedStatusCode: answer?.statusCode ?? null, endedReason: type === "DeliveryFailed" ? data.reason : null,
      endedDurationMs: durationMs === null ? null : Math.round(durationMs),
    });
  }
  return last;
}

/** No request's id tells the time in these histories. */
function labelsOf(
  { senderId, eventType, ownerId, tags, test }: Pick<Webhook, "senderId" | "eventType" | "ownerId" | "tags" | "test">,
): string[] {
  return [
    ...(senderId === null ? [] : [`@sender:${senderId}`]),
    ...(eventType === null ? [] : [`@type:${eventType}`]),
    ...(ownerId === null ? [] : [`@owner:${ownerId}`]),
    ...Object.entries(tags ?? {}).map(([name, value]) => `${name}:${value}`),
    ...(test ? ["@test"] : []),
    `@correlation:${metadata.correlationId}`,
  ];
}

function circuitOf({ circuits }: History, destinationId: string) {
  const { position = "Closed", failures = 0, probe = null, openUntil = null } = circuits.get(destinationId) ?? {};
  const wakeAt = position === "Closed" ? null : (probe?.leaseUntil ?? openUntil);
  return { circuit: position, openUntil, failures, wakeAt };
}

/** When the first of a destination's failures in a row was counted; null without any. */
function failingSinceOf({ told }: History, id: string): string | null {
  const counts = told.map(({ fact }) => fact).filter(({ type }) => /^Circuit(Counted|Opened|Closed)$/.test(type))
    .map(({ data }) => data as CircuitEvent["data"]).filter(({ destinationId }) => destinationId === id);
  const last = counts.findLast(({ failures }) => failures <= 1);
  return last?.failures === 1 ? last.at : null;
}

/** When an attempt of a destination ended last in this way; null if none did. */
function lastOf({ told }: History, id: string, type: "DeliverySucceeded" | "DeliveryFailed"): string | null {
  const ends = told.filter(({ fact }) => fact.type === type && (fact as WebhookEvent).data.destinationId === id);
  return ends.map(({ fact }) => (fact as WebhookEvent).data.at).sort().at(-1) ?? null;
}

async function all(models: ReadModels, collection: string, key: string): Promise<readonly Document[]> {
  return models.find({ collection, order: { field: key, descending: false }, limit: 10_000 });
}

describe("read models of random histories", () => {
  // Shrinking takes minutes, and leaves at least a hundred steps: the seed is as useful.
  const runs = { numRuns: sized(60, 3_000), endOnFailure: true };

  it("hold the folded states of the streams", async () => {
    await fc.assert(
      fc.asyncProperty(histories(250), async (history) => {
        const models = await projected(history);
        for (const [collection, documents] of Object.entries(expected(history))) {
          const { key } = collections.find(({ name }) => name === collection)!;
          expect(await all(models, collection, key), collection).to.have.deep.members(documents);
        }
      }),
      runs,
    );
  });

  it("have exactly the retries and the attempts under way in the due index, and count waiting events", async () => {
    await fc.assert(
      fc.asyncProperty(histories(250), async (history) => {
        const models = await projected(history);
        const webhooks = [...history.webhooks.values()];
        const waiting = await all(models, "waiting", "eventId");
        const retries = webhooks.filter(({ status }) => status === "WaitingRetry");
        expect(waiting).to.have.deep.members(
          retries.map(({ id: eventId, destinationId, nextAttemptAt: dueAt }) => ({ eventId, destinationId, dueAt })),
        );
        expect(await models.sum(backlogCounter)).to.equal(webhooks.filter(isWaiting).length);
        const leases = (await all(models, "leases", "key")).map(({ key }) => key);
        expect(leases).to.have.members(webhooks.flatMap(({ id, open }) => open.map((attempt) => `${id}:${attempt}`)));
        const { orders } = placesOf(history);
        const slotted = webhooks.filter(({ status, slot }) => slot !== null && !isFinished(status));
        expect(await all(models, "ordered", "eventId")).to.have.deep.members(
          slotted.map(({ id: eventId, destinationId, slot, status, nextAttemptAt }) => ({
            eventId, destinationId, slot, position: orders.get(streams.event(eventId)),
            dueAt: status === "Processing" ? null : nextAttemptAt,
          })),
        );
      }),
      runs,
    );
  });

  it("give the number and age of waiting events for each destination, deleted ones too", async () => {
    await fc.assert(
      fc.asyncProperty(histories(250), async (history) => {
        const found = await backlogByDestination(await projected(history));
        const byDestination = Map.groupBy([...history.webhooks.values()].filter(isWaiting), (one) => one.destinationId);
        const counting = (webhooks: readonly Webhook[]) => {
          const those = (status: EventStatus) => webhooks.filter((one) => one.status === status);
          const pending = those("Pending").sort((a, b) => (a.id < b.id ? -1 : 1));
          return [...pending.slice(0, 1), ...those("WaitingRetry")];
        };
        expect(found.map(({ status: _, ...backlog }) => backlog)).to.have.deep.members(
          [...byDestination].map(([destinationId, webhooks]) => ({
            destinationId,
            tenantId: webhooks[0]!.tenantId,
            waiting: webhooks.length,
            oldestDueAt: counting(webhooks).map(({ nextAttemptAt }) => nextAttemptAt).sort()[0],
          })),
        );
        for (const { destinationId, status } of found) {
          expect(status === null, destinationId).to.equal(history.destinations.get(destinationId)?.deleted ?? true);
        }
        const sizes = found.map(({ waiting }) => waiting);
        expect(sizes).to.deep.equal(sizes.toSorted((a, b) => b - a));
      }),
      runs,
    );
  });

  it("give the same totals from counters as from the documents", async () => {
    const moment = fc.nat(400_000_000).map((ms) => new Date(1_700_000_000_000 + ms).toISOString());
    const around = fc
      .nat(5_000)
      .map((minutes) => new Date(1_700_000_000_000 - 20_000 + minutes * 60_000).toISOString());
    const filter = fc.record(
      {
        tenantId: fc.nat(1).map((n) => idOf("tenant", n)),
        statuses: fc.uniqueArray(fc.constantFrom(...eventStatuses), { minLength: 1, maxLength: 3 }),
        destinationUrlId: fc.nat(2).map((n) => idOf("destination", n)),
        from: fc.oneof(moment, around),
        to: fc.oneof(moment, around),
      },
      { requiredKeys: ["tenantId"] },
    );
    await fc.assert(
      fc.asyncProperty(histories(300), fc.array(filter, { minLength: 10, maxLength: 10 }), async (history, filters) => {
        const models = await projected(history);
        for (const asked of filters as EventFilter[]) {
          const { sums, counts } = planTotal(asked);
          const parts = await Promise.all([
            ...sums.map(({ scope, from, to }) => models.sum(scope, from, to)),
            ...counts.map((part) => models.count(eventsSelected(part))),
          ]);
          const total = parts.reduce((sum, part) => sum + part, 0);
          expect(total, JSON.stringify(asked)).to.equal(await models.count(eventsSelected(asked)));
          for (const { from, to } of counts) {
            const lengthMs = Date.parse(to!) - Date.parse(from!);
            expect(lengthMs).to.be.lessThan(2 * 60_000);
          }
        }
      }),
      runs,
    );
  });

  it("count users by every filter, and destinations, senders, subscriptions and keys by tenant", async () => {
    await fc.assert(
      fc.asyncProperty(histories(250), async (history) => {
        const models = await projected(history);
        for (const tenantId of history.tenants.keys()) {
          for (const status of [undefined, "Active", "Inactive"] as const) {
            for (const role of [undefined, ...roles]) {
              const filter = { tenantId, status, role };
              expect(await models.sum(usersCounter(filter))).to.equal(await models.count(usersSelected(filter)));
            }
          }
          for (const name of ["destinations", "senders", "subscriptions", "apiKeys"]) {
            expect(await models.sum(tenantCounter({ name }, tenantId)))
              .to.equal(await models.count({ collection: name, where: { tenantId } }));
          }
        }
      }),
      runs,
    );
  });

  it("remember when each API key was last used", async () => {
    await fc.assert(
      fc.asyncProperty(histories(200), async (history) => {
        const models = await projected(history);
        const used = new Map<string, string>();
        for (const { fact } of history.told) {
          if (fact.type !== "EventAccepted") continue;
          const { apiKeyId, at, test } = fact.data as { apiKeyId: string; at: string; test?: true };
          if (!test && at > (used.get(apiKeyId) ?? "")) used.set(apiKeyId, at);
        }
        for (const { id, lastUsedAt } of await all(models, "apiKeys", "id")) {
          expect(lastUsedAt).to.equal(used.get(id as string) ?? null);
        }
      }),
      runs,
    );
  });

  it("have the statistics that a plain fold of the facts has, but for those of types", async () => {
    await fc.assert(
      fc.asyncProperty(histories(250), async (history) => {
        const rows = (await projected(history)).statistics();
        const all = statisticsOf(history.told.map(({ fact }) => fact));
        const expected = Object.fromEntries(Object.entries(all).filter(([key]) => !key.includes("~")));
        const numbers = Object.fromEntries(Object.entries(rows).map(([key, row]) => [key, row["numbers"]]));
        expect(numbers).to.deep.equal(expected);
      }),
      runs,
    );
  });

  describe("in SQLite", () => {
    let folder: string;

    beforeEach(() => {
      folder = mkdtempSync(join(tmpdir(), "histories-"));
    });
    afterEach(() => rmSync(folder, { recursive: true, force: true }));

    /** All rows of all tables, sorted. */
    function contents(file: string): Record<string, string[]> {
      const database = new DatabaseSync(file, { readOnly: true });
      const tables = collections.map(({ name }) => [name, `SELECT * FROM "c_${name}"`] as const);
      const counters = "SELECT name, bucket, total FROM counters JOIN scopes ON scope = number";
      const read = [...tables, ["counters", counters] as const].map(([name, sql]) => [
        name,
        database
          .prepare(sql)
          .all()
          .map((row) => JSON.stringify(Object.values(row)))
          .sort(),
      ]);
      database.close();
      return Object.fromEntries(read) as Record<string, string[]>;
    }

    it("are identical when projected one by one, in batches, or rebuilt", async () => {
      const [oneByOne, batched] = ["one-by-one.db", "batched.db"].map((name) => join(folder, name)) as [string, string];
      const one = new SqliteReadModels(oneByOne, new SystemClock());
      const many = new SqliteReadModels(batched, new SystemClock());
      await fc.assert(
        fc.asyncProperty(histories(200), fc.integer({ min: 2, max: 60 }), async (history, batch) => {
          const changes = changesOf(history);
          await applied(one, changes, 1);
          await applied(many, changes, batch);
          const live = contents(oneByOne);
          expect(contents(batched)).to.deep.equal(live);
          expect(live["events"]).to.not.equal(undefined);
          await applied(many, changes, changes.length);
          expect(contents(batched)).to.deep.equal(live);
        }),
        { ...runs, numRuns: sized(15, 500) },
      );
      await one.close();
      await many.close();
    });
  });
});
