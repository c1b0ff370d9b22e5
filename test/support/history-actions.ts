import { subscriptionsId } from "../../src/features/subscriptions/facts.ts";
import type { TenantState } from "../../src/features/tenants/facts.ts";
import { eventIdOf, keyOfEvent } from "../../src/kernel/domain/event-id.ts";
import { roles, type Role } from "../../src/kernel/domain/roles.ts";
import { dayMs, timestamp } from "../../src/kernel/domain/time.ts";
import { idOf, maxTrys, pick, type Chronicle } from "./chronicle.ts";

/** One attempt at an action; a refused one leaves no trace. */
export interface Step {
  readonly action: string;
  /** Which thing of a kind is meant. */
  readonly which: number;
  readonly number: number;
  /** How long after the step before, ms. */
  readonly after: number;
}

/** A tenant always has an active Owner. */
function ownerOf({ users }: NonNullable<TenantState>) {
  const owner = [...users.values()].find(({ role, status }) => role === "Owner" && status === "Active");
  return { role: "Owner", userId: owner?.id ?? "" } as const;
}

function roleOf(number: number): Role {
  return pick([...roles], number);
}

/** The possible actions, by name. */
/** The optional fields of an event that a producer, or a test by a person, gives. */
const said = [
  {},
  { eventType: "order.paid", tags: { order: "7", region: "eu" } },
  { senderId: idOf("sender", 0), ownerId: "customer" },
  { senderId: idOf("sender", 0), eventType: "order.paid", ownerId: "customer", tags: { order: "7" } },
  { test: true as const },
  { test: true as const, eventType: "order.paid", tags: { region: "us" } },
];

