import type { Inputs } from "../../schemas/api.ts";
import { unset } from "../../src/features/destinations/facts.ts";
import { finishedStatuses } from "../../src/features/events/facts.ts";
import type { Caller, UserCaller } from "../../src/kernel/callers/caller.ts";
import { Refusal } from "../../src/kernel/domain/refusal.ts";
import { timestamp } from "../../src/kernel/domain/time.ts";
import { pageRequest } from "../support/page-request.ts";
import { whole } from "../support/whole-page.ts";
import { hostsOf, type Account, type Destination } from "./accounts.ts";
import { Broken, hold } from "./broken.ts";
import { expressions, owners } from "./messages.ts";
import { contested } from "./names.ts";
import type { Node } from "./node.ts";
import { weights, type Operation } from "./operations.ts";
import { orderings } from "./order.ts";
import { newestFirst, Producers, type ProducerParts } from "./producers.ts";
import type { Random } from "./random.ts";
import { hostOf } from "./receivers.ts";
import { Requests } from "./requests.ts";
import { holdings, rates } from "./terms.ts";
import { proofFor } from "./token-endpoints.ts";
import { short, type Trace } from "./trace.ts";

const plainSender = {
  mapping: null, searchFields: null, eventTypePath: null, unmatched: null,
};

/** A subscription to some messages, with some mapping. */
function interest(random: Random) {
  return {
    eventTypes: random.pick([null, null, ["order.paid"], ["order.*"]]),
    filter: random.chance(0.3) ? { data: { of: random.below(3) } } : null,
    mapping: random.chance(0.3) ? { language: "jmespath" as const, expression: random.pick(expressions) } : null,
  };
}

/** How long a replaced secret goes on signing, seconds. */
const graces = [0, 0, 5];
/** How long a circuit stays open, seconds. */
const timers = [1, 2, 5, 15];

interface UserParts extends Omit<ProducerParts, "requests"> {
  readonly trace: Trace;
  readonly broken: (error: unknown) => void;
}

/** The users of the relay: producers and people. They act at random and check the answers. */
export class Users {
  readonly #parts: UserParts;
  readonly #accounts: Account[] = [];
  readonly #requests: Requests;
  readonly #producers: Producers;

  constructor(parts: UserParts) {
    this.#parts = parts;
    this.#requests = new Requests(parts);
    this.#producers = new Producers({ ...parts, requests: this.#requests });
  }

