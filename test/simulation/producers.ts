import type { DestinationChange } from "../../src/application/commands/destinations.ts";
import type { Caller } from "../../src/application/caller.ts";
import { finishedStatuses } from "../../src/domain/event/purge.ts";
import { Refusal } from "../../src/domain/refusal.ts";
import { timestamp } from "../../src/domain/time.ts";
import type { Origin } from "../../src/application/origin.ts";
import { whole } from "../support/whole-page.ts";
import type { Books } from "./books.ts";
import { Broken, hold } from "./broken.ts";
import { describe, isExpected, isUnavailable } from "./errors.ts";
import type { Model } from "./model.ts";
import { contested } from "./names.ts";
import type { Node } from "./node.ts";
import { weights, type Operation } from "./operations.ts";
import type { Random } from "./random.ts";
import { hostOf } from "./receivers.ts";
import { inForce } from "./records.ts";
import { proofFor } from "./token-endpoints.ts";
import { short, type Trace } from "./trace.ts";

interface Destination {
  readonly id: string;
  token: string;
  /** A token that was replaced, and when that was told. */
  former: { readonly token: string; readonly since: number } | undefined;
  /** Whether a change of the token, or of what it leads to, was ever asked for. */
  changed: boolean;
}

interface Account {
  readonly caller: Caller;
  readonly email: string;
  readonly apiKey: string;
  readonly destinations: Destination[];
}

/** Something for a destination to take in. */
interface Ingested {
  readonly node: Node;
  readonly account: Account;
  readonly destination: Destination;
  readonly key: string | undefined;
  readonly look: boolean;
}

interface Parts {
  readonly random: Random;
  readonly model: Model;
  readonly books: Books;
  readonly trace: Trace;
  readonly now: () => number;
  readonly newsMs: number;
  /** A process that serves, if there is one. */
  readonly anyNode: () => Node | undefined;
  readonly later: (ms: number, task: () => void) => void;
  readonly broken: (error: unknown) => void;
}

const newestFirst = { quantity: 100, page: 1, order: { field: "acceptedAt", descending: true } };
/** What a receiver's circuit stays open for, seconds. */
const timers = [1, 2, 5, 15];

/** Everybody who uses the relay: producers and people, who do things at random and watch the answers. */
export class Producers {
  readonly #parts: Parts;
  readonly #accounts: Account[] = [];
  readonly #keyPool: number;
  #count = 0;

  constructor(parts: Parts) {
    this.#parts = parts;
    this.#keyPool = parts.random.pick([5, 50, 5_000]);
  }

