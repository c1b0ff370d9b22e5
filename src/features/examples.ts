import apiKeySchema from "../../schemas/responses/api-key.json" with { type: "json" };
import destinationSchema from "../../schemas/responses/destination.json" with { type: "json" };
import inviteSchema from "../../schemas/responses/invite.json" with { type: "json" };
import notificationSubscriptionSchema
  from "../../schemas/responses/notification-subscription.json" with { type: "json" };
import portalLinkSchema from "../../schemas/responses/portal-link.json" with { type: "json" };
import senderSchema from "../../schemas/responses/sender.json" with { type: "json" };
import serviceAccountSchema from "../../schemas/responses/service-account.json" with { type: "json" };
import serviceKeySchema from "../../schemas/responses/service-key.json" with { type: "json" };
import subscriptionSchema from "../../schemas/responses/subscription.json" with { type: "json" };
import tenantSchema from "../../schemas/responses/tenant.json" with { type: "json" };
import userSchema from "../../schemas/responses/user.json" with { type: "json" };
import viewSchema from "../../schemas/responses/view.json" with { type: "json" };
import { examples } from "../kernel/domain/examples.ts";
import { facts, histories, type HistoryName } from "./facts.ts";

const { tenantId, destinationId, at, later } = examples;

/** The part of a key or token after its prefix: 32 bytes in base64url. Opens nothing. */
export const token = "q0Zk3s1vJ8pY2mXw5nB7rT4cG6hL9dFaE-uIoP_kZxA";

/** The prefix and 32 bytes in base64; no tenant has it. */
export const previousSecret = { fingerprint: "5f70bf18a0860070", expiresAt: "2026-01-16T09:30:00.000Z" };
export const publicKey = "whpk_MTIzNDU2Nzg5MDEyMzQ1Njc4OTAxMjM0NTY3ODkwMTI=";
export const webhookSecret = "whsec_MTIzNDU2Nzg5MDEyMzQ1Njc4OTAxMjM0NTY3ODkwMTI=";

/** Replacements of a secret that signs. */
export const secretReplacements = {
  "at once": {},
  "with a day of overlap": { gracePeriodSeconds: 86_400 },
  "by a secret of one's own": { gracePeriodSeconds: 86_400, secret: webhookSecret },
};

/** A password long enough to be taken. */
export const password = "correct horse battery";

const statisticsPoint = {
  at: "2026-01-31T23:00:00.000Z", accepted: 120, succeeded: 118, exhausted: 1, cancelled: 0, attempts: 131,
  failures: { status: 9, timeout: 4 }, latencyMs: { p50: 42.18, p95: 263.4, p99: 10_321.5, max: 15_000 },
  firstAttemptMs: { p50: 2.23, p95: 8.87 },
};

/** An hour of a tenant's events. */
export const statistics = {
  bucket: "1h", from: "2026-01-31T23:00:00.000Z", to: "2026-02-01T00:00:00.000Z",
  series: [{ destinationUrlId: null, points: [statisticsPoint], total: statisticsPoint }],
};

/** Ingest requests that were refused because the destination was suspended. */
export const refusal = {
  firstAt: at, lastAt: later, count: 12,
  status: 422, reason: "the destination is suspended until 2026-02-01T00:04:59.000Z",
  destinationUrlId: destinationId, senderId: null, apiKeyId: "0198f2a1-6c3e-7b54-9d0f-2a8b6c4d1e05",
  requestId: "0198f2a1-6c3e-7b54-9d0f-2a8b6c4d1e09",
};

/** A tenant with the default settings. */
export const tenant = tenantSchema.example;

/** The same tenant as shown to its creator. */
export const createdTenant = {
  tenantId,
  tenantName: "Example Ltd",
  webhookSecret,
  maxTrys: 10,
  circuitBreakerTimer: 300,
  tenantCreatedAt: at,
  ownerUserId: "0198f2a1-6c3e-7b54-9d0f-2a8b6c4d1e02",
  ownerEmail: "owner@example.com",
  ownerRole: "Owner",
  ownerCreatedAt: at,
};

/** Its Owner. */
export const user = userSchema.example;

/** A second user of it. */
export const developer = {
  ...user, id: examples.developerId, email: "dev@example.com", role: "Developer",
};

/** The Owner's login, good for an hour. */
export const session = {
  accessToken: "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIuLi4ifQ.4kq0Zk3s1vJ8pY2mXw5nB7rT4cG6hL9dFaEuIoPkZxA",
  tokenType: "Bearer",
  expiresIn: 3600,
  expiresAt: "2026-02-01T00:59:59.000Z",
  user,
};

