import type { Bug } from "./bug.ts";
import { closing } from "./closing-bugs.ts";
import { converted } from "./file-bugs.ts";

const log = "packages/embedded-engine/src/event-store";
const index = `${log}/stream-index`;
const indexTests = "test/unit/embedded-engine/event-store/stream-index";
const readModels = "packages/embedded-engine/src/read-models";
const sending = "src/delivery/requests";
const dispatchers = "src/delivery/dispatch";
const seeds = ["1", "2", "3", "4.slow"].map((part) => `test/simulation/seeds-${part}.test.ts`);

/** Promises of the log. */
const store: readonly Bug[] = [
  {
    name: "no-sync",
    breaks: "an answered append survives the loss of power",
    changes: [{ file: `${log}/log-file.ts`, from: "PRAGMA synchronous = FULL;", to: "PRAGMA synchronous = NORMAL;" }],
    tests: ["test/e2e/disk.test.ts"],
    only: "loses no acknowledged event",
  },
  {
    name: "commit-acknowledged-early",
    breaks: "an answered append is committed",
    changes: [{
      file: `${log}/log-file.ts`,
      from: "      this.#commit.run();\n      return result;",
      to: "      setImmediate(() => this.#db.isTransaction && this.#commit.run());\n      return result;",
    }],
    tests: ["test/unit/embedded-engine/event-store/crashes.test.ts"],
  },
  {
    name: "no-revision-check",
    breaks: "of two appends at one revision one wins",
    changes: [{
      file: `${log}/commit-engine.ts`,
      from: "Math.max(state, noStream) === expected)",
      to: "Math.max(state, noStream) >= expected)",
    }],
    tests: ["test/contract/embedded-event-store.test.ts"],
  },
  {
    name: "failed-commit-remembered",
    breaks: "a transaction that fails leaves no trace in memory",
    changes: [{ file: `${log}/commit-engine.ts`, from: "      this.#index.undo();\n", to: "" }],
    tests: ["test/unit/embedded-engine/event-store/full-disk.test.ts"],
  },
  {
    name: "look-up-skips-a-segment",
    breaks: "a stream is found in every segment",
    changes: [{
      file: `${index}/stream-index.ts`,
      from: "let at = this.#segments.length - 1; at >= 0; at--",
      to: "let at = this.#segments.length - 1; at > 0; at--",
    }],
    tests: [`${indexTests}/segments.test.ts`, `${indexTests}/stream-index.test.ts`],
  },
  {
    name: "frozen-memtable-forgotten",
    breaks: "a stream is found while its memtable is being written out",
    changes: [{
      file: `${index}/stream-index.ts`,
      from: "this.#active.stateOf(stream) ?? this.#frozen?.stateOf(stream) ?? this.#stateInSegments(stream)",
      to: "this.#active.stateOf(stream) ?? this.#stateInSegments(stream)",
    }],
    tests: [`${indexTests}/stream-index.test.ts`],
  },
  {
    name: "stays-without-an-engine",
    breaks: "a relay whose engine has failed for good ends, to be started again",
    changes: [{ file: "src/main/relay.ts", from: "onFatal });", to: "onFatal: () => undefined });" }],
    tests: ["test/e2e/damaged-index.slow.test.ts"],
    only: "found damaged",
  },
  {
    name: "damaged-segment-believed",
    breaks: "a damaged segment is noticed",
    changes: [{
      file: `${index}/segment.ts`,
      from: "if (partsCrc !== crc32(bloom, crc32(fences)))",
      to: "if (partsCrc === crc32(bloom))",
    }],
    tests: [`${indexTests}/segments.test.ts`],
  },
];