  /** Opens accounts with their first destinations, while nothing is amiss yet. */
  async open(node: Node, accounts: number): Promise<void> {
    const { random } = this.#parts;
    for (let n = 0; n < accounts; n += 1) {
      const email = `owner-${n}@example.com`;
      const input = {
        name: `Tenant ${n}`, ownerEmail: email, ownerPassword: "correct horse battery",
        maxTrys: 1 + random.below(6), circuitBreakerTimer: random.pick(timers),
      };
      const made = await node.services.commands.tenants.create(input, this.#origin(), "192.0.2.1");
      const caller: Caller = { userId: made.ownerUserId, tenantId: made.tenantId, role: "Owner" };
      const { apiKey } = await node.services.commands.apiKeys.issue(caller, { name: "producer" }, this.#origin());
      const account: Account = { caller, email, apiKey, destinations: [] };
      this.#accounts.push(account);
      for (let more = 1 + random.below(4); more > 0; more -= 1) await this.#register(node, account);
    }
  }

  /** Every destination's host. */
  get hosts(): readonly string[] {
    return this.#accounts.flatMap(hostsOf);
  }

  get callers(): readonly Caller[] {
    return this.#accounts.map(({ caller }) => caller);
  }

  /** Does one thing, at random. */
  act(): void {
    const { random } = this.#parts;
    const node = this.#parts.anyNode();
    const account = random.pick(this.#accounts);
    const operation = random.weighted(weights);
    if (!node) return;
    this.#try(operation, node, () => this.#do(operation, node, account));
  }

  #try(name: string, node: Node, task: () => Promise<string | undefined>): void {
    const { trace, broken } = this.#parts;
    const n = (this.#count += 1);
    trace.add(`${node.process.name} #${n} ${name}`);
    const done = (result: string | undefined) => trace.add(`#${n} ${name} done ${result ?? ""}`);
    task().then(done, (error: unknown) => {
      trace.add(`#${n} ${name} failed: ${String(error)}`);
      if (isExpected(error)) return;
      broken(error instanceof Broken ? error : new Broken("only known errors", describe(error)));
    });
  }

  async #do(operation: Operation, node: Node, account: Account): Promise<string | undefined> {
    const { random } = this.#parts;
    const { commands, queries } = node.services;
    const { caller } = account;
    const destination = random.pick(account.destinations);
    const origin = this.#origin();
    const change = async (input: DestinationChange) =>
      (await commands.destinations.change(caller, destination.id, input, origin)).status;
    switch (operation) {
      case "ingest":
        return this.#ingest({
          node, account, destination, key: random.chance(0.5) ? this.#key() : undefined, look: random.chance(0.2),
        });
      case "sameKey": {
        const key = this.#key();
        for (let more = 1 + random.below(4); more > 0; more -= 1) {
          const other = this.#parts.anyNode() ?? node;
          const to = random.chance(0.9) ? destination : random.pick(account.destinations);
          const same = { node: other, account, destination: to, key, look: false };
          this.#try("ingest of one key", other, () => this.#ingest(same));
        }
        return this.#ingest({ node, account, destination, key, look: false });
      }
      case "replay":
        return this.#withEvent(caller, "CriticalFailure", async (id) =>
          (await commands.events.replay(caller, id, origin)).status);
      case "cancel":
        return this.#withEvent(caller, random.pick(["Pending", "WaitingRetry", "Processing"]), async (id) =>
          (await commands.events.cancel(caller, id, origin)).status);
      case "bulkReplay": {
        const only = random.chance(0.5) ? { destinationUrlId: destination.id } : {};
        const input = { ...only, dryRun: random.chance(0.2) };
        const { matched, replayed } = await commands.bulkReplay.replay(caller, input, origin);
        return `${matched} ${replayed}`;
      }
      case "purge": {
        const before = timestamp(node.process.clock.now() - random.below(20_000));
        const input = {
          ...(random.chance(0.4) && { status: random.pick(finishedStatuses) }),
          ...(random.chance(0.4) && { destinationUrlId: destination.id }),
          ...(random.chance(0.3) && { before }),
        };
        await this.#parts.model.whilePurging(caller.tenantId, () => commands.purge.purge(caller, input, origin));
        return undefined;
      }
      case "list":
        return this.#list(node, account);
      case "get":
        return this.#withEvent(caller, undefined, async (id) => {
          const event = await queries.events.get(caller, id);
          hold(event.tenantId === caller.tenantId, "no tenant sees another's", () => id);
          await queries.events.attempts(caller, id, newestFirst);
          return event.status;
        });
      case "foreign":
        return this.#foreign(node, account);
      case "limit":
        return change({ serverRateLimit: 1 + random.below(5) });
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
        return this.#oldToken(node, account, destination);
      case "policy":
        await commands.tenants.change(caller, caller.tenantId, {
          maxTrys: 1 + random.below(6), circuitBreakerTimer: random.pick(timers),
        }, origin);
        return undefined;
      case "newSecret":
        await commands.tenants.regenerateWebhookSecret(caller, caller.tenantId, origin);
        return undefined;
      case "repoint":
        return change({ url: `https://${random.pick(hostsOf(account))}/moved` });
      case "newProof":
        return change(proofFor(caller.tenantId, random));
      case "session":
        return this.#session(node, account);
      case "together":
        return this.#together(caller);
      case "crowd":
        return this.#crowd(account, destination);
      case "newTenant":
        return this.#newTenant();
    }
  }

  /** `look`: the event must be in the next list. */
  async #ingest(asked: Ingested): Promise<string> {
    const { node, account: { caller, apiKey }, destination, key, look } = asked;
    const { books, model, now, newsMs, later, random, anyNode } = this.#parts;
    const { admissions, ingest } = node.services;
    const { tenantId } = caller;
    const { token, changed } = destination;
    const begun = now();
    const payload = JSON.stringify({ n: (this.#count += 1), key });
    const again = () => {
      const other = anyNode();
      if (other) this.#try("ingest again", other, () => this.#ingest({ ...asked, node: other }));
    };
    try {
      const admission = await admissions.admit(tenantId, token, apiKey);
      const answer = await ingest.accept(admission, payload, key, this.#correlation());
      const { eventId, acceptedAt } = "accepted" in answer ? answer.accepted : answer.duplicate;
      const told = { eventId, key, tenantId, payload };
      if ("duplicate" in answer) {
        hold(answer.duplicate.tenantId === tenantId, "no tenant sees another's", () => eventId);
        books.duplicate(told);
        return `duplicate of ${short(eventId)}`;
      }
      books.accepted(told);
      hold(model.events.get(eventId)?.payload === payload, "the bytes received are the bytes stored", () => eventId);
      const record = model.destinations.get(destination.id);
      hold(record !== undefined && inForce(record.open, begun - newsMs).includes(true),
        "nothing is accepted for an inactive or deleted destination", () => eventId);
      if (look) await this.#mustBeListed(caller, eventId, acceptedAt);
      return short(eventId);
    } catch (error) {
      if (isUnavailable(error) && random.chance(0.7)) later(random.between(10, 2_000), again);
      const record = model.destinations.get(destination.id);
      const refusal = error instanceof Refusal ? error.kind : undefined;
      if (refusal === "rejected" && record) {
        const since = begun - newsMs;
        hold(inForce(record.open, since).includes(false) || inForce(record.closed, since).includes(false),
          "an active destination takes events", () => `${destination.id}: ${String(error)}`);
      } else if (refusal !== undefined && refusal !== "unavailable") {
        hold(refusal === "not-found" && (changed || destination.changed), "a good key and token are let in",
          () => `${destination.id}: ${String(error)}`);
      }
      throw error;
    }
  }

  /** What was acknowledged is in the next list, through whichever process. */
  async #mustBeListed(caller: Caller, eventId: string, acceptedAt: string): Promise<void> {
    const node = this.#parts.anyNode();
    if (!node) return;
    const found = await node.services.queries.events
      .list(caller, { from: acceptedAt, to: acceptedAt }, newestFirst)
      .then(whole)
      .catch((error: unknown) => {
        if (!isUnavailable(error)) throw error;
      });
    if (!found || found.total > newestFirst.quantity) return;
    const isPurged = () => this.#parts.model.events.get(eventId)?.purgedAt !== null;
    hold(found.items.some(({ id }) => id === eventId) || isPurged(), "everybody reads what was acknowledged",
      () => `${eventId} through ${node.process.name}`);
  }

  async #list(node: Node, { caller, destinations }: Account): Promise<string> {
    const { random, model, now } = this.#parts;
    const begun = now();
    const status = random.pick([undefined, undefined, "Succeeded", "CriticalFailure", "WaitingRetry"] as const);
    const destinationUrlId = random.chance(0.3) ? random.pick(destinations).id : undefined;
    const page = await node.services.queries.events.list(caller, { status, destinationUrlId }, newestFirst);
    const { total, items } = await whole(page);
    for (const item of items) {
      const record = model.events.get(item.id);
      hold(item.tenantId === caller.tenantId, "no tenant sees another's", () => item.id);
      const isPurged = record?.purgedAt != null && record.purgedAt < begun;
      hold(record !== undefined && !isPurged, "what is purged is not shown", () => item.id);
      hold(status === undefined || item.status === status, "a filter is kept to", () => item.id);
      // Meanwhile another may have begun under the same id.
      hold(record.payload === item.payload || record.since > begun, "an event shows its own payload", () => item.id);
    }
    hold(total >= items.length, "a total counts the list", () => `${total} but ${items.length}`);
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
      const { admissions, ingest } = node.services;
      const admission = await admissions.admit(tenantId, token, apiKey);
      return ingest.accept(admission, JSON.stringify({ from: caller.tenantId }), undefined, this.#correlation());
    };
    const tries = [
      () => send(caller.tenantId),
      () => send(other?.caller.tenantId ?? ""),
      () => queries.events.get(caller, id),
      () => queries.events.history(caller, id, newestFirst),
      () => commands.events.cancel(caller, id, this.#origin()),
    ];
    try {
      await this.#parts.random.pick(tries)();
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      return error.kind;
    }
    throw new Broken("no tenant sees another's", `${id} shown to ${caller.tenantId}`);
  }

  async #newToken(node: Node, caller: Caller, destination: Destination): Promise<undefined> {
    const { destinations } = node.services.commands;
    const { token } = destination;
    destination.changed = true;
    destination.token = await destinations.regenerateToken(caller, destination.id, this.#origin());
    destination.former = { token, since: this.#parts.now() };
  }

  /** A token that was replaced a while ago lets nobody in. */
  async #oldToken(node: Node, { caller, apiKey }: Account, { former }: Destination): Promise<string | undefined> {
    const { now, newsMs } = this.#parts;
    if (!former || now() - former.since < newsMs) return undefined;
    const admitted = node.services.admissions.admit(caller.tenantId, former.token, apiKey);
    const admission = await admitted.catch((error: unknown) => {
      if (!(error instanceof Refusal)) throw error;
      return error.kind;
    });
    hold(typeof admission === "string", "a token that was replaced lets nobody in", () => former.token);
    return admission;
  }

  async #session(node: Node, { email, caller }: Account): Promise<string> {
    const other = this.#parts.anyNode() ?? node;
    const token = await node.services.login.login(email, "correct horse battery", "192.0.2.1");
    const session = await other.services.sessions.authenticate(token.accessToken);
    const isOwn = session.tenantId === caller.tenantId && session.userId === caller.userId;
    hold(isOwn, "a session is its user's", () => email);
    await other.services.sessions.revoke(session, this.#origin());
    const after = await node.services.sessions.authenticate(token.accessToken).catch((error: unknown) => {
      if (error instanceof Refusal && error.kind === "unauthenticated") return undefined;
      throw error;
    });
    hold(after === undefined, "a session that was ended is over everywhere", () => email);
    return "over";
  }

  /** Several people do what they want to one event, at once and through whichever process. */
  async #together(caller: Caller): Promise<string | undefined> {
    const { random, anyNode } = this.#parts;
    const status = random.pick(["CriticalFailure", "WaitingRetry", "Pending", undefined]);
    return this.#withEvent(caller, status, async (id) => {
      for (let more = 2 + random.below(3); more > 0; more -= 1) {
        const node = anyNode();
        if (!node) continue;
        const { events } = node.services.commands;
        const [name, task] = random.pick([
          ["replay", () => events.replay(caller, id, this.#origin())],
          ["cancel", () => events.cancel(caller, id, this.#origin())],
        ] as const);
        this.#try(`${name} together`, node, async () => (await task()).status);
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
      this.#try("change together", node, async () =>
        (await node.services.commands.destinations.change(caller, destination.id, change, this.#origin())).status);
    }
    return short(destination.id);
  }

  /** Several people want one name, or one email, at once. */
  async #newTenant(): Promise<undefined> {
    const { random, anyNode } = this.#parts;
    for (let more = 1 + random.below(3); more > 0; more -= 1) {
      const node = anyNode();
      if (!node) continue;
      const input = contested(random);
      this.#try("new tenant", node, async () =>
        (await node.services.commands.tenants.create(input, this.#origin(), "192.0.2.1")).tenantId);
    }
    return undefined;
  }

  async #register(node: Node, account: Account): Promise<string> {
    const { random } = this.#parts;
    const { caller, destinations } = account;
    const url = `https://${hostOf(caller.tenantId, destinations.length)}/hook`;
    const proof = random.chance(0.5) && proofFor(caller.tenantId, random);
    const input = { url, serverRateLimit: 1 + random.below(5), ...proof };
    const { destinations: commands } = node.services.commands;
    const { id, ingestToken: token } = await commands.register(caller, input, this.#origin());
    destinations.push({ id, token, former: undefined, changed: false });
    return short(id);
  }

  async #withEvent(
    { tenantId }: Caller, status: string | undefined, task: (id: string) => Promise<string>,
  ): Promise<string | undefined> {
    const found = [...this.#parts.model.events.values()].filter((event) =>
      event.tenantId === tenantId && (status === undefined || event.status === status));
    return found.length === 0 ? undefined : task(this.#parts.random.pick(found).id);
  }

  #key(): string {
    return `order ${this.#parts.random.below(this.#keyPool)}`;
  }

  #correlation(): string {
    return `request ${(this.#count += 1)}`;
  }

  #origin(): Origin {
    return { actor: { type: "anonymous" }, correlationId: this.#correlation(), causationId: null };
  }
}

function hostsOf({ caller, destinations }: Account): string[] {
  return destinations.map((_, at) => hostOf(caller.tenantId, at));
}
