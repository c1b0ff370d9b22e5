import fc from "fast-check";
import { decide as decideApiKey, evolve as evolveApiKey, type ApiKeyState } from "../../src/domain/api-key/api-key.ts";
import type { ApiKeyEvent } from "../../src/domain/api-key/events.ts";
import {
  decide as decideCircuit,
  evolve as evolveCircuit,
  newCircuit,
  type Circuit,
  type CircuitCommand,
  type CircuitEvent,
} from "../../src/domain/circuit/circuit.ts";
import { decide as decideDestination } from "../../src/domain/destination/decide.ts";
import type { DestinationEvent } from "../../src/domain/destination/events.ts";
import { evolve as evolveDestination, type DestinationState } from "../../src/domain/destination/state.ts";
import type { DomainEvent } from "../../src/domain/domain-event.ts";
import { decide as decideWebhook, type WebhookCommand } from "../../src/domain/event/decide.ts";
import { eventIdOf, keyOfEvent } from "../../src/domain/event/event-id.ts";
import type { WebhookEvent } from "../../src/domain/event/events.ts";
import { evolve as evolveWebhook, type WebhookState } from "../../src/domain/event/state.ts";
import { Refusal } from "../../src/domain/refusal.ts";
import { roles, type Role } from "../../src/domain/roles.ts";
import { decide as decideSender, type SenderCommand } from "../../src/domain/sender/decide.ts";
import type { SenderEvent } from "../../src/domain/sender/events.ts";
import { evolve as evolveSender, type SenderState } from "../../src/domain/sender/state.ts";
import { streams } from "../../src/domain/streams.ts";
import type { TenantCommand } from "../../src/domain/tenant/commands.ts";
import { decide as decideTenant } from "../../src/domain/tenant/decide.ts";
import type { TenantEvent } from "../../src/domain/tenant/events.ts";
import { evolve as evolveTenant, type TenantState } from "../../src/domain/tenant/state.ts";
import { timestamp } from "../../src/domain/time.ts";

/** A fact and the stream it stands in. */
export interface Told {
  readonly stream: string;
  readonly fact: DomainEvent;
}

/** One thing that somebody tries; what is refused leaves no trace. */
export interface Step {
  readonly action: string;
  /** Which of the things of a kind. */
  readonly which: number;
  readonly number: number;
  /** How long after the step before, ms. */
  readonly after: number;
}

const start = 1_700_000_000_000;
const maxTrys = 3;
/** A tenant always has an active one. */
function ownerOf({ users }: NonNullable<TenantState>) {
  const owner = [...users.values()].find(({ role, status }) => role === "Owner" && status === "Active");
  return { role: "Owner", userId: owner?.id ?? "" } as const;
}

/** A UUID for the n-th thing of a kind. These do not sort by time. */
export function idOf(kind: string, n: number): string {
  const mixed = ((n + 1) * 2_654_435_761) % 2 ** 32;
  const kindPart = Buffer.from(kind.padEnd(6).slice(0, 6)).toString("hex");
  const text = mixed.toString(16).padStart(8, "0");
  return `${text}-0000-4${text.slice(0, 3)}-8${text.slice(3, 6)}-${text.slice(6)}${kindPart.slice(0, 10)}`;
}

/** What came of some steps: all facts in order, and every state they fold to. */
export class History {
  readonly told: Told[] = [];
  readonly tenants = new Map<string, NonNullable<TenantState>>();
  readonly destinations = new Map<string, NonNullable<DestinationState>>();
  readonly senders = new Map<string, NonNullable<SenderState>>();
  readonly circuits = new Map<string, Circuit>();
  readonly apiKeys = new Map<string, NonNullable<ApiKeyState>>();
  readonly webhooks = new Map<string, NonNullable<WebhookState>>();
  readonly #made = new Map<string, number>();
  #now = start;

  constructor(steps: readonly Step[]) {
    this.#createTenant();
    this.#createTenant();
    for (const step of steps) {
      this.#now += step.after;
      try {
        this.#actions[step.action]?.(step);
      } catch (error) {
        if (!(error instanceof Refusal)) throw error;
      }
    }
  }

  /** How a failed property shows it. */
  [fc.toStringMethod](): string {
    return this.told.map(({ stream, fact }) => `${stream}: ${fact.type} ${JSON.stringify(fact.data)}`).join("\n");
  }

