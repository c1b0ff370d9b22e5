/** A mistake somebody could make: one passage of a file, and what stands there instead. */
export interface PlantedBug {
  readonly name: string;
  readonly file: string;
  readonly find: string;
  readonly instead: string;
  /** Only one seed in many hundreds has what it takes to catch it: a miss is no failure. */
  readonly rare?: true;
}

const attempts = "src/workers/delivery/attempts.ts";
const lane = "src/workers/delivery/lane.ts";
const outcomes = "src/application/delivery/outcomes.ts";
const ingest = "src/application/ingest.ts";
const eventRules = "src/domain/event/decide.ts";
const circuitRules = "src/domain/circuit/circuit.ts";

/** Each of them must break an invariant under some seed. */
export const plantedBugs: readonly PlantedBug[] = [
  {
    name: "an attempt is claimed whatever the revision",
    file: attempts,
    find: "if (error instanceof RevisionConflict) return null;",
    instead: `if (error instanceof RevisionConflict) {
        return await this.#parts.store.append(streams.event(state.id), error.actual, entries);
      }`,
  },
  {
    name: "a claim that took long is acted on",
    rare: true,
    file: attempts,
    find: "claimMs > leaseMarginMs ? notSent(claimMs) : await sender.send(delivery);",
    instead: "await sender.send(delivery);",
  },
  {
    name: "an outcome is recorded once or never",
    file: attempts,
    find: "await new Promise<void>((resolve) => clock.schedule(recordAgainAfterMs, resolve));",
    instead: "return;",
  },
  {
    name: "an outcome is counted again when the log's answer was lost",
    file: outcomes,
    find: "if (again && (await this.#isCounted(destinationId, origin))) return status;",
    instead: "",
  },
  {
    name: "a first attempt is claimed with the acceptance whatever is under way",
    file: lane,
    find: "limit !== null && this.#room(limit) > 0 &&",
    instead: "limit !== null &&",
  },
  {
    name: "a first attempt is sent though its event was not accepted",
    file: attempts,
    find: "if (!accepted) return \"nothing to do\";\n    this.#wrote(accepted.position);",
    instead: "if (!accepted) return { ...start, revision: 1 };",
  },
  {
    name: "the sweeper forgets leases",
    file: "src/workers/sweeper.ts",
    find: "await this.#expireLeases(monotonic);",
    instead: "",
  },
  {
    name: "leases are timed by the wall's clock",
    file: "src/workers/sweeper.ts",
    find: "else if (now - seen >= millis(lease.leaseUntil) - millis(lease.startedAt)) lost.push(lease);",
    instead: "else if (this.#parts.clock.now() >= millis(lease.leaseUntil)) lost.push(lease);",
  },
  {
    name: "the sweeper wakes nobody for what the queue lost",
    file: "src/workers/sweeper.ts",
    find: "of await dueIndex.destinationsWithWorkDue(now - firstAttemptGraceMs)) due.add(destination);",
    instead: "of await dueIndex.destinationsWithWorkDue(now - firstAttemptGraceMs)) due.delete(destination);",
  },
  {
    name: "the sweeper forgets open circuits",
    file: "src/workers/sweeper.ts",
    find: "for (const destination of await dueIndex.circuitsDue(now)) due.add(destination);",
    instead: "",
  },
  {
    name: "a lane ignores its limit",
    file: lane,
    find: "return limit - this.#underWay.size - this.#foreign.length;",
    instead: "return limit + 1 - this.#underWay.size - this.#foreign.length;",
  },
  {
    name: "a new owner ignores what the one before it has under way",
    file: lane,
    find: "return limit - this.#underWay.size - this.#foreign.length;",
    instead: "return limit - this.#underWay.size;",
  },
  {
    name: "a probe goes beyond the limit",
    rare: true,
    file: lane,
    find: "if (this.#room(destination.serverRateLimit) <= 0) return;",
    instead: "",
  },
  {
    name: "a lane goes on after its session",
    file: lane,
    find: "if (this.#paused || !this.#loaded || !this.#session?.alive) return;",
    instead: "if (this.#paused || !this.#loaded) return;",
  },
  {
    name: "a lane that lost its destination keeps its work",
    rare: true,
    file: lane,
    find: "this.#session = undefined;\n    this.#loaded = false;\n    this.#hold();",
    instead: "this.#hold();",
  },
  {
    name: "a lane delivers to inactive destinations",
    file: lane,
    find: "} else if (!destination.state.active) {",
    instead: "} else if (destination.state.id === \"\") {",
  },
  {
    name: "a deleted destination's events are sent, not cancelled",
    file: lane,
    find: "await (this.#deleted && work.kind !== \"claimed\" ? attempts.cancel(work) : attempts.run(work, probe));",
    instead: "await attempts.run(work, probe);",
  },
  {
    name: "what is forgotten counts as deleted",
    file: lane,
    find: "?? this.#seen)?.state?.deleted",
    instead: ")?.state?.deleted",
  },
  {
    name: "a lane ignores its circuit",
    file: lane,
    find: "if (circuit.position === \"Closed\") {\n      if",
    instead: "if (circuit.position !== \"HalfOpen\") {\n      if",
  },
  {
    name: "a standing probe's lease is over at once",
    file: lane,
    find: "return clock.monotonic() - seen.since >= attempts.leaseMs;",
    instead: "return clock.monotonic() - seen.since >= attempts.leaseMs / 10;",
  },
  {
    name: "a success does not end a count of failures",
    file: circuitRules,
    find: "return state.failures === 0 ? [] : fact(\"CircuitCounted\", { failures: 0 });",
    instead: "return [];",
  },
  {
    name: "the circuit opens one failure late",
    file: circuitRules,
    find: "return failures >= command.maxTrys ?",
    instead: "return failures > command.maxTrys ?",
  },
  {
    name: "an idempotency key is each process's own",
    file: ingest,
    find: "const eventKey = idempotencyKey === undefined ?",
    instead: "const eventKey = idempotencyKey !== undefined || idempotencyKey === undefined ?",
  },
  {
    name: "events are taken in for whatever destination",
    file: ingest,
    find: "return status === \"Active\" ? null :",
    instead: "return status === status ? null :",
  },
  {
    name: "an attempt starts before its time",
    file: eventRules,
    find: "if (!isWaiting(state) || early) return [];",
    instead: "if (!isWaiting(state)) return [];",
  },
  {
    name: "a late success is dropped",
    file: eventRules,
    find: "return state.open.includes(attempt) || state.lost.includes(attempt);",
    instead: "return state.open.includes(attempt);",
  },
  {
    name: "jitter comes early",
    file: "src/domain/event/retry-policy.ts",
    find: "const planned = wait + Math.floor(",
    instead: "const planned = wait - Math.floor(",
  },
  {
    name: "Retry-After is not heard",
    file: "src/domain/event/retry-policy.ts",
    find: "Math.max(planned, Math.min(retryAfterMs ?? 0, dayMs))",
    instead: "planned",
  },
  {
    name: "a replay goes on counting",
    file: "src/domain/event/state.ts",
    find: "return { ...state, status, retryCount: 0, nextAttemptAt: event.data.nextAttemptAt };",
    instead: "return { ...state, status, nextAttemptAt: event.data.nextAttemptAt };",
  },
  {
    name: "a purge takes what is finished after it",
    file: "projections/purges/purges.ts",
    find: "const finished = finishedIn !== null && finishedIn < purge.position;",
    instead: "const finished = finishedIn !== null || purge.position !== \"\";",
  },
  {
    name: "a purge deletes what began again",
    rare: true,
    file: "src/workers/purger.ts",
    find: "if (!oldest || oldest.position > purgedAt) return;",
    instead: "if (!oldest) return;",
  },
  {
    name: "a purged event is shown while its stream is there",
    file: "src/application/shown-events.ts",
    find: "if (halfDone === 0) return answer;",
    instead: "if (halfDone >= 0) return answer;",
  },
  {
    name: "nobody waits for the read models",
    file: "src/application/freshness.ts",
    find: "await this.cover(await this.#log.head());",
    instead: "await this.cover((await this.#log.head()).slice(0, 0));",
  },
  {
    name: "a batch applied again counts again",
    file: "test/support/in-memory-read-models.ts",
    find: "if (position > state.checkpoint) changes.forEach",
    instead: "if (position !== \"\") changes.forEach",
  },
  {
    name: "the end of an attempt leaves its lease",
    file: "projections/due/due.ts",
    find: "return [remove(leases, `${moved.eventId}:${moved.attempt}`), ...leave(moved)];",
    instead: "return leave(moved);",
  },
  {
    name: "replaced tokens go on",
    file: "src/application/directory.ts",
    find: "return target && !target.deleted && target.ingestTokenHash === hash ? target : undefined;",
    instead: "return target && !target.deleted && hash !== \"\" ? target : undefined;",
  },
  {
    name: "an event is anybody's",
    file: "src/application/access.ts",
    find: "if (thing.tenantId !== caller.tenantId) refuse(",
    instead: "if (thing.tenantId === \"\" && caller.tenantId === \"\") refuse(",
  },
  {
    name: "sessions that were ended go on elsewhere",
    file: "src/application/sessions.ts",
    find: "if (revoked != null || sessionVersion < Number(least ?? 0)) refuse(",
    instead: "if (sessionVersion < Number(least ?? 0)) refuse(",
  },
  {
    name: "a key begins again before its former event's end is projected",
    rare: true,
    file: ingest,
    find: "await this.#parts.freshness.cover(facts.at(-1)?.position ?? \"\");",
    instead: "",
  },
  {
    name: "a purge deletes another event of the same key",
    rare: true,
    file: "src/workers/purger.ts",
    find: "if (!newest || !isOf(newest, eventId)) return;",
    instead: "if (!newest) return;",
  },
  {
    name: "of two retries of the projection one lasts for ever",
    rare: true,
    file: "src/workers/pause.ts",
    find: "this.#ends.add(end);",
    instead: "this.#ends.clear();\n      this.#ends.add(end);",
  },
  {
    name: "a probe is claimed though its search outlasted the membership",
    rare: true,
    file: lane,
    find: "if (this.#session !== session || !session?.alive) {",
    instead: "if (session === undefined) {",
  },
  {
    name: "a lease is timed from before it was asked for",
    rare: true,
    file: "src/workers/sweeper.ts",
    find: "if (seen === undefined) this.#firstSeen.set(key, seenAt);",
    instead: "if (seen === undefined) this.#firstSeen.set(key, now);",
  },
];
