import type { PlantedBug } from "./planted-bug.ts";
import { manyLost } from "./weathers.ts";

const claims = "src/workers/delivery/claims.ts";
const attempts = "src/workers/delivery/attempts.ts";
const lost = "src/workers/lost-attempts.ts";
const lane = "src/workers/delivery/lane.ts";
const probes = "src/workers/delivery/probes.ts";
const outcomes = "src/application/delivery/outcomes.ts";
const sender = "src/application/delivery/sender.ts";
const sweeper = "src/workers/sweeper.ts";

/** Mistakes on the way from the log to the receivers. */
export const delivery: readonly PlantedBug[] = [
  {
    name: "an attempt is claimed whatever the revision",
    breaks: "a fact leaves the status there was",
    file: claims,
    find: "if (error instanceof RevisionConflict) return null;",
    instead: `if (error instanceof RevisionConflict) {
        return await this.#parts.store.append(streams.event(state.id), error.actual, entries);
      }`,
  },
  {
    name: "an outcome is written though its event was purged",
    breaks: "facts are told of events there are",
    file: outcomes,
    find: "const newer = await loadWebhook(store, state.id);",
    instead: `const newer = await loadWebhook(store, state.id);
        if (error.actual < 0) await store.append(streams.event(state.id), -1, entriesOf(facts, origin, this.#parts));`,
    weather: manyLost,
  },
  {
    name: "a lost claim is acted on",
    breaks: "one request for an attempt",
    file: claims,
    find: "if (error instanceof RevisionConflict) return null;",
    instead: "if (error instanceof RevisionConflict) return { revision: error.actual, position: \"\" };",
  },
  {
    name: "a request leaves before its claim is durable",
    breaks: "nothing is sent without a claim",
    file: claims,
    find: "const appended = start && (await this.#append(known, start.entries));",
    instead: `const appended = start && { revision: known.revision + 1 };
    if (start) void this.#append(known, start.entries).catch(() => undefined);`,
  },
  {
    name: "a request is sent twice to be sure",
    breaks: "one request for an attempt",
    file: attempts,
    find: "notSent(claimMs) : await sender.send(delivery);",
    instead: "notSent(claimMs) : (await sender.send(delivery), await sender.send(delivery));",
  },
  {
    name: "a claim that took a millisecond is not acted on",
    breaks: "what was claimed is sent",
    file: attempts,
    find: "claimMs > leaseMarginMs ?",
    instead: "claimMs > 1 ?",
  },
  {
    name: "a claim that took long is acted on",
    breaks: "a request is over before its lease is",
    file: attempts,
    find: "claimMs > leaseMarginMs ? notSent(claimMs) : await sender.send(delivery);",
    instead: "await sender.send(delivery);",
    weather: {
      moody: 1, log: { usualMs: 1, slow: 0.05, slowMs: 12_000, failBefore: 0, failAfter: 0 }, crashEveryMs: Infinity,
    },
  },
  {
    name: "what was not sent is told as a timeout",
    breaks: "what was not sent has no outcome",
    file: attempts,
    find: "reason: \"not sent\",",
    instead: "reason: \"timeout\",",
    weather: { log: { usualMs: 1, slow: 0.05, slowMs: 12_000, failBefore: 0, failAfter: 0 } },
  },
  {
    name: "an outcome is recorded once or never",
    breaks: "what was heard is recorded",
    file: attempts,
    find: "await this.#pause.wait(recordAgainAfterMs);",
    instead: "return;",
  },
  {
    name: "a redirect is a success",
    breaks: "the log tells what the receiver answered",
    file: sender,
    find: "if (statusCode >= 200 && statusCode < 300) return",
    instead: "if (statusCode >= 200 && statusCode < 400) return",
  },
  {
    name: "the payload is altered on its way",
    breaks: "the stored bytes are sent",
    file: sender,
    find: "const body = Buffer.from(delivery.webhook.payload);",
    instead: "const body = Buffer.from(`${delivery.webhook.payload}\\n`);",
  },
  {
    name: "a request goes to the root of its host",
    breaks: "a request goes where the claim says",
    file: sender,
    find: "url: delivery.destination.url,",
    instead: "url: new URL(\"/\", delivery.destination.url).href,",
  },
  {
    name: "a signer is remembered for all",
    breaks: "requests are signed for their tenant",
    file: sender,
    find: "let signer = this.#signers.get(tenant);",
    instead: "let signer = this.#signers.get(((this as { first?: Tenant }).first ??= tenant));",
  },
  {
    name: "a destination is remembered for all",
    breaks: "no tenant's events go to another's receiver",
    file: claims,
    find: "await aggregates.read(destinations, known.state.destinationId);",
    instead: `await aggregates.read(destinations,
      ((globalThis as { one?: string }).one ??= known.state.destinationId));`,
  },
  {
    name: "an outcome is counted again when the log's answer was lost",
    breaks: "failures are counted from the last success",
    file: outcomes,
    find: "if (again && (await this.#isCounted(destinationId, origin))) return status;",
    instead: "",
  },
  {
    name: "events of an inactive destination are cancelled",
    breaks: "cancelled for a deletion that was",
    file: outcomes,
    find: "(await this.#parts.aggregates.read(destinations, destinationId)).state?.deleted ?? true;",
    instead: "!((await this.#parts.aggregates.read(destinations, destinationId)).state?.active ?? false);",
  },
  {
    name: "lost attempts are not given up",
    breaks: "nothing is left undone",
    file: "src/composition/delivery.ts",
    find: "() => lost.giveUp())",
    instead: "async () => undefined)",
  },
  {
    name: "leases are timed by the wall's clock",
    breaks: "an attempt is given up after its lease",
    file: lost,
    find: "else if (now - seen >= millis(lease.leaseUntil) - millis(lease.startedAt)) lost.push(lease);",
    instead: "else if (this.#parts.clock.now() >= millis(lease.leaseUntil)) lost.push(lease);",
  },
  {
    name: "a lease is timed from before it was asked for",
    breaks: "an attempt is given up after its lease",
    file: lost,
    find: "if (seen === undefined) this.#firstSeen.set(key, seenAt);",
    instead: "if (seen === undefined) this.#firstSeen.set(key, now);",
    weather: {
      processes: 1, operations: 1_500, activeMs: 60_000, moody: 1, moodEveryMs: 3_000, crashEveryMs: Infinity,
      stopEveryMs: Infinity, stallEveryMs: Infinity, lossEveryMs: Infinity,
      readModels: { usualMs: 1, slow: 0.1, slowMs: 12_000, failBefore: 0, failAfter: 0 },
    },
  },
  {
    name: "the sweeper wakes nobody for what the queue lost",
    breaks: "nothing is left undone",
    file: sweeper,
    find: "of await dueIndex.destinationsWithWorkDue(now - firstAttemptGraceMs)) due.add(destination);",
    instead: "of await dueIndex.destinationsWithWorkDue(now - firstAttemptGraceMs)) due.delete(destination);",
  },
  {
    name: "retries are looked for with everything else only",
    breaks: "nothing is overdue",
    file: sweeper,
    find: "new Set(await dueIndex.destinationsWithRetriesDue(since, now));",
    instead: "new Set<string>(since < now ? [] : await dueIndex.destinationsWithRetriesDue(since, now));",
  },
  {
    name: "the sweeper forgets open circuits",
    breaks: "no circuit stays open",
    file: sweeper,
    find: "for (const destination of await dueIndex.circuitsDue(now)) due.add(destination);",
    instead: "",
  },
  {
    name: "a lane ignores its limit",
    breaks: "a destination's limit is kept",
    file: lane,
    find: "return limit - this.#attempts.size - this.#tenure.foreign;",
    instead: "return limit + 1 - this.#attempts.size - this.#tenure.foreign;",
  },
  {
    name: "a new owner ignores what the one before it has under way",
    breaks: "a destination's limit is kept",
    file: lane,
    find: "return limit - this.#attempts.size - this.#tenure.foreign;",
    instead: "return limit - this.#attempts.size;",
  },
  {
    name: "a probe goes beyond the limit",
    breaks: "a destination's limit is kept",
    file: lane,
    find: "if (this.#room(destination.serverRateLimit) <= 0) return;",
    instead: "",
    weather: {
      processes: 1, operations: 2_500, activeMs: 40_000, moody: 1, moodEveryMs: 1_000, crashEveryMs: Infinity,
      stopEveryMs: Infinity, stallEveryMs: Infinity, outageEveryMs: Infinity, lossEveryMs: Infinity,
      log: { usualMs: 1, slow: 0, slowMs: 0, failBefore: 0, failAfter: 0 },
      readModels: { usualMs: 1, slow: 0, slowMs: 0, failBefore: 0, failAfter: 0 },
    },
  },
  {
    name: "a lane goes on after its session",
    breaks: "only who has a destination claims its attempts",
    file: lane,
    find: "if (this.#guard.paused || !this.#tenure.alive) return;",
    instead: "if (this.#guard.paused || !this.#tenure.session) return;",
  },
  {
    name: "a lane that lost its destination keeps its work",
    breaks: "a destination's limit is kept",
    file: lane,
    find: "this.#tenure.leave();\n    this.#window.hold();",
    instead: "this.#window.hold();",
    weather: { processes: 3, rebalanceEveryMs: 1_500, moody: 0.7 },
  },
  {
    name: "a lane delivers to inactive destinations",
    breaks: "nothing goes to an inactive or deleted destination",
    file: lane,
    find: "} else if (!destination.state?.active) {",
    instead: "} else if (destination.state === undefined) {",
  },
  {
    name: "a deleted destination's events are sent, not cancelled",
    breaks: "nothing goes to an inactive or deleted destination",
    file: lane,
    find: "() => this.#cancel(work)));",
    instead: "() => this.#attempt(work, false)));",
  },
  {
    name: "what is forgotten counts as deleted",
    breaks: "cancelled for a deletion that was",
    file: lane,
    find: "peek(destinations, this.destinationId);",
    instead: "peek(destinations, this.destinationId) ?? { state: { deleted: true } as Destination };",
  },
  {
    name: "a first attempt is claimed with the acceptance whatever is under way",
    breaks: "a destination's limit is kept",
    file: lane,
    find: "\"Closed\" ? this.#room(destination.serverRateLimit) : 0;",
    instead: "\"Closed\" ? destination.serverRateLimit : 0;",
  },
  {
    name: "a claim that came to nothing hides the event that was first",
    breaks: "nothing is overdue",
    file: lane,
    find: "const isOwn = work.kind !== \"reserved\";",
    instead: "const isOwn = work.kind !== undefined;",
  },
  {
    name: "a first attempt is sent though its event was not accepted",
    breaks: "nothing is sent without a claim",
    file: claims,
    find: "if (accepted === \"refused\") return \"nothing to do\";",
    instead: "if (accepted === \"refused\") return { ...start, revision: 1 };",
  },
  {
    name: "what was accepted counts as begun",
    breaks: "nothing is overdue",
    file: "src/workers/forwarder.ts",
    find: "entry.type === \"EventAccepted\" && begun.has(entry.stream)",
    instead: "entry.type === \"EventAccepted\"",
  },
  {
    name: "a lane ignores its circuit",
    breaks: "nothing but a probe goes while the circuit is not closed",
    file: lane,
    find: "if (circuit.position === \"Closed\") {",
    instead: "if (circuit.position !== \"HalfOpen\") {",
  },
  {
    name: "a probe goes while its claim is under way",
    breaks: "a probe is claimed first",
    file: lane,
    find: "if (!(await this.#probes.claim(circuit, work.eventId))) return false;",
    instead: "void this.#probes.claim(circuit, work.eventId).catch(() => undefined);",
  },
  {
    name: "a standing probe's lease is over at once",
    breaks: "one probe at a time",
    file: probes,
    find: "return clock.monotonic() - seen.since < claims.leaseMs;",
    instead: "return clock.monotonic() - seen.since < claims.leaseMs / 100;",
    weather: { processes: 3, rebalanceEveryMs: 1_000, moody: 1, moodEveryMs: 1_500 },
  },
  {
    name: "a probe is claimed though its search outlasted the membership",
    breaks: "only who has a destination claims its attempts",
    file: lane,
    find: "if (this.#tenure.session !== session || !session?.alive) return true;",
    instead: "if (session === undefined) return true;",
    weather: {
      processes: 3, rebalanceEveryMs: 1_000, moody: 1, moodEveryMs: 1_500, lagMs: 3, stallEveryMs: Infinity,
      outageEveryMs: Infinity, log: { usualMs: 1, slow: 0, slowMs: 0, failBefore: 0, failAfter: 0 },
      readModels: { usualMs: 1, slow: 0.05, slowMs: 400, failBefore: 0, failAfter: 0 },
    },
  },
];