export const actions: Readonly<Record<string, (past: Chronicle, step: Step) => void>> = {
  createUser: (past, { which, number }) =>
    past.tenant(which, (state) => ({
      type: "CreateUser",
      by: ownerOf(state),
      user: { ...past.newUser(), role: roleOf(number) },
      at: past.at,
      tenantId: state.id,
    })),
  changeUser: (past, { which, number }) =>
    past.tenant(which, (state) => ({
      type: "ChangeUser",
      by: ownerOf(state),
      userId: pick([...state.users.keys()], number),
      role: roleOf(number),
      at: past.at,
      ...(number % 3 === 0 && { status: number % 2 ? ("Inactive" as const) : ("Active" as const) }),
      ...(number % 5 === 0 && { email: { sealed: `sealed ${number}`, hash: `hash ${number}` } }),
      ...(number % 7 === 0 && { passwordHash: "other" }),
    })),
  deleteUser: (past, { which, number }) =>
    past.tenant(which, (state) => ({
      type: "DeleteUser", by: ownerOf(state), userId: pick([...state.users.keys()], number), at: past.at,
    })),
  changeTenant: (past, { which, number }) =>
    past.tenant(which, (state) => ({
      type: "ChangeTenant",
      by: ownerOf(state),
      name: `name ${number}`,
      nameHash: `hash ${number}`,
      maxTrys: 1 + (number % 5),
      at: past.at,
    })),
  newSecret: (past, { which }) =>
    past.tenant(which, (state) => ({
      type: "RegenerateWebhookSecret", by: ownerOf(state),
      webhookSecret: "sealed", webhookSecretFingerprint: "f", gracePeriodSeconds: 0, at: past.at,
    })),
  registerDestination: (past, { which, number }) =>
    past.destination(past.fresh("destination"), () => ({
      type: "RegisterDestination",
      at: past.at,
      destination: {
        destinationId: idOf("destination", past.count("destination") - 1),
        tenantId: pick([...past.tenants.keys()], which),
        url: `https://receiver.example/${number}`,
        serverRateLimit: 1 + number,
        ingestTokenHash: past.hash(),
        auth: number % 2 ? { type: "BearerToken", credentials: "sealed" } : null,
      },
    })),
  changeDestination: (past, { which, number }) =>
    past.destination(past.anyDestination(which), () => ({
      type: "ChangeDestination",
      at: past.at,
      url: `https://receiver.example/${number % 4}`,
      serverRateLimit: 1 + (number % 3),
      timeoutMs: number % 2 ? null : 1_000 * number,
      retryPolicy: number % 4 ? null : { schedule: ["5s"], maxTrys: 1 + number },
      disableAfterDays: number % 2 ? null : 1 + number,
      expireAfterDays: number % 5 ? null : 1 + number,
      circuit: number % 3 ? null : { failures: 1 + number, timer: 60 },
      headers: number % 3 ? undefined : { "X-Tenant": "sealed" },
      clientCertificate: number % 2 ? null
        : { fingerprint: "0".repeat(64), notAfter: timestamp(past.now + number * dayMs), pem: "sealed" },
      ordering: (["none", "destination", { by: "/id" }] as const)[number % 3],
      active: number % 3 > 0,
      auth: number % 2 ? null : { type: "BasicAuth", credentials: "sealed" },
    })),
  recordCertificateExpiry: (past, { which }) =>
    past.destination(past.anyDestination(which), () => ({ type: "RecordCertificateExpiry", at: past.at })),
  newToken: (past, { which }) =>
    past.destination(past.anyDestination(which), () => ({
      type: "RegenerateIngestToken",
      ingestTokenHash: past.hash(),
      at: past.at,
    })),
  deleteDestination: (past, { which, number }) => {
    if (number % 4 === 0)
      past.destination(past.anyDestination(which), () => ({ type: "DeleteDestination", at: past.at }));
  },
  createSender: (past, { which, number }) => {
    const destination = past.destinations.get(past.anyDestination(which));
    if (!destination) return;
    const senderId = past.fresh("sender");
    const { id: destinationId, tenantId } = destination;
    const mapping = number % 2 ? ({ language: "jmespath", expression: "{id: id}" } as const) : null;
    const settings = { name: `sender ${number}`, mapping, ingestTokenHash: past.hash() };
    const sender = { senderId, tenantId, destinationId, ...settings };
    past.sender(senderId, { type: "CreateSender", at: past.at, sender });
  },
  changeSender: (past, { which, number }) => {
    const mapping = { language: "jmespath", expression: `{n: \`${number}\`}` } as const;
    const change = { name: `sender ${number % 4}`, active: number % 3 > 0, mapping: number % 2 ? null : mapping };
    past.sender(pick([...past.senders.keys()], which), {
      type: "ChangeSender", at: past.at, destinationId: past.anyDestination(number), ...change,
    });
  },
  endSender: (past, { which, number }) => {
    const token = { type: "RegenerateIngestToken", ingestTokenHash: past.hash(), at: past.at } as const;
    const id = pick([...past.senders.keys()], which);
    past.sender(id, number % 4 ? token : { type: "DeleteSender", at: past.at });
  },
  createFanOutSender: (past, { which, number }) => {
    const senderId = past.fresh("sender");
    past.sender(senderId, {
      type: "CreateFanOutSender", at: past.at,
      sender: {
        senderId, tenantId: pick([...past.tenants.keys()], which), name: `sender ${number}`, mapping: null,
        ingestTokenHash: past.hash(), searchFields: [], eventTypePath: null, unmatched: "accept",
      },
    });
  },
  changeFanOut: (past, { which, number }) =>
    past.sender(pick([...past.senders.keys()], which), {
      type: "ChangeSender", at: past.at, eventTypePath: number % 2 ? "/type" : null, unmatched: "refuse",
    }),
  subscribe: (past, { which, number }) => {
    const { id: senderId, tenantId } = pick([...past.senders.values()].filter(({ fanOut }) => fanOut), which);
    const ownerId = number % 2 ? `owner ${number % 3}` : null;
    past.subscribe(subscriptionsId(senderId, ownerId), {
      type: "Subscribe", at: past.at,
      subscription: {
        id: past.fresh("subscription"), tenantId, senderId, ownerId, destinationId: past.anyDestination(number),
        eventTypes: number % 3 ? null : ["invoice.*"], filter: number % 4 ? null : { data: { n: number } },
        mapping: null,
      },
    });
  },
  changeSubscription: (past, { which, number }) => {
    const [place, { live }] = pick([...past.subscriptions], which);
    const { id } = pick(live, number);
    past.subscribe(place, number % 4 === 0 ? { type: "Unsubscribe", id, at: past.at } : {
      type: "ChangeSubscription", id, at: past.at, active: number % 3 > 0, eventTypes: number % 2 ? null : ["refund"],
    });
  },
  issueKey: (past, { which, number }) =>
    past.apiKey(past.fresh("apiKey"), {
      type: "IssueApiKey",
      at: past.at,
      key: {
        keyId: idOf("apiKey", past.count("apiKey") - 1),
        tenantId: pick([...past.tenants.keys()], which),
        name: `key ${number}`,
        keyHash: past.hash(),
        prefix: "rk_",
        last4: "abcd",
        expiresAt: number % 2 ? timestamp(past.now + 1e9) : null,
      },
    }),
  rotateKey: (past, { which, number }) =>
    past.apiKey(pick([...past.apiKeys.keys()], which), {
      type: "RotateApiKey", successorId: idOf("apiKey", past.count("apiKey")), overlapSeconds: number * 60, at: past.at,
    }),
  revokeKey: (past, { which }) =>
    past.apiKey(pick([...past.apiKeys.keys()], which), { type: "RevokeApiKey", at: past.at }),
  accept: (past, { which, number }) => {
    const destination = past.destinations.get(past.anyDestination(which));
    if (!destination) return;
    const keys = [...past.apiKeys.values()].filter(({ tenantId }) => tenantId === destination.tenantId);
    const eventId = eventIdOf(past.now, keyOfEvent(past.fresh("event")));
    past.webhook(eventId, {
      type: "Accept",
      at: past.at,
      event: {
        eventId,
        tenantId: destination.tenantId,
        destinationId: destination.id,
        apiKeyId: keys.length > 0 ? pick(keys, number).id : idOf("other", 0),
        senderId: null,
        senderRevision: null,
        idempotencyKey: number % 2 ? `order ${number}` : null,
        payload: "{}",
        original: null,
        ...(number % 3 === 0 && { slot: number % 4 }),
        ...said[number % said.length],
      },
    });
  },
  startAttempt: (past, { which, number }) =>
    past.webhook(past.anyEvent(which), {
      type: "StartAttempt",
      at: past.at,
      with: {
        leaseUntil: timestamp(past.now + 20_000),
        worker: "worker",
        url: "https://receiver.example/",
        authType: null,
        destinationRevision: 0,
        secretFingerprint: "f",
        probe: number % 5 === 0,
      },
    }),
  succeed: (past, { which, number }) =>
    past.outcome(which, number, (attempt) => ({
      type: "Succeed",
      attempt,
      durationMs: 1,
      requestHeaders: {},
      at: past.at,
      answer: { statusCode: 200, headers: {}, body: "", truncated: false },
    })),
  fail: (past, { which, number }) =>
    past.outcome(which, number, (attempt, webhook) => ({
      type: "Fail",
      attempt,
      durationMs: 1,
      requestHeaders: {},
      at: past.at,
      error: "failed",
      retryAfterMs: null,
      random: 0,
      reason: number % 3 ? "timeout" : "outcome unknown",
      answer: null,
      policy: { scheduleMs: [50, 60_000], jitter: 0, maxTrys },
      destinationDeleted: past.destinations.get(webhook.destinationId)?.deleted ?? false,
    })),
  replay: (past, { which, number }) =>
    past.webhook(past.anyEvent(which), { type: "Replay", slot: number % 2 ? number % 4 : null, at: past.at }),
  cancel: (past, { which, number }) =>
    past.webhook(past.anyEvent(which), {
      type: "Cancel",
      reason: number % 2 ? "requested" : "destination deleted",
      at: past.at,
    }),
  claimProbe: (past, { which }) => {
    const destinationId = past.anyDestination(which);
    past.circuit(destinationId, {
      type: "ClaimProbe",
      eventId: idOf("event", which),
      leaseUntil: timestamp(past.now + 20_000),
      lost: past.circuits.get(destinationId)?.probe ?? null,
      at: past.at,
    });
  },
  releaseProbe: (past, { which }) => {
    const destinationId = past.anyDestination(which);
    const probe = past.circuits.get(destinationId)?.probe;
    if (probe) past.circuit(destinationId, { type: "ReleaseProbe", probe, at: past.at });
  },
  halfOpen: (past, { which }) => {
    const destinationId = past.anyDestination(which);
    const lost = past.circuits.get(destinationId)?.probe ?? null;
    past.circuit(destinationId, { type: "HalfOpen", lost, at: past.at });
  },
  close: (past, { which }) => past.circuit(past.anyDestination(which), { type: "Close", at: past.at }),
  open: (past, { which }) =>
    past.circuit(past.anyDestination(which), {
      type: "Record",
      late: false,
      ok: false,
      eventId: idOf("event", which),
      maxTrys: 2,
      timerS: 1,
      at: past.at,
    }),
};