/** The same in a browser, whose token is in its cookie. */
export const browserSession = { user, expiresAt: session.expiresAt };

/** The Owner and its rights; the operations of a real answer are many more. */
export const me = {
  principal: { type: "user", id: user.id, name: user.email },
  tenant: { id: tenantId, name: "Example" },
  role: "Owner",
  scopes: null,
  expiresAt: session.expiresAt,
  operations: ["listEvents", "getEvent", "replayEvent"],
};

/** Where the tenant's events go. */
export const destination = destinationSchema.example;

/** A sender to that destination, with a mapping. */
export const sender = senderSchema.example;

/** A destination that gets messages of a sender that fans out. */
export const subscription = subscriptionSchema.example;

/** The producer's key, as lists show it. */
export const apiKey = apiKeySchema.example;

/** A machine that sets destinations up. */
export const serviceAccount = serviceAccountSchema.example;

/** Its key, as lists show it. */
export const serviceKey = serviceKeySchema.example;

/** A view that its owner shares. */
export const view = viewSchema.example;

/** A destination that gets notifications. */
export const notificationSubscription = notificationSubscriptionSchema.example;

/** A portal link that is in use. */
export const portalLink = portalLinkSchema.example;

/** The session of its visitor. */
export const portalSession = {
  id: portalLink.id, ownerId: portalLink.ownerId, may: portalLink.may, label: portalLink.label,
  returnUrl: portalLink.returnUrl, embedded: false, expiresAt: portalLink.session.endsAt,
  brand: { name: "Example Shop", color: "#1a4fa3", logo: true },
  senders: [], operations: ["listEvents", "getEvent", "replayEvent"],
};

/** An invite, open for seven days. */
export const invite = inviteSchema.example;

/** An event that was delivered at its first attempt. */
export const event = {
  id: examples.eventId,
  tenantId,
  destinationUrlId: destinationId,
  payload: examples.payload,
  status: "Succeeded",
  idempotencyKey: examples.idempotencyKey,
  currentRetryCount: 0,
  nextAttemptAt: null,
  acceptedAt: at,
  deliveredAt: later,
  senderId: null,
  messageId: null,
  eventType: examples.eventType,
  ownerId: examples.ownerId,
  tags: examples.tags,
  test: false,
  sourceEventId: null,
};

/** A message with one delivery, as lists show it. */
export const messageSummary = {
  id: "0198f2a1-6c3e-8b54-9d0f-2a8b6c4d1e40", tenantId, senderId: senderSchema.example.id, status: "Succeeded",
  idempotencyKey: examples.idempotencyKey, eventType: examples.eventType, ownerId: examples.ownerId,
  tags: examples.tags, acceptedAt: at,
  deliveries: [{
    eventId: examples.eventId, subscriptionId: "0198f2a1-6c3e-7b54-9d0f-2a8b6c4d1e41", destinationUrlId: destinationId,
    status: "Succeeded",
  }],
};

/** The message itself. */
export const message = { ...messageSummary, payload: examples.payload, skipped: [] };

const { payload, ...withoutPayload } = event;

/** A summary of it. */
export const eventSummary = {
  ...withoutPayload,
  payloadBytes: payload.length,
  preview: payload,
  attempts: 1,
  lastAttempt: {
    number: 1, finishedAt: later, outcome: "succeeded", statusCode: 200, reason: null, durationMs: 133,
  },
};

/** The same event before that, as ingest and a replay leave it. */
export const waitingEvent = { ...event, status: "Pending", nextAttemptAt: at, deliveredAt: null };

/** A test event, as it was accepted. */
export const testEvent = {
  ...waitingEvent, payload: '{"type":"order.paid","amount":19.9}', idempotencyKey: null, ownerId: null, tags: null,
  test: true,
};

/** How the tenant's events stand. */
export const eventTotals = {
  total: 3619,
  statuses: {
    Pending: 12, Processing: 5, Succeeded: 3561, Failed: 0, WaitingRetry: 33, CriticalFailure: 7, Cancelled: 1,
  },
};

/** The attempt that delivered it. */
export const attempt = {
  number: 1,
  startedAt: examples.attemptAt,
  finishedAt: later,
  durationMs: 408,
  outcome: "succeeded",
  statusCode: 204,
  reason: null,
  error: null,
  requestHeaders: {
    "Content-Type": "application/json",
    "webhook-id": event.id,
    "X-Relay-Attempt": "1",
    Authorization: "***",
  },
  responseHeaders: { date: "Sat, 31 Jan 2026 23:59:59 GMT" },
  responseBody: "",
  truncated: false,
  destinationUrl: destination.url,
};