/** Promises of the read models and of the workers that follow the log. */
const derived: readonly Bug[] = [
  {
    name: "checkpoint-before-documents",
    breaks: "read models and their checkpoint move together",
    changes: [{
      file: `${readModels}/sqlite-read-models.ts`,
      from: "      await this.#put(file, fold(batch",
      to: "      file.toWrite.prepare(\"UPDATE state SET checkpoint = ?\").run(checkpoint);\n"
        + "      file.toWrite.exec(\"COMMIT; BEGIN IMMEDIATE\");\n      await this.#put(file, fold(batch",
    }],
    tests: [
      "test/contract/embedded-read-models.test.ts", "test/unit/embedded-engine/read-models/failed-write.test.ts",
    ],
  },
  {
    name: "batch-counted-twice",
    breaks: "a batch that comes again changes nothing",
    changes: [{
      file: `${readModels}/sqlite-read-models.ts`,
      from: "fold(batch.filter(({ position }) => position > done))",
      to: "fold(batch)",
    }],
    tests: ["test/contract/embedded-read-models.test.ts"],
  },
  {
    name: "list-before-it-is-fresh",
    breaks: "a caller reads its own writes",
    changes: [{
      file: "src/kernel/read-models/freshness.ts",
      from: "const head = await this.#head();",
      to: "const head = (await this.#head()).slice(0, 0);",
    }],
    tests: ["test/e2e/recovery.test.ts"],
    only: "show every write",
  },
  {
    name: "forwarder-checkpoint-before-publish",
    breaks: "every accepted event is published at least once",
    changes: [{
      file: "src/delivery/dispatch/forwarder.ts",
      from: "    if (items.length > 0) await this.#parts.queue.publish(items);\n",
      to: "    await this.#save(upTo);\n    if (items.length > 0) await this.#parts.queue.publish(items);\n",
    }],
    tests: ["test/unit/delivery/dispatch/forwarder.test.ts"],
  },
  {
    name: "unreadable-entry-passed-over",
    breaks: "a stream with an entry that cannot be read is quarantined whole",
    changes: [{
      file: "src/projector/batches.ts",
      from: "const own = before === null || quarantined.has(entry.stream) ? [] : changesOf(entry);",
      to: "const own = before === null ? [] : changesOf(entry);",
    }],
    tests: ["test/unit/projector/projection-runner.test.ts"],
  },
  {
    name: "batch-projected-while-a-late-stream-is-in-doubt",
    breaks: "nothing is projected while the return of a late stream is in doubt",
    changes: [{
      file: "src/projector/projection-run.ts",
      from: "this.#exclusively(() => this.#persist(() => this.#late.step(this.#progress.applied)))",
      to: "this.#persist(() => this.#exclusively(() => this.#late.step(this.#progress.applied)))",
    }],
    tests: ["test/unit/projector/late-streams.test.ts"],
  },
  {
    name: "erased-tenant-projected-again",
    breaks: "read models hold nothing of an erased tenant, even if the log still does",
    changes: [{
      file: "src/projector/batches.ts",
      from: "prepare(await this.#erased.without(entries))",
      to: "prepare(entries)",
    }],
    tests: ["test/unit/projector/erased-tenants.test.ts"],
  },
];

