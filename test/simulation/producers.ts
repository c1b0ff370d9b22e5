import type { Caller } from "../../src/application/caller.ts";
import { Refusal } from "../../src/domain/refusal.ts";
import { whole } from "../support/whole-page.ts";
import type { Account, Destination } from "./accounts.ts";
import type { Books } from "./books.ts";
import { hold } from "./broken.ts";
import { isUnavailable } from "./errors.ts";
import type { Model } from "./model.ts";
import type { Node } from "./node.ts";
import type { Random } from "./random.ts";
import { inForce } from "./records.ts";
import type { Requests } from "./requests.ts";
import { short } from "./trace.ts";

/** What producers work with, and what their answers are held against. */
export interface ProducerParts {
  readonly random: Random;
  readonly model: Model;
  readonly books: Books;
  readonly requests: Requests;
  readonly now: () => number;
  readonly newsMs: number;
  /** A process that serves, if there is one. */
  readonly anyNode: () => Node | undefined;
  readonly later: (ms: number, task: () => void) => void;
}

/** Something for a destination to take in. */
interface Ingested {
  readonly node: Node;
  readonly account: Account;
  readonly destination: Destination;
  readonly key: string | undefined;
  /** Whether the event must be in the next list. */
  readonly look: boolean;
}

/** The first page of a list. */
export const newestFirst = { quantity: 100, page: 1, order: { field: "acceptedAt", descending: true } };

/** Those who post events, and what they must be answered. */
export class Producers {
  readonly #parts: ProducerParts;
  readonly #keyPool: number;

  constructor(parts: ProducerParts) {
    this.#parts = parts;
    this.#keyPool = parts.random.pick([5, 50, 5_000]);
  }

  /** An idempotency key that others may have, too. */
  key(): string {
    return `order ${this.#parts.random.below(this.#keyPool)}`;
  }

  /** Posts of one key, together and through whichever processes. */
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

  /** Posts an event, and posts it again where that may help. */
  async ingest(asked: Ingested): Promise<string> {
    const { node, account: { caller, apiKey }, destination, key, look } = asked;
    const { books, model, requests, now, newsMs, later, random, anyNode } = this.#parts;
    const { producers, ingest } = node.services;
    const { tenantId } = caller;
    const { token, changed } = destination;
    const begun = now();
    const payload = JSON.stringify({ n: requests.number(), key });
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

  /** A token that was replaced a while ago lets nobody in. */
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
    hold(refused !== undefined, "a token that was replaced lets nobody in", () => former.token);
    return refused;
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
}