const owner = { type: "user", id: user.id, role: user.role };

const byOwner = { time: at, actor: { ...owner, name: user.email }, correlationId: "CHG-4711" };

const byProducer = "0198f2a1-6c3e-7b54-9d0f-2a8b6c4d1e0d";

function exampleTypes(history: HistoryName): readonly string[] {
  return histories[history].filter((type) => facts.get(type)?.example);
}

/** The first example of a history, as the history shows it; the position is the embedded log's. */
function factOf(history: HistoryName, revision: number, position: string, more: object = {}) {
  const [type = ""] = exampleTypes(history);
  return { type, revision, position, ...byOwner, data: facts.get(type)?.example ?? {}, ...more };
}

export const tenantFact = factOf("tenant", 5, "0000000000004690");

export const purgeFact = factOf("purges", 8, "0000000000004695");

export const replayFact = factOf("replays", 2, "0000000000004713");

export const cancellationFact = factOf("cancellations", 2, "0000000000004714");

export const apiKeyFact = factOf("apiKey", 1, "0000000000004691");

export const serviceAccountFact = factOf("serviceAccount", 2, "0000000000004697");

export const inviteFact = factOf("invite", 0, "0000000000004692");

export const destinationFact = factOf("destination", 3, "0000000000004693", {
  changes: [{ field: "url", from: "https://old.example.com/hooks", to: destination.url }],
});

export const senderFact = factOf("sender", 1, "0000000000004694");

export const subscriptionFact = factOf("subscriptions", 1, "0000000000004715");

export const auditFact = {
  ...destinationFact, subject: { type: "destination", id: destinationId, name: destination.url },
};

/** Of the history of the destination's circuit. */
export const circuitFact = factOf("circuit", 12, "0000000000004712", {
  time: later,
  actor: { type: "service", part: "delivery/0198f2a1-6c3e-7b54-9d0f-2a8b6c4d1e0c" },
  correlationId: byProducer,
});

const producer = { type: "apiKey", id: apiKey.id };

/** The first of the event's history. */
export const fact = factOf("event", 0, "0000000000004711", {
  time: at, actor: { ...producer, name: apiKey.name }, correlationId: byProducer,
});

/** A replay of a day's failures to another destination. */
export const replay = {
  id: "0198f2a1-6c3e-7b54-9d0f-2a8b6c4d1e12",
  state: "Running",
  matched: 42,
  done: 20,
  skipped: 1,
  outcome: { delivered: 15, waiting: 3, exhausted: 2, cancelled: 0 },
  destinationUrlId: destinationId,
  senderId: null,
  eventType: "invoice.paid",
  tag: null,
  ids: null,
  status: ["CriticalFailure"],
  from: "2026-01-31T00:00:00.000Z",
  to: null,
  ownerId: null,
  messageId: null,
  correlationId: null,
  tags: null,
  finishedFrom: null,
  finishedTo: null,
  toDestinationUrlId: "0198f2a1-6c3e-7b54-9d0f-2a8b6c4d1e13",
  perSecond: 50,
  actor: owner,
  startedAt: at,
  finishedAt: null,
};

const storySubject = { type: "event", id: event.id };

const [accepted, started, succeeded] = exampleTypes("event");

/** The type of the fact that an attempt succeeded. */
export const successType = succeeded;

const acceptedEntry = { position: fact.position, type: accepted, subject: storySubject, time: at };

const byWorker = { type: "service", part: "delivery/0198f2a1-6c3e-7b54-9d0f-2a8b6c4d1e0f" };

const attemptEntry = (position: string, type: string | undefined, time: string) =>
  ({ position, type, subject: storySubject, time, actor: byWorker });

const { number, outcome, durationMs, statusCode, reason, error } = attempt;

const storyAttempt = { number, outcome, durationMs, statusCode, reason, error };

/** The story of the event: it was delivered at once. */
export const story = {
  asOf: { time: "2026-02-01T08:00:00.000Z", position: "0000000000004720" },
  event,
  waiting: null,
  chapters: [
    {
      kind: "accepted", from: at, to: at, entries: [{ ...acceptedEntry, actor: producer }], because: [],
    },
    {
      kind: "attempt", from: attempt.startedAt, to: later,
      entries: [
        attemptEntry("0000000000004712", started, attempt.startedAt),
        attemptEntry("0000000000004713", succeeded, later),
      ],
      because: [{ code: "first-attempt", entry: acceptedEntry, values: {} }],
      attempt: storyAttempt,
    },
  ],
};
