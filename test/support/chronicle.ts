import {
  decide as decideCircuit, evolve as evolveCircuit, newCircuit, type Circuit, type CircuitCommand, type CircuitEvent,
} from "../../src/features/circuits/facts.ts";
import { decide as decideDestination } from "../../src/features/destinations/decide.ts";
import {
  evolve as evolveDestination, type DestinationEvent, type DestinationState,
} from "../../src/features/destinations/facts.ts";
import { decide as decideWebhook, type WebhookCommand } from "../../src/features/events/decide.ts";
import { evolve as evolveWebhook, type WebhookEvent, type WebhookState } from "../../src/features/events/facts.ts";
import {
  decide as decideApiKey, evolve as evolveApiKey, type ApiKeyState,
} from "../../src/features/keys/api-keys/decide.ts";
import type { ApiKeyEvent } from "../../src/features/keys/api-keys/facts.ts";
import { decide as decideSender, type SenderCommand } from "../../src/features/senders/decide.ts";
import { evolve as evolveSender, type SenderEvent, type SenderState } from "../../src/features/senders/facts.ts";
import {
  decide as decideSubscriptions, type SubscriptionsCommand,
} from "../../src/features/subscriptions/decide.ts";
import {
  evolve as evolveSubscriptions, type SubscriptionEvent, type Subscriptions,
} from "../../src/features/subscriptions/facts.ts";
import { decide as decideTenant, type TenantCommand } from "../../src/features/tenants/decide.ts";
import { evolve as evolveTenant, type TenantEvent, type TenantState } from "../../src/features/tenants/facts.ts";
import type { DomainEvent } from "../../src/kernel/domain/domain-event.ts";
import { Refusal } from "../../src/kernel/domain/refusal.ts";
import { streams } from "../../src/kernel/domain/streams.ts";
import { timestamp } from "../../src/kernel/domain/time.ts";

/** A fact and the stream it stands in. */
export interface Told {
  readonly stream: string;
  readonly fact: DomainEvent;
}

/** Failed attempts after which an event of a new tenant is given up. */
export const maxTrys = 3;

/** A UUID for the n-th thing of a kind. These do not sort by time. */
export function idOf(kind: string, n: number): string {
  const mixed = ((n + 1) * 2_654_435_761) % 2 ** 32;
  const kindPart = Buffer.from(kind.padEnd(6).slice(0, 6)).toString("hex");
  const text = mixed.toString(16).padStart(8, "0");
  return `${text}-0000-4${text.slice(0, 3)}-8${text.slice(3, 6)}-${text.slice(6)}${kindPart.slice(0, 10)}`;
}

/** One of the items. Throws a Refusal without one. */
export function pick<Item>(items: readonly Item[], number: number): Item {
  const item = items[number % Math.max(items.length, 1)];
  if (item === undefined) throw new Refusal("not-found", "there is none yet");
  return item;
}

type Evolve<Event> = (state: unknown, event: Event) => unknown;

/** All facts in order, and every state they fold to. Unknown things and refused commands throw a Refusal. */
export class Chronicle {
  readonly told: Told[] = [];
  readonly tenants = new Map<string, NonNullable<TenantState>>();
  readonly destinations = new Map<string, NonNullable<DestinationState>>();
  readonly senders = new Map<string, NonNullable<SenderState>>();
  /** By the ids of their streams. */
  readonly subscriptions = new Map<string, Subscriptions>();
  readonly circuits = new Map<string, Circuit>();
  readonly apiKeys = new Map<string, NonNullable<ApiKeyState>>();
  readonly webhooks = new Map<string, NonNullable<WebhookState>>();
  /** Milliseconds since 1970. */
  now = 1_700_000_000_000;
  readonly #made = new Map<string, number>();

  /** Now, as facts have it. */
  get at(): string {
    return timestamp(this.now);
  }

  /** How many things of a kind were named. */
  count(kind: string): number {
    return this.#made.get(kind) ?? 0;
  }

  /** Names another thing of a kind. */
  fresh(kind: string): string {
    this.#made.set(kind, this.count(kind) + 1);
    return idOf(kind, this.count(kind) - 1);
  }

  /** A unique hash. */
  hash(): string {
    return this.fresh("hash");
  }

  /** A new user. */
  newUser() {
    const userId = this.fresh("user");
    return { userId, email: `sealed ${userId}`, emailHash: `hash ${userId}`, passwordHash: "hash" };
  }

  /** The id of an existing destination, for any number. */
  anyDestination(which: number): string {
    return pick([...this.destinations.keys()], which);
  }

  /** The id of an existing event, for any number. */
  anyEvent(which: number): string {
    return pick([...this.webhooks.keys()], which);
  }

  /** Another tenant, with its Owner. */
  createTenant(): void {
    const tenantId = this.fresh("tenant");
    this.#decideTenant(tenantId, {
      type: "CreateTenant",
      owner: this.newUser(),
      at: this.at,
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

  /** Has a tenant decide a command, as the methods below do with other aggregates, and folds the decided facts. */
  tenant(which: number, command: (state: NonNullable<TenantState>) => TenantCommand & { tenantId?: string }): void {
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

  destination(id: string, command: () => Parameters<typeof decideDestination>[1]): void {
    const decided = decideDestination(this.destinations.get(id), command());
    this.#tell(streams.destination(id), this.destinations, id, decided, evolveDestination as Evolve<DestinationEvent>);
  }

  sender(id: string, command: SenderCommand): void {
    const decided = decideSender(this.senders.get(id), command);
    this.#tell(streams.sender(id), this.senders, id, decided, evolveSender as Evolve<SenderEvent>);
  }

  subscribe(id: string, command: SubscriptionsCommand): void {
    const decided = decideSubscriptions(this.subscriptions.get(id), command);
    this.#tell(
      streams.subscriptions(id), this.subscriptions, id, decided, evolveSubscriptions as Evolve<SubscriptionEvent>,
    );
  }

  apiKey(id: string, command: Parameters<typeof decideApiKey>[1]): void {
    const decided = decideApiKey(this.apiKeys.get(id), command);
    this.#tell(streams.apiKey(id), this.apiKeys, id, decided, evolveApiKey as Evolve<ApiKeyEvent>);
  }

  circuit(destinationId: string, command: CircuitCommand): void {
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

  webhook(id: string, command: WebhookCommand): void {
    const decided = decideWebhook(this.webhooks.get(id), command);
    this.#tell(streams.event(id), this.webhooks, id, decided, evolveWebhook as Evolve<WebhookEvent>);
  }

  /** The end of an event's newest attempt, or now and then of an earlier one. */
  outcome(
    which: number,
    number: number,
    command: (attempt: number, webhook: NonNullable<WebhookState>) => WebhookCommand,
  ): void {
    const webhook = this.webhooks.get(this.anyEvent(which));
    if (!webhook || webhook.attempts === 0) return;
    const attempt = number < 14 ? webhook.attempts : 1 + (number % webhook.attempts);
    this.webhook(webhook.id, command(attempt, webhook));
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