  /** Opens accounts with their first destinations, before the first fault. */
  async open(node: Node, accounts: number): Promise<void> {
    const { random } = this.#parts;
    for (let n = 0; n < accounts; n += 1) {
      const email = `owner-${n}@example.com`;
      const input = {
        name: `Tenant ${n}`, ownerEmail: email, ownerPassword: "correct horse battery",
        maxTrys: 1 + random.below(6), circuitBreakerTimer: random.pick(timers),
      };
      const { tenants, apiKeys } = node.services.commands;
      const made = await tenants.create(input, this.#requests.origin(), "192.0.2.1");
      const caller: UserCaller = { userId: made.ownerUserId, tenantId: made.tenantId, role: "Owner" };
      const { apiKey } = await apiKeys.issue(caller, { name: "producer" }, this.#requests.origin());
      const sender = await node.services.commands.senders.create(
        caller, { ...plainSender, name: "fan-out", fanOut: true }, this.#requests.origin());
      const account: Account = {
        caller, email, apiKey, destinations: [], sender: { id: sender.id, token: sender.ingestToken },
      };
      this.#accounts.push(account);
      for (let more = 1 + random.below(4); more > 0; more -= 1) await this.#register(node, account);
      const owner = random.pick([null, ...owners]);
      for (const { id } of account.destinations) {
        if (random.chance(0.5)) await this.#subscribe(node, account, { destinationUrlId: id, ownerId: owner });
      }
    }
  }

  /** Every destination's host. */
  get hosts(): readonly string[] {
    return this.#accounts.flatMap(hostsOf);
  }

  get callers(): readonly Caller[] {
    return this.#accounts.map(({ caller }) => caller);
  }

  /** Begins one random operation. */
  act(): void {
    const { random } = this.#parts;
    const node = this.#parts.anyNode();
    const account = random.pick(this.#accounts);
    const operation = random.weighted(weights);
    if (!node) return;
    this.#requests.begin(operation, node, () => this.#do(operation, node, account));
  }

  async #do(operation: Operation, node: Node, account: Account): Promise<string | undefined> {
    const { random } = this.#parts;
    const { commands, queries } = node.services;
    const { caller } = account;
    const destination = random.pick(account.destinations);
    const origin = this.#requests.origin();
    const change = async (input: Inputs["updateDestination"]) =>
      (await commands.destinations.change(caller, destination.id, input, origin)).status;
    switch (operation) {
      case "ingest":
        return this.#producers.ingest({
          node, account, destination, key: random.chance(0.5) ? this.#producers.key() : undefined,
          look: random.chance(0.2),
        });
      case "sameKey":
        return this.#producers.sameKey(node, account, destination);
      case "replay":
        return this.#withEvent(caller, "CriticalFailure", async (id) =>
          (await commands.events.replay(caller, id, origin)).status);
      case "resend":
        return this.#withEvent(caller, random.pick(["Succeeded", "CriticalFailure"]), async (id) =>
          (await commands.events.resend(caller, id, origin)).status);
      case "retry":
        return this.#withEvent(caller, "WaitingRetry", async (id) =>
          (await commands.events.retry(caller, id, origin)).status);
      case "test":
        return (await commands.testEvents.send(caller, destination.id, {}, origin)).status;
      case "cancel":
        return this.#withEvent(caller, random.pick(["Pending", "WaitingRetry", "Processing"]), async (id) =>
          (await commands.events.cancel(caller, id, origin)).status);
      case "bulkReplay": {
        const only = random.chance(0.5) ? { destinationUrlId: destination.id } : {};
        const input = { ...only, dryRun: random.chance(0.2) };
        const { matched, replayed } = await commands.bulkReplay.replay(caller, input, origin);
        return `${matched} ${replayed}`;
      }
      case "bulkCancel": {
        const input = {
          ...(random.chance(0.7) && { destinationUrlId: destination.id }),
          ...(random.chance(0.5) && { status: random.pick(["Pending", "WaitingRetry"] as const) }),
          dryRun: random.chance(0.2),
        };
        const { matched, cancelled } = await commands.bulkCancel.cancel(caller, input, origin);
        return `${matched} ${cancelled}`;
      }
      case "orderReplay":
        return this.#orderReplay(node, account, destination);
      case "cancelReplay": {
        const { items } = await queries.replays.list(caller, newestFirst);
        const running = items.find(({ state }) => state === "Running");
        return running && (await commands.replays.cancel(caller, running.id, origin)).state;
      }
      case "purge": {
        const before = timestamp(node.process.clock.now() - random.below(20_000));
        const input = {
          ...(random.chance(0.4) && { status: random.pick(finishedStatuses) }),
          ...(random.chance(0.4) && { destinationUrlId: destination.id }),
          ...(random.chance(0.3) && { before }),
          dryRun: false,
        };
        await this.#parts.model.whilePurging(caller.tenantId, async () => {
          await commands.purge.purge(caller, input, origin);
        });
        return undefined;
      }
      case "list":
        return this.#list(node, account);
      case "get":
        return this.#withEvent(caller, undefined, async (id) => {
          const event = await queries.events.get(caller, id);
          hold(event.tenantId === caller.tenantId, "no tenant sees another's data", () => id);
          await whole(await queries.events.attempts(caller, id, newestFirst));
          return event.status;
        });
      case "foreign":
        return this.#foreign(node, account);
      case "limit":
        return change({ serverRateLimit: 1 + random.below(5) });
      case "reorder":
        return change({ ordering: random.pick(["none", ...orderings]) });
      case "pace":
        return change({ ratePerSecond: random.pick(rates) });
      case "holding":
        return change({ whenSuspended: random.pick(holdings) });
      case "pause":
        destination.changed = true;
        return change({ status: "inactive" });
      case "activate":
        return change({ status: "active" });
      case "register":
        return this.#register(node, account);
      case "remove":
        if (account.destinations.length < 2) return undefined;
        destination.changed = true;
        await commands.destinations.remove(caller, destination.id, origin);
        return undefined;
      case "newToken":
        return this.#newToken(node, caller, destination);
      case "oldToken":
        return this.#producers.oldToken(node, account, destination);
      case "policy":
        await commands.tenants.change(caller, caller.tenantId, {
          maxTrys: 1 + random.below(6), circuitBreakerTimer: random.pick(timers),
        }, origin);
        return undefined;
      case "newSecret":
        await commands.tenants.regenerateWebhookSecret(
          caller, caller.tenantId, { gracePeriodSeconds: random.pick(graces) }, origin);
        return undefined;
      case "repoint":
        return change({ url: `https://${random.pick(hostsOf(account))}/moved` });
      case "newProof":
        return change(proofFor(caller.tenantId, random));
      case "session":
        return this.#session(node, account);
      case "message":
        return this.#producers.message({
          node, account, key: random.chance(0.5) ? this.#producers.key() : undefined,
        });
      case "sameMessage":
        return this.#producers.sameMessage(node, account);
      case "actOnMessage":
        return this.#withMessage(caller, async (id) =>
          (await commands.acts.act(random.pick(["replay", "resend", "cancel"]), caller, id, origin)).status);
      case "subscribe":
        return this.#subscribe(node, account);
      case "resubscribe": {
        const input = random.pick([interest(random), { status: "active" }, { status: "inactive" }] as const);
        return this.#withSubscription(node, caller, async (id) =>
          (await commands.subscriptions.change(caller, id, input, origin)).status);
      }
      case "unsubscribe":
        return this.#withSubscription(node, caller, async (id) => {
          await commands.subscriptions.remove(caller, id, origin);
          return undefined;
        });
      case "together":
        return this.#together(caller);
      case "crowd":
        return this.#crowd(account, destination);
      case "newTenant":
        return this.#newTenant();
    }
  }

  /** Replays given-up events, or the delivered ones of some seconds, in place or to another destination. */
  async #orderReplay(node: Node, { caller, destinations }: Account, destination: Destination): Promise<string> {
    const { random } = this.#parts;
    const from = timestamp(node.process.clock.now() - random.below(3_000));
    const input = {
      ...(random.chance(0.5) && { destinationUrlId: destination.id }),
      status: "CriticalFailure" as const,
      ...(random.chance(0.3) && { status: ["Succeeded", "CriticalFailure"] as const, from }),
      ...(random.chance(0.5) && { toDestinationUrlId: random.pick(destinations).id }),
      perSecond: random.pick([1, 20, 1_000]),
      dryRun: random.chance(0.1),
    };
    const result = await node.services.commands.replays.order(caller, input, this.#requests.origin());
    return "counted" in result ? `${result.counted.matched}` : `${short(result.ordered.id)} ${result.ordered.matched}`;
  }

  async #list(node: Node, { caller, destinations }: Account): Promise<string> {
    const { random, model, now } = this.#parts;
    const begun = now();
    const status = random.pick([undefined, undefined, "Succeeded", "CriticalFailure", "WaitingRetry"] as const);
    const destinationUrlId = random.chance(0.3) ? random.pick(destinations).id : undefined;
    const filter = { statuses: status && [status], destinationUrlId };
    const page = await node.services.queries.events.list(caller, filter, newestFirst);
    const { total, items } = await whole(page);
    for (const item of items) {
      const record = model.events.get(item.id);
      hold(item.tenantId === caller.tenantId, "no tenant sees another's data", () => item.id);
      const isPurged = record?.purgedAt != null && record.purgedAt < begun;
      hold(record !== undefined && !isPurged, "purged events are not shown", () => item.id);
      hold(status === undefined || item.status === status, "a list obeys its filter", () => item.id);
      // Meanwhile a new event may have begun under the same id.
      hold(record.payload === item.payload || record.since > begun, "an event shows its own payload", () => item.id);
    }
    hold(total >= items.length, "a total is at least the length of its list", () => `${total} but ${items.length}`);
    return String(total);
  }

  async #foreign(node: Node, { caller, apiKey }: Account): Promise<string | undefined> {
    const theirs = [...this.#parts.model.events.values()].filter(({ tenantId }) => tenantId !== caller.tenantId);
    if (theirs.length === 0) return undefined;
    const { id } = this.#parts.random.pick(theirs);
    const { queries, commands } = node.services;
    const other = this.#accounts.find((account) => account.caller.tenantId !== caller.tenantId);
    const { token } = this.#parts.random.pick(other?.destinations ?? []);
    const send = async (tenantId: string) => {
      const { producers, ingest } = node.services;
      const admit = () => producers.admit(tenantId, token, apiKey);
      const payload = JSON.stringify({ from: caller.tenantId });
      return ingest.accept(await admit(), { received: payload, correlationId: this.#requests.correlation() }, admit);
    };
    const tries = [
      () => send(caller.tenantId),
      () => send(other?.caller.tenantId ?? ""),
      () => queries.events.get(caller, id),
      () => queries.events.history(caller, id, newestFirst),
      () => commands.events.cancel(caller, id, this.#requests.origin()),
    ];
    try {
      await this.#parts.random.pick(tries)();
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      return error.kind;
    }
    throw new Broken("no tenant sees another's data", `${id} shown to ${caller.tenantId}`);
  }

  async #newToken(node: Node, caller: Caller, destination: Destination): Promise<undefined> {
    const { destinations } = node.services.commands;
    const { token } = destination;
    destination.changed = true;
    destination.token = await destinations.regenerateToken(caller, destination.id, this.#requests.origin());
    destination.former = { token, since: this.#parts.now() };
  }

  async #session(node: Node, { email, caller }: Account): Promise<string> {
    const other = this.#parts.anyNode() ?? node;
    const { token } = await node.services.login.login(email, "correct horse battery", "192.0.2.1");
    const session = await other.services.sessions.authenticate(token);
    const isOwn = session.tenantId === caller.tenantId && session.userId === caller.userId;
    hold(isOwn, "a session belongs to its user", () => email);
    await other.services.sessions.revoke(session, this.#requests.origin());
    const after = await node.services.sessions.authenticate(token).catch((error: unknown) => {
      if (error instanceof Refusal && error.kind === "unauthenticated") return undefined;
      throw error;
    });
    hold(after === undefined, "an ended session is refused by every process", () => email);
    return "over";
  }

  /** Several people change one event at once, through any processes. */
  async #together(caller: Caller): Promise<string | undefined> {
    const { random, anyNode } = this.#parts;
    const status = random.pick(["Succeeded", "CriticalFailure", "WaitingRetry", "Pending", undefined]);
    return this.#withEvent(caller, status, async (id) => {
      for (let more = 2 + random.below(3); more > 0; more -= 1) {
        const node = anyNode();
        if (!node) continue;
        const { events } = node.services.commands;
        const [name, task] = random.pick([
          ["replay", () => events.replay(caller, id, this.#requests.origin())],
          ["resend", () => events.resend(caller, id, this.#requests.origin())],
          ["retry", () => events.retry(caller, id, this.#requests.origin())],
          ["cancel", () => events.cancel(caller, id, this.#requests.origin())],
        ] as const);
        this.#requests.begin(`${name} together`, node, async () => (await task()).status);
      }
      return short(id);
    });
  }

  /** Several people change one destination at once. */
  async #crowd({ caller }: Account, destination: Destination): Promise<string> {
    const { random, anyNode } = this.#parts;
    destination.changed = true;
    for (let more = 2 + random.below(3); more > 0; more -= 1) {
      const node = anyNode();
      if (!node) continue;
      const change = random.pick([
        { status: "inactive" }, { status: "active" }, { status: "active" }, { serverRateLimit: 1 + random.below(5) },
      ] as const);
      const { destinations } = node.services.commands;
      this.#requests.begin("change together", node, async () =>
        (await destinations.change(caller, destination.id, change, this.#requests.origin())).status);
    }
    return short(destination.id);
  }

  /** Several people request one name or one email at once. */
  async #newTenant(): Promise<undefined> {
    const { random, anyNode } = this.#parts;
    for (let more = 1 + random.below(3); more > 0; more -= 1) {
      const node = anyNode();
      if (!node) continue;
      const input = contested(random);
      this.#requests.begin("new tenant", node, async () =>
        (await node.services.commands.tenants.create(input, this.#requests.origin(), "192.0.2.1")).tenantId);
    }
    return undefined;
  }

  async #register(node: Node, account: Account): Promise<string> {
    const { random } = this.#parts;
    const { caller, destinations } = account;
    const url = `https://${hostOf(caller.tenantId, destinations.length)}/hook`;
    const proof = random.chance(0.5) && proofFor(caller.tenantId, random);
    const ordering = random.chance(0.4) ? random.pick(orderings) : null;
    const terms = { ordering, ratePerSecond: random.pick(rates), whenSuspended: random.pick(holdings) };
    const input = { url, serverRateLimit: 1 + random.below(5), ...unset, ...terms, ...proof };
    const { destinations: commands } = node.services.commands;
    const { id, ingestToken: token } = await commands.register(caller, input, this.#requests.origin());
    destinations.push({ id, token, former: undefined, changed: false });
    return short(id);
  }

  async #subscribe(
    node: Node, { caller, destinations, sender }: Account,
    to = {
      destinationUrlId: this.#parts.random.pick(destinations).id,
      ownerId: this.#parts.random.pick([null, null, ...owners]),
    },
  ): Promise<string> {
    const input = { senderId: sender.id, ...interest(this.#parts.random), ...to };
    return short((await node.services.commands.subscriptions.create(caller, input, this.#requests.origin())).id);
  }

  async #withSubscription(
    node: Node, caller: Caller, task: (id: string) => Promise<string | undefined>,
  ): Promise<string | undefined> {
    const page = pageRequest({ quantity: 100, order: { field: "createdAt", descending: true } });
    const { items } = await node.services.queries.subscriptions.list(caller, {}, page);
    return items.length === 0 ? undefined : task(this.#parts.random.pick(items).id);
  }

  async #withMessage(
    { tenantId }: Caller, task: (id: string) => Promise<string>,
  ): Promise<string | undefined> {
    const found = [...this.#parts.model.messages.byId.values()].filter((message) => message.tenantId === tenantId);
    return found.length === 0 ? undefined : task(this.#parts.random.pick(found).id);
  }

  async #withEvent(
    { tenantId }: Caller, status: string | undefined, task: (id: string) => Promise<string>,
  ): Promise<string | undefined> {
    const found = [...this.#parts.model.events.values()].filter((event) =>
      event.tenantId === tenantId && (status === undefined || event.status === status));
    return found.length === 0 ? undefined : task(this.#parts.random.pick(found).id);
  }

}