/** Promises to receivers. */
const delivery: readonly Bug[] = [
  {
    name: "claim-not-awaited",
    breaks: "an attempt is in the log before its request leaves",
    changes: [{
      file: "src/delivery/dispatch/claims.ts",
      from: "      const appended = await this.#append(known, start.entries);\n",
      to: "      const appended = { revision: known.revision + 1 };\n"
        + "      void this.#append(known, start.entries).catch(() => undefined);\n",
    }],
    tests: seeds,
  },
  {
    name: "claim-at-any-revision",
    breaks: "of two workers with one item one makes the attempt",
    changes: [{
      file: "src/delivery/dispatch/claims.ts",
      from: "if (error instanceof RevisionConflict) return null;",
      to: "if (error instanceof RevisionConflict) {\n        const revision = error.actual;\n"
        + "        return this.#parts.store.append(streams.event(state.id), revision, entries);\n      }",
    }],
    tests: seeds,
  },
  {
    name: "lease-never-over",
    breaks: "the attempt of a lost worker is given up",
    changes: [{
      file: "src/delivery/dispatch/lost-attempts.ts",
      from: "else if (now - Math.max(seen, reachableSince) >= leaseMs) lost.set(key, lease);",
      to: "else if (seen > now) lost.set(key, lease);",
    }],
    tests: seeds,
  },
  {
    name: "lease-by-the-wall-clock",
    breaks: "no jump of the clock ends a lease early",
    changes: [{
      file: "src/delivery/dispatch/lost-attempts.ts",
      from: "else if (now - Math.max(seen, reachableSince) >= leaseMs) lost.set(key, lease);",
      to: "else if (this.#parts.clock.now() >= millis(lease.leaseUntil)) lost.set(key, lease);",
    }],
    tests: ["test/unit/delivery/dispatch/lost-attempts.test.ts"],
  },
  {
    name: "limit-ignored",
    breaks: "no more requests at once than the destination's limit",
    changes: [{
      file: "src/delivery/dispatch/dispatcher.ts",
      from: "this.#places.concurrency = serverRateLimit;",
      to: "this.#places.concurrency = serverRateLimit + 1;",
    }],
    tests: ["test/e2e/topologies/embedded.test.ts"],
    only: "never has more requests at once",
  },
  {
    name: "cancelled-in-turn",
    breaks: "waiting events of a deleted destination are cancelled without waiting for open attempts",
    changes: [{
      file: "src/delivery/dispatch/dispatcher.ts",
      from: "const room = () => windowSize - this.#cancellations.activeCount;",
      to: "const room = () => this.#room();",
    }],
    tests: ["test/e2e/topologies/embedded.test.ts"],
    only: "cancels the waiting events of a deleted destination",
  },
  {
    name: "failed-join-not-noticed",
    breaks: "a member whose join was refused joins again, though the group answers its heartbeats",
    changes: [{ file: "src/engines/kafka/membership.ts", from: "    if (this.#session.ended) return;\n", to: "" }],
    tests: ["test/unit/engines/kafka/membership.test.ts"],
  },
  {
    name: "probe-not-exclusive",
    breaks: "one probe at a time",
    changes: [{
      file: "src/features/circuits/facts.ts",
      from: "stands(state.probe, command.lost)) return [];\n      const { eventId, leaseUntil }",
      to: "false) return [];\n      const { eventId, leaseUntil }",
    }],
    tests: ["test/unit/features/circuits/circuit.test.ts", "test/unit/features/circuits/circuit-model.test.ts"],
  },
  {
    name: "crash-counts-for-the-circuit",
    breaks: "a crash suspends no healthy receiver",
    changes: [{ file: "src/features/events/facts.ts", from: "return !ownFailures.has(reason) && ", to: "return " }],
    tests: ["test/e2e/healthy-receivers.test.ts", "test/unit/delivery/dispatch/lost-attempts.test.ts"],
  },
  {
    name: "dead-have-their-leases",
    breaks: "open attempts of a process that is certainly dead are made again at once",
    changes: [{ file: `${dispatchers}/workers.ts`, from: "return !this.#parts.isLogShared", to: "return false" }],
    tests: ["test/e2e/healthy-receivers.test.ts"],
  },
  {
    name: "dead-take-places",
    breaks: "open attempts of a process that is certainly dead take no slot of the limit",
    changes: [{ file: `${dispatchers}/ownership.ts`, from: "workerId && !workers.isGone(worker)", to: "workerId" }],
    tests: ["test/e2e/healthy-receivers.test.ts"],
  },
  {
    name: "pause-of-one-worker",
    breaks: "the next owner of a destination keeps to the pause that its receiver asked for",
    changes: [{ file: `${sending}/recording.ts`, from: "pausedUntil?.() ?? null", to: "pausedUntil ? null : null" }],
    tests: ["test/unit/delivery/dispatch/receiver-pause.test.ts"],
  },
  {
    name: "stale-failures-open-the-circuit",
    breaks: "attempts that were open when the circuit opened do not move it",
    changes: [{
      file: "src/features/circuits/facts.ts",
      from: "if (!isOfProbe(state, command)) return [];",
      to: "if (command.ok && !isOfProbe(state, command)) return [];",
    }],
    tests: ["test/unit/features/circuits/circuit.test.ts", "test/unit/features/circuits/circuit-model.test.ts"],
  },
  {
    name: "retry-before-its-time",
    breaks: "jitter only ever adds",
    changes: [{
      file: "src/features/events/decide.ts",
      from: "wait + Math.floor(wait * policy.jitter * random)",
      to: "wait - Math.floor(wait * policy.jitter * random)",
    }],
    tests: ["test/unit/features/events/retry-policy.test.ts"],
  },
  {
    name: "signed-after-parsing",
    breaks: "the signature is over the bytes that are sent",
    changes: [{
      file: "src/delivery/requests/request.ts",
      from: "...sign(signer, messageId ?? eventId, at, body, otherKeys),",
      to: "...sign(signer, eventId, at, Buffer.from(JSON.stringify(JSON.parse(Buffer.from(body).toString())))),",
    }],
    tests: ["test/unit/delivery/requests/request.test.ts", "test/e2e/topologies/embedded.test.ts"],
    only: "sign",
  },
  {
    name: "sent-after-parsing",
    breaks: "the bytes received are the bytes delivered",
    changes: [{
      file: "src/delivery/requests/delivery-client.ts",
      from: "const body = Buffer.from(delivery.webhook.payload);",
      to: "const body = Buffer.from(JSON.stringify(JSON.parse(delivery.webhook.payload)));",
    }],
    tests: ["test/e2e/topologies/embedded.test.ts"],
    only: "sends the received bytes unchanged",
  },
];

