import type { Caller } from "../../src/kernel/callers/caller.ts";
import { Refusal } from "../../src/kernel/domain/refusal.ts";
import { pageRequest } from "../support/page-request.ts";
import { whole } from "../support/whole-page.ts";
import type { Account, Destination } from "./accounts.ts";
import type { Books } from "./books.ts";
import { hold } from "./broken.ts";
import { isUnavailable } from "./errors.ts";
import { owners } from "./messages.ts";
import type { Model } from "./model.ts";
import type { Node } from "./node.ts";
import type { Random } from "./random.ts";
import { inForce } from "./records.ts";
import type { Requests } from "./requests.ts";
import { short } from "./trace.ts";

/** The dependencies of producers, and the model that their answers are compared with. */
export interface ProducerParts {
  readonly random: Random;
  readonly model: Model;
  readonly books: Books;
  readonly requests: Requests;
  readonly now: () => number;
  readonly newsMs: number;
  /** A ready process, if any. */
  readonly anyNode: () => Node | undefined;
  readonly later: (ms: number, task: () => void) => void;
}

/** An event to post to a destination. */
interface Ingested {
  readonly node: Node;
  readonly account: Account;
  readonly destination: Destination;
  readonly key: string | undefined;
  /** Whether the event must be in the next list. */
  readonly look: boolean;
}

/** A message to post to a sender that fans out. */
interface PostedMessage {
  readonly node: Node;
  readonly account: Account;
  readonly key: string | undefined;
}

/** The first page of a list. */
export const newestFirst = pageRequest({ quantity: 100, order: { field: "acceptedAt", descending: true } });

/** Producers that post events, and the checks of their answers. */
export class Producers {
  readonly #parts: ProducerParts;
  readonly #keyPool: number;

  constructor(parts: ProducerParts) {
    this.#parts = parts;
    this.#keyPool = parts.random.pick([5, 50, 5_000]);
  }

  /** An idempotency key that others may use, too. */
  key(): string {
    return `order ${this.#parts.random.below(this.#keyPool)}`;
  }

  /** Posts several events of one key at once, through any processes. */
  sameKey(node: Node, account: Account, destination: Destination): Promise<string> {
    const { random, requests, anyNode } = this.#parts;
    const key = this.key();
    for (let more = 1 + random.below(4); more > 0; more -= 1) {
      const other = anyNode() ?? node;
      const to = random.chance(0.9) ? destination : random.pick(account.destinations);
      const same = { node: other, account, destination: to, key, look: false };
      requests.begin("ingest of one key", other, () => this.ingest(same));
    }
    return this.ingest({ node, account, destination, key, look: false });
  }

  /** Posts an event, and posts it again after some failures that may pass. */
  async ingest(asked: Ingested): Promise<string> {
    const { node, account: { caller, apiKey }, destination, key, look } = asked;
    const { books, model, requests, now, newsMs, later, random, anyNode } = this.#parts;
    const { producers, ingest } = node.services;
    const { tenantId } = caller;
    const { token, changed } = destination;
    const begun = now();
    const payload = JSON.stringify({ n: requests.number(), key, ...(random.chance(0.9) && { of: random.below(3) }) });
    const again = () => {
      const other = anyNode();
      if (other) requests.begin("ingest again", other, () => this.ingest({ ...asked, node: other }));
    };
    try {
      const admit = () => producers.admit(tenantId, token, apiKey);
      const posted = { received: payload, idempotencyKey: key, correlationId: requests.correlation() };
      const answer = await ingest.accept(await admit(), posted, admit);
      const { eventId, acceptedAt } = "accepted" in answer ? answer.accepted : answer.duplicate;
      const told = { eventId, key, tenantId, payload };
      if ("duplicate" in answer) {
        hold(answer.duplicate.tenantId === tenantId, "no tenant sees another's data", () => eventId);
        books.duplicate(told);
        return `duplicate of ${short(eventId)}`;
      }
      books.accepted(told);
      hold(model.events.get(eventId)?.payload === payload, "the bytes received are the bytes stored", () => eventId);
      const record = model.destinations.get(destination.id);
      hold(record !== undefined && inForce(record.open, begun - newsMs).includes(true),
        "no event is accepted for an inactive or deleted destination", () => eventId);
      if (look) await this.#mustBeListed(caller, eventId, acceptedAt);
      return short(eventId);
    } catch (error) {
      if (isUnavailable(error) && random.chance(0.7)) later(random.between(10, 2_000), again);
      const record = model.destinations.get(destination.id);
      const refusal = error instanceof Refusal ? error.kind : undefined;
      if (refusal === "rejected" && record) {
        const since = begun - newsMs;
        const mayBeOff = inForce(record.open, since).includes(false);
        const what = () => `${destination.id}: ${String(error)}`;
        hold(mayBeOff || inForce(record.closed, since).includes(false), "an active destination accepts events", what);
        hold(mayBeOff || !model.terms.held(destination.id, since),
          "a destination that holds accepts events while its circuit is open", what);
      } else if (refusal !== undefined && refusal !== "unavailable") {
        hold(refusal === "not-found" && (changed || destination.changed), "a valid key and token are admitted",
          () => `${destination.id}: ${String(error)}`);
      }
      throw error;
    }
  }

