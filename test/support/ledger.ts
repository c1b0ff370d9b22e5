import { statusOf, type HistoryFact, type Histories } from "./api-histories.ts";
import type { Reply, Script } from "./receiver.ts";
import type { Account } from "./relay.ts";
import type { Life } from "./relay-process.ts";

/** An answer that said an event, or a message with its deliveries, is stored. */
export interface Acknowledgement {
  readonly key: string;
  readonly eventId: string;
  readonly body: string;
  readonly status: 200 | 202;
  readonly account: Account;
  /** The events that deliver a message; missing for an event. */
  readonly deliveries?: readonly { readonly eventId: string }[] | undefined;
}

/** A request as a receiver saw it. */
interface Seen {
  readonly eventId: string;
  readonly attempt: number;
  readonly body: string;
  /** The status that was answered or would have been; null for silence. */
  readonly status: number | null;
}

/** The errors in the books; every list must be empty. */
export interface Faults {
  /** Acknowledged, but not stored, not Succeeded, or never answered 2xx by its receiver. */
  readonly lost: string[];
  /** Answered 422 and never acknowledged, but stored. */
  readonly ghosts: string[];
  /** Two events, two ids or two 202s for one idempotency key. */
  readonly doubled: string[];
  /** Another body than the one acknowledged. */
  readonly altered: string[];
  /** A second request for the same attempt of an event. */
  readonly repeated: string[];
  /** A request for an attempt the log knows nothing of. */
  readonly unclaimed: string[];
  /** A delivery beyond the first that no attempt of unknown outcome or past its deadline explains. */
  readonly unexplained: string[];
  /** An attempt given up as "outcome unknown" though no kill fell into it. */
  readonly misjudged: string[];
  /** Sent or stored after its purge. */
  readonly revived: string[];
}

/** The figures of the books. */
export interface Figures {
  readonly acknowledged: number;
  readonly stored: number;
  readonly refused: number;
  /** Requests of producers without an answer, and answered 503. */
  readonly unanswered: number;
  readonly unavailable: number;
  /** Requests that receivers saw. */
  readonly requests: number;
  readonly extraDeliveries: number;
  readonly unknownOutcomes: number;
  /** Answers of 2xx that came after the relay's deadline. */
  readonly lateAnswers: number;
  /** Events acknowledged, delivered and purged. */
  readonly purged: number;
}

export interface Balance {
  readonly faults: Faults;
  readonly figures: Figures;
}

/** The books of a fault test: answers to producers, requests to receivers, and the facts of the log. */
export class Ledger {
  readonly #acknowledged = new Map<string, Acknowledgement>();
  readonly #ids = new Map<string, string>();
  readonly #accepted = new Map<string, number>();
  readonly #refused = new Set<string>();
  readonly #purged = new Set<string>();
  readonly #revived: string[] = [];
  readonly #seen: Seen[] = [];
  #unanswered = 0;
  #unavailable = 0;
  readonly #doubled: string[] = [];
  #keys = 0;

  /** An idempotency key for an event that was never posted: to a repeated one a relay writes nothing. */
  newKey(): string {
    this.#keys += 1;
    return `event-${this.#keys}`;
  }

