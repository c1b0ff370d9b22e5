import { execFileSync } from "node:child_process";
import { join } from "node:path";
import type { Change } from "../planted/bug.ts";
import { plant, scratchCopy } from "../planted/plant.ts";

/** The upcaster from a version that lacks `origin`. */
const unknownOrigin = "(data) => ({ ...data, origin: \"unknown\" })";

/** Raises the version of facts whose meaning changes in the next release: each has a new field, `origin`, always. */
const raises = {
  circuit: [
    {
      file: "src/features/circuits/facts.ts",
      from: "data: { ...from, ...change, decidedBy: \"next\"",
      to: "data: { ...from, ...change, decidedBy: \"next\", origin: \"next\"",
    },
    {
      file: "src/features/circuits/facts.ts",
      from: "const cause = {\n",
      to: "const cause = {\n  origin: { type: \"string\" },\n",
    },
    {
      file: "src/features/circuits/facts.ts",
      from: "({ ...data, eventId: null })];",
      to: `({ ...data, eventId: null }), ${unknownOrigin}];`,
    },
  ],
  acceptance: [
    {
      file: "src/features/ingest/ingest.ts",
      from: "hints: [\"next\"]",
      to: "hints: [\"next\"], origin: \"next\"",
    },
    {
      // By an item of the old kind alone, an old worker would claim the first attempt.
      file: "src/delivery/dispatch/forwarder.ts",
      from: "return [{ kind: \"first\", ...accepted, ...classified, "
        + "causationId, correlationId, position, revision }];",
      to: "return [{ kind: \"wake\", destinationId, position }];",
    },
    {
      file: "src/features/events/facts.ts",
      from: "upcasters: [(data) => ({ ...data, senderRevision: null })],",
      to: `upcasters: [(data) => ({ ...data, senderRevision: null }), ${unknownOrigin}],`,
    },
    {
      file: "src/features/events/facts.ts",
      from: "idempotencyKey: nullable(text()), ",
      to: "idempotencyKey: nullable(text()), origin: { type: \"string\" }, ",
    },
  ],
  destination: [
    {
      file: "src/features/destinations/decide.ts",
      from: "changesOf(destinationFacts, state, settings, ids);",
      to: "changesOf<DestinationEvent>(destinationFacts, state, settings, ids).map((event) => "
        + "(event.type === \"DestinationRateLimitChanged\" ? "
        + "{ ...event, data: { ...event.data, origin: \"next\" } } as never : event));",
    },
    {
      file: "src/features/destinations/facts.ts",
      from: "data: { ...ids, serverRateLimit: integer(1) },",
      to: `data: { ...ids, serverRateLimit: integer(1), origin: { type: "string" } }, upcasters: [${unknownOrigin}],`,
    },
  ],
} as const satisfies Record<string, readonly Change[]>;

/** Which facts the next release raises to another version, if any. */
export type Raised = keyof typeof raises | "nothing";
/** All kinds of next releases. */
export const everyRaised: readonly Raised[] = ["nothing", ...Object.keys(raises) as (keyof typeof raises)[]];

/** The folder of the tested program; {@link Program.root} is that of another release. */
export const thisRelease = join(import.meta.dirname, "..", "..");

/** A build of another release. */
export interface Program {
  /** The folder that it is started in, see RelayProcess. */
  readonly root: string;
  remove(): void;
}

/** Adds a field to several facts, and a fact to each change of an event by a person. */
const grown: readonly Change[] = [
  {
    file: "src/features/ingest/ingest.ts",
    from: "original: sender?.mapping ? received : null,",
    to: "original: sender?.mapping ? received : null, hints: [\"next\"],",
  },
  {
    file: "src/features/events/decide.ts",
    from: "const outcome = { attempt, durationMs, reason, error, requestHeaders, answer };",
    to: "const outcome = { attempt, durationMs, reason, error, requestHeaders, answer, stage: \"next\" };",
  },
  {
    file: "src/features/circuits/facts.ts",
    from: "data: { ...from, ...change, eventId",
    to: "data: { ...from, ...change, decidedBy: \"next\", eventId",
  },
  {
    file: "src/features/events/decide.ts",
    from: "...toPending, mode, nextAttemptAt: at, ...by } }]",
    to: "...toPending, mode, nextAttemptAt: at, ...by } }, annotated(state, \"Pending\", at)]",
  },
  {
    file: "src/features/events/decide.ts",
    from: "\"Cancelled\", command.at), reason: command.reason } }]",
    to: "\"Cancelled\", command.at), reason: command.reason } }, annotated(state, \"Cancelled\", command.at)]",
  },
  {
    file: "src/features/events/decide.ts",
    from: "function moved(state: Webhook,",
    to: `function annotated(state: Webhook, to: Webhook["status"], at: Timestamp) {
  return { type: "EventAnnotated", data: { ...moved({ ...state, status: to }, to, at), note: "by a person" } } as never;
}

function moved(state: Webhook,`,
  },
  {
    file: "src/features/events/facts.ts",
    from: "    case \"DeliveryExhausted\":\n",
    to: "    case \"EventAnnotated\" as never:\n      return state;\n    case \"DeliveryExhausted\":\n",
  },
  {
    file: "src/features/events/facts.ts",
    from: "  EventCancelled: fact({\n",
    to: `  EventAnnotated: fact({
    data: { ...moved, note: { type: "string" } }, meaning: "A person changed the event.",
    words: "changed the event", shown: "all", audit: false,
  }),
  EventCancelled: fact({\n`,
  },
  {
    file: "src/features/events/facts.ts",
    from: "      sourceEventId: optional(\n",
    to: `      hints: { optional: { type: "array", items: { type: "string" }, description: "New." } },
      sourceEventId: optional(\n`,
  },
  {
    file: "src/features/events/facts.ts",
    from: "reason: oneOf(failureReasons), ",
    to: "reason: oneOf(failureReasons), stage: { optional: { type: \"string\" } }, ",
  },
  {
    file: "src/features/circuits/facts.ts",
    from: "const cause = {\n",
    to: "const cause = {\n  decidedBy: { optional: { type: \"string\" } },\n",
  },
];

const rebuilt: readonly Change[] = [
  { file: "projections/due/due.ts", from: "  version: 5,", to: "  version: 6," },
  { file: "projections/events/projection.ts", from: "  version: 7,", to: "  version: 8," },
];

/**
 * Makes the release after this one from a copy of it: EventAccepted, DeliveryFailed and every fact of a circuit have an
 * optional field more, replays and cancellations write a new fact into the event's stream, and facts are raised to a
 * version with an upcaster. `newProjections`: it rebuilds the read models. Throws where the source has changed so
 * that a change no longer applies.
 */
export function makeNextRelease(raised: Raised, { newProjections = false } = {}): Program {
  const { root, remove } = scratchCopy();
  try {
    plant([...grown, ...(newProjections ? rebuilt : [])], root);
    if (raised !== "nothing") plant(raises[raised], root);
    execFileSync(process.execPath, ["scripts/build.js"], { cwd: root });
  } catch (error) {
    remove();
    throw error;
  }
  return { root, remove };
}