  /** Posts several messages of one key at once, through any processes. */
  sameMessage(node: Node, account: Account): Promise<string> {
    const { random, requests, anyNode } = this.#parts;
    const key = this.key();
    for (let more = 1 + random.below(4); more > 0; more -= 1) {
      const other = anyNode() ?? node;
      requests.begin("message of one key", other, () => this.message({ node: other, account, key }));
    }
    return this.message({ node, account, key });
  }

  /** Posts a message to a sender that fans out, and compares its routing with the subscriptions. */
  async message({ node, account: { caller: { tenantId }, apiKey, sender }, key }: PostedMessage): Promise<string> {
    const { books, model, requests, now, newsMs, random } = this.#parts;
    const { producers, ingest } = node.services;
    const begun = now();
    const payload = JSON.stringify({ n: requests.number(), key, of: random.below(3) });
    const eventType = random.pick([undefined, "order.paid", "order.sent"]);
    const ownerId = random.pick([undefined, ...owners]);
    const admit = () => producers.admit(tenantId, sender.token, apiKey);
    const posted = {
      received: payload, idempotencyKey: key, eventType, ownerId, correlationId: requests.correlation(),
    };
    const answer = await ingest.accept(await admit(), posted, admit);
    const { eventId, deliveries = [] } = "accepted" in answer ? answer.accepted : answer.duplicate;
    const told = { eventId, key, tenantId, payload };
    if ("accepted" in answer) books.accepted(told);
    else books.duplicate(told);
    const message = model.messages.byId.get(eventId);
    // A purge may have freed the key for an event of another destination.
    if (!message) return `duplicate of ${short(eventId)}`;
    const ids = (of: readonly { readonly eventId: string }[]) => of.map((one) => one.eventId).join();
    hold(ids(deliveries) === ids(message.deliveries), "an answer shows the recorded routing", () => eventId);
    if ("duplicate" in answer) return `duplicate of ${short(eventId)}`;
    hold(message.payload === payload, "the bytes received are the bytes stored", () => eventId);
    model.messages.checkRouting(message, { senderId: sender.id, eventType, ownerId, payload }, begun - newsMs);
    return `${short(eventId)} to ${deliveries.length}`;
  }

  /** Checks that a replaced token is refused after a while. */
  async oldToken(node: Node, { caller, apiKey }: Account, { former }: Destination): Promise<string | undefined> {
    const { now, newsMs } = this.#parts;
    if (!former || now() - former.since < newsMs) return undefined;
    let refused: string | undefined;
    try {
      await node.services.producers.admit(caller.tenantId, former.token, apiKey);
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      refused = error.kind;
    }
    hold(refused !== undefined, "a replaced token is refused", () => former.token);
    return refused;
  }

  /** Checks that an acknowledged event is in the next list, through any process. */
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
    hold(found.items.some(({ id }) => id === eventId) || isPurged(), "an acknowledged event is in the next list",
      () => `${eventId} through ${node.process.name}`);
  }
}