  acknowledged(acknowledgement: Acknowledgement): void {
    const { key, eventId, status, deliveries = [acknowledgement] } = acknowledgement;
    for (const delivery of deliveries) {
      this.#acknowledged.set(delivery.eventId, { ...acknowledgement, eventId: delivery.eventId });
    }
    const known = this.#ids.get(key) ?? eventId;
    if (known !== eventId) this.#doubled.push(`${key}: ${known} and ${eventId}`);
    this.#ids.set(key, eventId);
    if (status !== 202) return;
    const count = (this.#accepted.get(key) ?? 0) + 1;
    this.#accepted.set(key, count);
    if (count > 1) this.#doubled.push(`${key}: ${count} times 202`);
  }

  refused(key: string): void {
    this.#refused.add(key);
  }

  /** The purge of these events was acknowledged: they were delivered, and must never be sent again. */
  purged(eventIds: readonly string[]): void {
    for (const id of eventIds) this.#purged.add(id);
  }

  /** An answer that leaves open whether the event is stored, or none at all. */
  unanswered(answer: { readonly status: number; readonly text: string } | undefined): void {
    if (answer === undefined) this.#unanswered += 1;
    else if (answer.status === 503) this.#unavailable += 1;
    else throw new Error(`a producer was answered ${answer.status} ${answer.text}`);
  }

  /** Ids of an account's events acknowledged so far. */
  eventIdsOf(account: Account): readonly string[] {
    return [...this.#acknowledged.values()].flatMap((known) => (known.account === account ? [known.eventId] : []));
  }

  get count(): number {
    return this.#acknowledged.size;
  }

  /** The script of a receiver whose requests are to be booked. */
  receiving(script: (seen: { readonly attempt: number; readonly eventId: string }) => Reply | "silence"): Script {
    return ({ headers, body }) => {
      // The deliveries of a message have its webhook-id.
      const eventId = String(headers["x-relay-delivery"] ?? headers["webhook-id"]);
      const attempt = Number(headers["x-relay-attempt"]);
      const reply = script({ attempt, eventId });
      const status = reply === "silence" ? null : (reply.status ?? 200);
      this.#seen.push({ eventId, attempt, body: body.toString(), status });
      if (this.#purged.has(eventId)) this.#revived.push(`${eventId} attempt ${attempt}: sent`);
      return reply;
    };
  }

  /**
   * Balances the books. `lives` are the relay's processes, `deadlineMs` is how long an attempt may take at most
   * from its claim on.
   */
  balance(histories: Histories, lives: readonly Life[], deadlineMs: number): Balance {
    const { seen, repeated } = this.#seenByAttempt();
    const faults: Faults = {
      lost: [], ghosts: [], altered: [], repeated, unclaimed: [], unexplained: [], misjudged: [],
      doubled: [...this.#doubled], revived: [...this.#revived],
    };
    let unknown = 0;
    let extra = 0;
    let late = 0;
    const stored = new Set<string>();
    for (const [eventId, facts] of histories) {
      const key = keyOf(facts);
      if (stored.has(key)) faults.doubled.push(`${key}: stored twice`);
      stored.add(key);
      if (this.#refused.has(key) && !this.#ids.has(key)) faults.ghosts.push(`${key} ${eventId}`);
      const attempts = attemptsOf(facts);
      const delivered = [...(seen.get(eventId) ?? [])].filter(([, request]) => is2xx(request.status));
      extra += Math.max(0, delivered.length - 1);
      for (const [attempt] of seen.get(eventId) ?? []) {
        if (!attempts.has(attempt)) faults.unclaimed.push(`${eventId} attempt ${attempt}`);
      }
      let explained = 1;
      for (const [attempt] of delivered) {
        const { ending, givenUp } = attempts.get(attempt) ?? {};
        if (ending === "timeout") late += 1;
        if (ending === "timeout" || givenUp) explained += 1;
        else if (ending !== "succeeded") {
          faults.unexplained.push(`${eventId} attempt ${attempt}: answered 2xx, booked ${String(ending)}`);
        }
      }
      if (delivered.length > explained) faults.unexplained.push(`${eventId}: delivered ${delivered.length} times`);
      for (const [attempt, { givenUp, startedAt }] of attempts) {
        if (!givenUp) continue;
        unknown += 1;
        if (!cutShort(startedAt, lives, deadlineMs)) faults.misjudged.push(`${eventId} attempt ${attempt}`);
      }
    }
    for (const { eventId, body } of this.#acknowledged.values()) {
      const requests = [...(seen.get(eventId)?.values() ?? [])];
      const status = statusOf(histories.get(eventId) ?? []);
      const isPurged = this.#purged.has(eventId);
      if (isPurged && status !== undefined) faults.revived.push(`${eventId}: stored`);
      const isOver = isPurged || status === "Succeeded";
      if (!isOver || !requests.some((request) => is2xx(request.status))) {
        faults.lost.push(`${eventId}: ${status ?? "not stored"}, ${requests.length} requests`);
      }
      if (requests.some((request) => request.body !== body)) faults.altered.push(eventId);
    }
    const figures: Figures = {
      acknowledged: this.#acknowledged.size, stored: histories.size, refused: this.#refused.size,
      unanswered: this.#unanswered, unavailable: this.#unavailable, requests: this.#seen.length,
      extraDeliveries: extra, unknownOutcomes: unknown, lateAnswers: late, purged: this.#purged.size,
    };
    return { faults, figures };
  }

  #seenByAttempt(): { readonly seen: Map<string, Map<number, Seen>>; readonly repeated: string[] } {
    const seen = new Map<string, Map<number, Seen>>();
    const repeated: string[] = [];
    for (const request of this.#seen) {
      const { eventId, attempt } = request;
      const requests = seen.get(eventId) ?? new Map<number, Seen>();
      if (requests.has(attempt)) repeated.push(`${eventId} attempt ${attempt}`);
      seen.set(eventId, requests.set(attempt, request));
    }
    return { seen, repeated };
  }
}

/** Prints figures in one line. */
export function printed(what: string, figures: object): void {
  const list = Object.entries(figures).map(([name, figure]) => `${name} ${String(figure)}`);
  console.log(`      ${what}: ${list.join(", ")}`);
}

/** An event's idempotency key; for the delivery of a message, which has none, its message and destination. */
function keyOf([accepted]: readonly HistoryFact[]): string {
  const data = (accepted?.data ?? {}) as Readonly<Record<string, string | null | undefined>>;
  const { idempotencyKey, messageId, destinationId } = data;
  return messageId ? `${messageId} to ${String(destinationId)}` : String(idempotencyKey);
}

interface Ended {
  readonly startedAt: number;
  /** "succeeded", the reason of its failure, or undefined while it is open. */
  readonly ending: string | undefined;
  /** Whether it was given up as "outcome unknown", also where its outcome came late. */
  readonly givenUp: boolean;
}

function attemptsOf(facts: readonly HistoryFact[]): Map<number, Ended> {
  const attempts = new Map<number, Ended>();
  for (const { type, time, data } of facts) {
    const { attempt, reason } = data;
    if (attempt === undefined) continue;
    const { startedAt = Date.parse(time), givenUp = false } = attempts.get(attempt) ?? {};
    const ending = type === "DeliverySucceeded" ? "succeeded" : reason;
    attempts.set(attempt, { startedAt, ending, givenUp: givenUp || reason === "outcome unknown" });
  }
  return attempts;
}

function cutShort(startedAt: number, lives: readonly Life[], deadlineMs: number): boolean {
  return lives.some(({ startedAt: from, endedAt, killed }) =>
    killed && endedAt !== null && from <= startedAt && startedAt <= endedAt && endedAt - startedAt <= deadlineMs);
}

function is2xx(status: number | null): boolean {
  return status !== null && status >= 200 && status < 300;
}