  static actions(): string[] {
    return Object.keys(new History([]).#actions);
  }

  get #at(): string {
    return timestamp(this.#now);
  }

  readonly #actions: Readonly<Record<string, (step: Step) => void>> = {
    createUser: ({ which, number }) =>
      this.#tenant(which, (state) => ({
        type: "CreateUser",
        by: ownerOf(state),
        user: { ...this.#newUser(), role: roleOf(number) },
        at: this.#at,
        tenantId: state.id,
      })),
    changeUser: ({ which, number }) =>
      this.#tenant(which, (state) => ({
        type: "ChangeUser",
        by: ownerOf(state),
        userId: pick([...state.users.keys()], number),
        role: roleOf(number),
        at: this.#at,
        ...(number % 3 === 0 && { status: number % 2 ? ("Inactive" as const) : ("Active" as const) }),
        ...(number % 5 === 0 && { email: { sealed: `sealed ${number}`, hash: `hash ${number}` } }),
        ...(number % 7 === 0 && { passwordHash: "other" }),
      })),
    deleteUser: ({ which, number }) =>
      this.#tenant(which, (state) => ({
        type: "DeleteUser", by: ownerOf(state), userId: pick([...state.users.keys()], number), at: this.#at,
      })),
    changeTenant: ({ which, number }) =>
      this.#tenant(which, (state) => ({
        type: "ChangeTenant",
        by: ownerOf(state),
        name: { text: `name ${number}`, hash: `hash ${number}` },
        maxTrys: 1 + (number % 5),
        at: this.#at,
      })),
    newSecret: ({ which }) =>
      this.#tenant(which, (state) => ({
        type: "RegenerateWebhookSecret", by: ownerOf(state),
        webhookSecret: "sealed", webhookSecretFingerprint: "f", at: this.#at,
      })),
    registerDestination: ({ which, number }) =>
      this.#destination(this.#fresh("destination"), () => ({
        type: "RegisterDestination",
        at: this.#at,
        destination: {
          destinationId: idOf("destination", this.#count("destination") - 1),
          tenantId: pick([...this.tenants.keys()], which),
          url: `https://receiver.example/${number}`,
          serverRateLimit: 1 + number,
          ingestTokenHash: this.#hash(),
          auth: number % 2 ? { type: "BearerToken", credentials: "sealed" } : null,
        },
      })),
    changeDestination: ({ which, number }) =>
      this.#destination(this.#anyDestination(which), () => ({
        type: "ChangeDestination",
        at: this.#at,
        url: `https://receiver.example/${number % 4}`,
        serverRateLimit: 1 + (number % 3),
        active: number % 3 > 0,
        auth: number % 2 ? null : { type: "BasicAuth", credentials: "sealed" },
      })),
    newToken: ({ which }) =>
      this.#destination(this.#anyDestination(which), () => ({
        type: "RegenerateIngestToken",
        ingestTokenHash: this.#hash(),
        at: this.#at,
      })),
    deleteDestination: ({ which, number }) => {
      if (number % 4 === 0)
        this.#destination(this.#anyDestination(which), () => ({ type: "DeleteDestination", at: this.#at }));
    },
    createSender: ({ which, number }) => {
      const destination = this.destinations.get(this.#anyDestination(which));
      if (!destination) return;
      const senderId = this.#fresh("sender");
      const { id: destinationId, tenantId } = destination;
      const mapping = number % 2 ? ({ language: "jmespath", expression: "{id: id}" } as const) : null;
      const settings = { name: `sender ${number}`, mapping, ingestTokenHash: this.#hash() };
      const sender = { senderId, tenantId, destinationId, ...settings };
      this.#sender(senderId, { type: "CreateSender", at: this.#at, sender });
    },
    changeSender: ({ which, number }) => {
      const mapping = { language: "jmespath", expression: `{n: \`${number}\`}` } as const;
      const change = { name: `sender ${number % 4}`, active: number % 3 > 0, mapping: number % 2 ? null : mapping };
      this.#sender(pick([...this.senders.keys()], which), {
        type: "ChangeSender", at: this.#at, destinationId: this.#anyDestination(number), ...change,
      });
    },
    endSender: ({ which, number }) => {
      const token = { type: "RegenerateIngestToken", ingestTokenHash: this.#hash(), at: this.#at } as const;
      const id = pick([...this.senders.keys()], which);
      this.#sender(id, number % 4 ? token : { type: "DeleteSender", at: this.#at });
    },
    issueKey: ({ which, number }) =>
      this.#apiKey(this.#fresh("apiKey"), {
        type: "IssueApiKey",
        at: this.#at,
        key: {
          keyId: idOf("apiKey", this.#count("apiKey") - 1),
          tenantId: pick([...this.tenants.keys()], which),
          name: `key ${number}`,
          keyHash: this.#hash(),
          prefix: "rk_",
          last4: "abcd",
          expiresAt: number % 2 ? timestamp(this.#now + 1e9) : null,
        },
      }),
    revokeKey: ({ which }) =>
      this.#apiKey(pick([...this.apiKeys.keys()], which), { type: "RevokeApiKey", at: this.#at }),
    accept: ({ which, number }) => {
      const destination = this.destinations.get(this.#anyDestination(which));
      if (!destination) return;
      const keys = [...this.apiKeys.values()].filter(({ tenantId }) => tenantId === destination.tenantId);
      const eventId = eventIdOf(this.#now, keyOfEvent(this.#fresh("event")));
      this.#webhook(eventId, {
        type: "Accept",
        at: this.#at,
        event: {
          eventId,
          tenantId: destination.tenantId,
          destinationId: destination.id,
          apiKeyId: keys.length > 0 ? pick(keys, number).id : idOf("other", 0),
          senderId: null,
          idempotencyKey: number % 2 ? `order ${number}` : null,
          payload: "{}",
          original: null,
        },
      });
    },
    startAttempt: ({ which, number }) =>
      this.#webhook(this.#anyEvent(which), {
        type: "StartAttempt",
        at: this.#at,
        with: {
          leaseUntil: timestamp(this.#now + 20_000),
          worker: "worker",
          url: "https://receiver.example/",
          authType: null,
          destinationRevision: 0,
          secretFingerprint: "f",
          probe: number % 5 === 0,
        },
      }),
    succeed: ({ which, number }) =>
      this.#outcome(which, number, (attempt) => ({
        type: "Succeed",
        attempt,
        durationMs: 1,
        requestHeaders: {},
        at: this.#at,
        answer: { statusCode: 200, headers: {}, body: "", truncated: false },
      })),
    fail: ({ which, number }) =>
      this.#outcome(which, number, (attempt, webhook) => ({
        type: "Fail",
        attempt,
        durationMs: 1,
        requestHeaders: {},
        at: this.#at,
        error: "failed",
        retryAfterMs: null,
        random: 0,
        reason: number % 3 ? "timeout" : "outcome unknown",
        answer: null,
        policy: { scheduleMs: [50, 60_000], jitter: 0, maxTrys },
        destinationDeleted: this.destinations.get(webhook.destinationId)?.deleted ?? false,
      })),
    replay: ({ which }) => this.#webhook(this.#anyEvent(which), { type: "Replay", at: this.#at }),
    cancel: ({ which, number }) =>
      this.#webhook(this.#anyEvent(which), {
        type: "Cancel",
        reason: number % 2 ? "requested" : "destination deleted",
        at: this.#at,
      }),
    claimProbe: ({ which }) =>
      this.#circuit(this.#anyDestination(which), {
        type: "ClaimProbe",
        eventId: idOf("event", which),
        leaseUntil: timestamp(this.#now + 20_000),
        leaseOver: true,
        at: this.#at,
      }),
    releaseProbe: ({ which }) => {
      const destinationId = this.#anyDestination(which);
      const probe = this.circuits.get(destinationId)?.probe;
      if (probe) this.#circuit(destinationId, { type: "ReleaseProbe", probe, at: this.#at });
    },
    halfOpen: ({ which }) =>
      this.#circuit(this.#anyDestination(which), { type: "HalfOpen", leaseOver: true, at: this.#at }),
    close: ({ which }) => this.#circuit(this.#anyDestination(which), { type: "Close", at: this.#at }),
    open: ({ which }) =>
      this.#circuit(this.#anyDestination(which), {
        type: "Record",
        late: false,
        ok: false,
        eventId: idOf("event", which),
        maxTrys: 2,
        timerS: 1,
        at: this.#at,
      }),
  };

  #count(kind: string): number {
    return this.#made.get(kind) ?? 0;
  }

  #fresh(kind: string): string {
    this.#made.set(kind, this.#count(kind) + 1);
    return idOf(kind, this.#count(kind) - 1);
  }

  /** A hash that nothing else has. */
  #hash(): string {
    return this.#fresh("hash");
  }

  #newUser() {
    const userId = this.#fresh("user");
    return { userId, email: `sealed ${userId}`, emailHash: `hash ${userId}`, passwordHash: "hash" };
  }

  #anyDestination(which: number): string {
    return pick([...this.destinations.keys()], which);
  }

  #anyEvent(which: number): string {
    return pick([...this.webhooks.keys()], which);
  }

  #createTenant(): void {
    const tenantId = this.#fresh("tenant");
    this.#decideTenant(tenantId, {
      type: "CreateTenant",
      owner: this.#newUser(),
      at: this.#at,
      tenant: {
        tenantId,
        name: `tenant ${tenantId}`,
        nameHash: "hash",
        maxTrys,
        circuitBreakerTimer: 300,
        dataKey: "wrapped",
        webhookSecret: "sealed",
        webhookSecretFingerprint: "f",
      },
    });
  }

  #tenant(which: number, command: (state: NonNullable<TenantState>) => TenantCommand & { tenantId?: string }): void {
    const state = pick([...this.tenants.values()], which);
    this.#decideTenant(state.id, command(state));
  }

  #decideTenant(id: string, command: TenantCommand): void {
    this.#tell(
      streams.tenant(id),
      this.tenants,
      id,
      decideTenant(this.tenants.get(id), command),
      evolveTenant as Evolve<TenantEvent>,
    );
  }

  #destination(id: string, command: () => Parameters<typeof decideDestination>[1]): void {
    const decided = decideDestination(this.destinations.get(id), command());
    this.#tell(streams.destination(id), this.destinations, id, decided, evolveDestination as Evolve<DestinationEvent>);
  }

  #sender(id: string, command: SenderCommand): void {
    const decided = decideSender(this.senders.get(id), command);
    this.#tell(streams.sender(id), this.senders, id, decided, evolveSender as Evolve<SenderEvent>);
  }

  #apiKey(id: string, command: Parameters<typeof decideApiKey>[1]): void {
    const decided = decideApiKey(this.apiKeys.get(id), command);
    this.#tell(streams.apiKey(id), this.apiKeys, id, decided, evolveApiKey as Evolve<ApiKeyEvent>);
  }

  #circuit(destinationId: string, command: CircuitCommand): void {
    const destination = this.destinations.get(destinationId);
    if (!destination) return;
    const state = this.circuits.get(destinationId) ?? newCircuit(destinationId, destination.tenantId);
    this.#tell(
      streams.circuit(destinationId),
      this.circuits,
      destinationId,
      decideCircuit(state, command),
      evolveCircuit as Evolve<CircuitEvent>,
    );
  }

  #webhook(id: string, command: WebhookCommand): void {
    const decided = decideWebhook(this.webhooks.get(id), command);
    this.#tell(streams.event(id), this.webhooks, id, decided, evolveWebhook as Evolve<WebhookEvent>);
  }

  #outcome(
    which: number,
    number: number,
    command: (attempt: number, webhook: NonNullable<WebhookState>) => WebhookCommand,
  ): void {
    const webhook = this.webhooks.get(this.#anyEvent(which));
    if (!webhook || webhook.attempts === 0) return;
    const attempt = number < 14 ? webhook.attempts : 1 + (number % webhook.attempts);
    this.#webhook(webhook.id, command(attempt, webhook));
  }

  #tell<Event extends DomainEvent>(
    stream: string,
    states: Map<string, unknown>,
    id: string,
    facts: readonly Event[],
    evolve: Evolve<Event>,
  ): void {
    for (const fact of facts) {
      states.set(id, evolve(states.get(id), fact));
      this.told.push({ stream, fact });
    }
  }
}

type Evolve<Event> = (state: unknown, event: Event) => unknown;

function roleOf(number: number): Role {
  return pick([...roles], number);
}

function pick<Item>(items: readonly Item[], number: number): Item {
  const item = items[number % Math.max(items.length, 1)];
  if (item === undefined) throw new Refusal("not-found", "there is none yet");
  return item;
}

/** What most events go through, so that many come far. */
const often = [
  ...["registerDestination", "issueKey", "open"],
  ...Array.from({ length: 5 }, () => ["accept", "startAttempt", "startAttempt", "startAttempt", "fail", "fail"]).flat(),
  ...["succeed", "succeed", "succeed", "replay", "replay"],
];

/** Random things tried one after the other, with pauses from nothing to a day. */
export function histories(maxSteps: number): fc.Arbitrary<History> {
  const action = fc.constantFrom(...History.actions(), ...often);
  const after = fc.oneof(fc.nat(1_000), fc.nat(100_000), fc.nat(90_000_000));
  const step = fc.record({ action, which: fc.nat(3), number: fc.nat(20), after });
  return fc
    .array(step, { minLength: Math.floor(maxSteps / 2), maxLength: maxSteps })
    .map((steps) => new History(steps));
}