/** Actions that the relay must refuse. */
const refused: readonly Bug[] = [
  {
    name: "redirect-followed",
    breaks: "a redirect is a failure",
    changes: [
      {
        file: "src/engines/outbound/guarded-agent.ts",
        from: "import { Agent, type",
        to: "import { Agent, interceptors, type",
      },
      {
        file: "src/engines/outbound/guarded-agent.ts",
        from: "    bodyTimeout: 0,\n  });",
        to: "    bodyTimeout: 0,\n  }).compose(interceptors.redirect({ maxRedirections: 3 }));",
      },
    ],
    tests: ["test/integration/outbound/redirects.test.ts"],
  },
  {
    name: "literal-address-unguarded",
    breaks: "no connection to a private address, however the URL names it",
    changes: [{
      file: "src/engines/outbound/wires.ts",
      from: "if (addresses.length === 0 || !addresses.every(allows)) throw refused();",
      to: "if (addresses.length === 0 || (!literal && !addresses.every(allows))) throw refused();",
    }],
    tests: ["test/integration/outbound/names.test.ts", "test/integration/outbound/client.test.ts"],
  },
  {
    name: "judged-is-not-connected",
    breaks: "connections go to the checked address",
    changes: [{
      file: "src/engines/outbound/wires.ts",
      from: "const racers = { addresses, port",
      to: "const racers = { addresses: [target.hostname], port",
    }],
    tests: ["test/integration/outbound/names.test.ts", "test/integration/outbound/client.test.ts"],
  },
  {
    name: "tenant-not-checked",
    breaks: "no tenant changes another tenant's events",
    changes: [{
      file: "src/features/events/commands.ts",
      from: "      requireOwn(event, caller, \"event\");\n",
      to: "",
    }],
    tests: ["test/http/matrix.test.ts"],
  },
  {
    name: "role-not-checked",
    breaks: "a Viewer changes nothing",
    changes: [{
      file: "src/features/destinations/commands.ts",
      from: "    requireRole(caller, \"Developer\", to);\n",
      to: "",
    }],
    tests: ["test/http/matrix.test.ts"],
  },
  {
    name: "throttle-after-the-check",
    breaks: "parallel guesses get no more password checks than the limit",
    changes: [
      {
        file: "src/features/people/sessions/login.ts",
        from: "    const slot = this.#limit && (await state.admit(counters, this.#limit));\n"
          + "    if (this.#limit && !slot) {\n",
        to: "    let slot = null as Awaited<ReturnType<typeof state.admit>>;\n    if (false) {\n",
      },
      {
        file: "src/features/people/sessions/login.ts",
        from: "    if (!found) {\n",
        to: "    slot = this.#limit && (await state.admit(counters, this.#limit));\n"
          + "    if (this.#limit && !slot) refuse(\"too-many\", \"too many failed logins; try again later\");\n"
          + "    if (!found) {\n",
      },
    ],
    tests: ["test/http/throttles.test.ts"],
  },
  {
    name: "logged-out-token-lives",
    breaks: "a token stops working when it is logged out",
    changes: [{
      file: "src/features/people/sessions/sessions.ts",
      from: "const isRevoked = revoked.some((at) => at !== null);",
      to: "const isRevoked = revoked.some((at) => at === \"\");",
    }],
    tests: ["test/http/sessions.test.ts"],
  },
  {
    name: "logout-lost-with-the-power",
    breaks: "a token that was logged out stays so through a loss of power",
    changes: [{
      file: "packages/embedded-engine/src/expiring-state/sqlite-expiring-state.ts",
      from: "exec(\"PRAGMA synchronous = FULL\")",
      to: "exec(\"PRAGMA synchronous = NORMAL\")",
    }],
    tests: ["test/e2e/disk.test.ts"],
    only: "takes no token ended",
  },
  {
    name: "idempotency-key-ignored",
    breaks: "one event for each idempotency key",
    changes: [{
      file: "src/features/ingest/ingest.ts",
      from: "idempotencyKey === undefined ? keyOfEvent(ids.uuid()) : events.of(tenantId, idempotencyKey)",
      to: "idempotencyKey === \"\" ? events.of(tenantId, idempotencyKey) : keyOfEvent(ids.uuid())",
    }],
    tests: ["test/http/ingest.test.ts"],
  },
  {
    name: "chunks-taken-for-nothing",
    breaks: "the relay reads a request as Node's HTTP server does, or leaves it to that",
    changes: [{ file: "src/http/ingest/fast-path-request.ts", from: '"transfer-encoding", ', to: "" }],
    tests: ["test/unit/http/ingest/fast-path-request.test.ts"],
  },
  {
    name: "dot-segment-taken-for-an-id",
    breaks: "a path has one spelling, so that a proxy's rule on it closes it",
    changes: [{ file: "src/http/app.ts", from: "  app.use(refuseDotSegments);\n", to: "" }],
    tests: ["test/http/request-targets.test.ts"],
  },
  {
    name: "purge-takes-unfinished",
    breaks: "a purge takes finished events only",
    changes: [{ file: "src/features/purges/facts.ts", from: "    isFinished(event.status) &&\n", to: "" }],
    tests: ["test/unit/features/purges/purge.test.ts", "test/http/purge.test.ts"],
  },
];

/** Every bug that the tests must catch. */
export const bugs: readonly Bug[] = [...store, ...closing, ...converted, ...derived, ...delivery, ...refused];
