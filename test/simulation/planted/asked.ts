import type { PlantedBug } from "./planted-bug.ts";

const putToWork = "src/features/replays/put-to-work.ts";
const ingest = "src/features/ingest/ingest.ts";
const directory = "src/features/ingest/credential-lookup.ts";
const sessions = "src/features/people/sessions/sessions.ts";
const reservations = "src/features/tenants/reservations/reservations.ts";

/** Mistakes in the answers to callers. */
export const asked: readonly PlantedBug[] = [
  {
    name: "an event is acknowledged before it is stored",
    breaks: "no acknowledged event is lost",
    file: ingest,
    from: "await (claim ? this.#appendClaiming(stream, accepting, claim) : store.append(stream, noStream, accepting));",
    to: `void (claim ? this.#appendClaiming(stream, accepting, claim) : store.append(stream, noStream, accepting))
          .catch(() => undefined);`,
  },
  {
    name: "an event is stored without its key",
    breaks: "an event keeps its key",
    file: ingest,
    from: "idempotencyKey: idempotencyKey ?? null, payload,",
    to: "idempotencyKey: null, payload,",
  },
  {
    name: "a used key is accepted again",
    breaks: "an event begins once",
    file: ingest,
    from: "if (duplicate) return { duplicate };",
    to: `if (duplicate) await this.#parts.store.append(stream, error.actual, accepting);
        if (duplicate) return { accepted: { eventId, status: "Pending", acceptedAt: at } };`,
  },
  {
    name: "of two requests with one key both are told 202",
    breaks: "one event for a key",
    file: ingest,
    from: "if (duplicate) return { duplicate };",
    to: "if (duplicate) return { accepted: { ...duplicate, status: \"Pending\" } };",
  },
  {
    name: "a replay names new events by what it read of its own record",
    breaks: "a replay puts each event to work once",
    file: putToWork,
    from: "this.#keys.ofReplayed(this.#replay.job.id, sourceId)",
    to: "this.#keys.ofReplayed(String(this.#replay.revision), sourceId)",
    weather: { moody: 1, crashEveryMs: 2_000, crashAtQuestion: 0, operations: 1_500, activeMs: 60_000 },
  },
  {
    name: "a replay sends an empty object",
    breaks: "a replay sends the bytes of its source",
    file: putToWork,
    from: "...source, eventId, destinationId,",
    to: "...source, payload: \"{}\", eventId, destinationId,",
  },
  {
    name: "a replay counts what it passed over",
    breaks: "a replay reports no more than it put to work",
    file: "src/features/replays/replay-run.ts",
    from: "this.#done += done;",
    to: "this.#done += next.length;",
    weather: { operations: 1_500, activeMs: 60_000, moody: 0.5 },
  },
  {
    name: "only finished replays are carried out",
    breaks: "no replay is left undone",
    file: "src/features/replays/replay-run.ts",
    from: "where: { settled: false },",
    to: "where: { settled: false, state: \"Finished\" },",
  },
  {
    name: "the payload is stored without its last byte",
    breaks: "the bytes received are the bytes stored",
    file: ingest,
    from: "let mapped: string | Refusal = received;",
    to: "let mapped: string | Refusal = received.slice(0, -1);",
  },
  {
    name: "events are accepted for any destination",
    breaks: "no event is accepted for an inactive or deleted destination",
    file: ingest,
    from: "if (status === \"Active\") return null;",
    to: "if (status === status) return null;",
  },
  {
    name: "events are accepted only while a destination is suspended",
    breaks: "an active destination accepts events",
    file: ingest,
    from: "if (status === \"Active\") return null;",
    to: "if (status === \"Suspended\") return null;",
  },
  {
    name: "a token admits the key of any tenant",
    breaks: "no tenant sees another's data",
    file: "src/features/ingest/producer-authentication.ts",
    from: "if (owner.tenantId !== tenantId) refuseKey(",
    to: "if (owner.tenantId === \"\") refuseKey(",
  },
  {
    name: "all events go to the first destination",
    breaks: "an event goes to its tenant's destination",
    file: ingest,
    from: "eventId, tenantId, destinationId: destination.id,",
    to: `eventId, tenantId,
        destinationId: ((globalThis as { one?: string }).one ??= destination.id),`,
  },
  {
    name: "a destination is registered with the first one's address",
    breaks: "no tenant's events go to another's receiver",
    file: "src/features/destinations/commands.ts",
    from: "destinationId, tenantId, ...settings,",
    to: `destinationId, tenantId, ...settings,
        url: ((globalThis as { one?: string }).one ??= input.url),`,
  },
  {
    name: "a replaced token stays valid",
    breaks: "a replaced token is refused",
    file: directory,
    from: "return target && !target.deleted && target.ingestTokenHash === hash ? target : undefined;",
    to: "return target && !target.deleted && hash !== \"\" ? target : undefined;",
  },
  {
    name: "a token is forgotten once it was used",
    breaks: "a valid key and token are admitted",
    file: directory,
    from: "return target && !target.deleted && target.ingestTokenHash === hash ? target : undefined;",
    to: "return target && !target.deleted && target.ingestTokenHash < hash ? target : undefined;",
  },
  {
    name: "a passing error is not mapped to a refusal",
    breaks: "only known errors",
    file: "src/kernel/read-models/freshness.ts",
    from: "refuse(\"unavailable\", \"the read models are behind; try again\");",
    to: "throw new Error(\"the read models are behind\");",
  },
  {
    name: "an event is accessible to every tenant",
    breaks: "no tenant sees another's data",
    file: "src/kernel/callers/access.ts",
    from: "const isOwn = thing.tenantId === caller.tenantId;",
    to: "const isOwn = thing.tenantId !== \"\" || caller.tenantId !== \"\";",
  },
  {
    name: "a session names its token instead of its user",
    breaks: "a session belongs to its user",
    file: sessions,
    from: "return { userId, tenantId, role, tokenId, sessionId, sessionVersion, expiresAt, passwordAt };",
    to: "return { userId: tokenId, tenantId, role, tokenId, sessionId, sessionVersion, expiresAt, passwordAt };",
  },
  {
    name: "an ended session stays valid",
    breaks: "an ended session is refused by every process",
    file: sessions,
    from: "if (isRevoked || sessionVersion < Number(least ?? 0)) refuse(",
    to: "if (sessionVersion < Number(least ?? 0)) refuse(",
  },
  {
    name: "a name in use is given to another tenant",
    breaks: "a name belongs to one tenant",
    file: reservations,
    from: "if (uses) refuse(\"conflict\", taken);",
    to: "",
  },
  {
    name: "the holder of an email is not checked",
    breaks: "an email belongs to one user",
    file: reservations,
    from: ": userId !== null && state?.users.get(userId)?.emailHash === hash;",
    to: ": false;",
  },
  {
    name: "an abandoned name is never freed",
    breaks: "an unused name becomes free again",
    file: reservations,
    from: "if (uses) refuse(\"conflict\", taken);",
    to: "if (uses || state === undefined) refuse(\"conflict\", taken);",
  },
  {
    name: "a failed start is not handled",
    breaks: "no rejection goes unhandled",
    file: "src/delivery/dispatch/dispatcher.ts",
    from: "void this.#retryPause.run(() => this.#track(work, task)).then(",
    to: "void this.#track(work, task).then(",
  },
  {
    name: "a list waits for ever",
    breaks: "every operation ends",
    file: "src/kernel/read-models/paging.ts",
    from: "await Promise.all([find(slice), counting]);",
    to: "await Promise.all([find(slice), counting, new Promise<void>(() => undefined)]);",
  },
  {
    name: "a destination that holds refuses posts while its circuit is open",
    breaks: "a destination that holds accepts events while its circuit is open",
    file: ingest,
    from: "if (destination.active && destination.whenSuspended === \"hold\") return null;",
    to: "",
  },
];
