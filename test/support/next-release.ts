import { execFileSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Change } from "../planted/bug.ts";
import { plant, scratchCopy } from "../planted/plant.ts";

const circuitTypes = [
  "CircuitClosed", "CircuitCounted", "CircuitHalfOpened", "CircuitOpened", "CircuitProbeClaimed",
  "CircuitProbeReleased",
];

/** Facts that have another meaning in the next release, so that it raises their version. */
interface Raise {
  /** By type, the version that this release writes. */
  readonly versions: Readonly<Record<string, number>>;
  /** Writes the new field, `origin`, which every one of them must have. */
  readonly writes: readonly Change[];
}

const raises = {
  circuit: {
    versions: Object.fromEntries(circuitTypes.map((type) => [type, 2])),
    writes: [{
      file: "src/domain/circuit/circuit.ts",
      from: "data: { ...from, ...change, decidedBy: \"next\"",
      to: "data: { ...from, ...change, decidedBy: \"next\", origin: \"next\"",
    }],
  },
  acceptance: {
    versions: { EventAccepted: 2 },
    writes: [
      {
        file: "src/application/ingest/ingest.ts",
        from: "hints: [\"next\"]",
        to: "hints: [\"next\"], origin: \"next\"",
      },
      {
        // By an item of the old kind alone, an old worker would claim the first attempt.
        file: "src/workers/forwarder.ts",
        from: "return [{ kind: \"first\", ...accepted, ...classified, "
          + "causationId, correlationId, position, revision }];",
        to: "return [{ kind: \"wake\", destinationId, position }];",
      },
    ],
  },
  destination: {
    versions: { DestinationRateLimitChanged: 1 },
    writes: [{
      file: "src/domain/destination/decide.ts",
      from: "data: { ...ids, serverRateLimit } }",
      to: "data: { ...ids, serverRateLimit, origin: \"next\" } }",
    }],
  },
} as const satisfies Record<string, Raise>;

/** Which facts the next release raises to another version, if any. */
export type Raised = keyof typeof raises | "nothing";

/** The folder of the tested program; {@link Program.root} is that of another release. */
export const thisRelease = join(import.meta.dirname, "..", "..");

/** A build of another release. */
export interface Program {
  /** The folder that it is started in, see RelayProcess. */
  readonly root: string;
  remove(): void;
}

/** Adds a field to each of these facts, and a fact to each change of an event by a person. */
const grown: readonly Change[] = [
  {
    file: "src/application/ingest/ingest.ts",
    from: "original: sender?.mapping ? received : null,",
    to: "original: sender?.mapping ? received : null, hints: [\"next\"],",
  },
  {
    file: "src/domain/event/decide.ts",
    from: "const outcome = { attempt, durationMs, reason, error, requestHeaders, answer };",
    to: "const outcome = { attempt, durationMs, reason, error, requestHeaders, answer, stage: \"next\" };",
  },
  {
    file: "src/domain/circuit/circuit.ts",
    from: "data: { ...from, ...change, eventId",
    to: "data: { ...from, ...change, decidedBy: \"next\", eventId",
  },
  {
    file: "src/domain/event/decide.ts",
    from: "\"Pending\", at), mode, nextAttemptAt: at } }]",
    to: "\"Pending\", at), mode, nextAttemptAt: at } }, annotated(state, \"Pending\", at)]",
  },
  {
    file: "src/domain/event/decide.ts",
    from: "\"Cancelled\", command.at), reason: command.reason } }]",
    to: "\"Cancelled\", command.at), reason: command.reason } }, annotated(state, \"Cancelled\", command.at)]",
  },
  {
    file: "src/domain/event/decide.ts",
    from: "function moved(state: Webhook,",
    to: `function annotated(state: Webhook, to: Webhook["status"], at: Timestamp) {
  return { type: "EventAnnotated", data: { ...moved({ ...state, status: to }, to, at), note: "by a person" } } as never;
}

function moved(state: Webhook,`,
  },
  {
    file: "src/domain/event/state.ts",
    from: "    case \"DeliveryExhausted\":\n",
    to: "    case \"EventAnnotated\" as never:\n      return state;\n    case \"DeliveryExhausted\":\n",
  },
  {
    file: "src/domain/history-fields.ts",
    from: "EventCancelled: \"all\",",
    to: "EventAnnotated: \"all\", EventCancelled: \"all\",",
  },
  {
    file: "src/http/openapi/facts/words.ts",
    from: "EventReplayed: \"The event was replayed or resent.\",",
    to: "EventReplayed: \"The event was replayed or resent.\", EventAnnotated: \"A person changed the event.\",",
  },
  {
    file: "src/adapters/event-codec/catalogue.ts",
    from: "  EventCancelled: 1,\n",
    to: "  EventAnnotated: 1,\n  EventCancelled: 1,\n",
  },
];

const rebuilt: readonly Change[] = [
  { file: "projections/due/due.ts", from: "  version: 4,", to: "  version: 5," },
  { file: "projections/events/projection.ts", from: "  version: 6,", to: "  version: 7," },
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
    changeSchema(root, "EventAccepted.v2", optional("hints", { type: "array", items: { type: "string" } }));
    changeSchema(root, "DeliveryFailed.v2", optional("stage", { type: "string" }));
    for (const type of circuitTypes) changeSchema(root, `${type}.v2`, optional("decidedBy", { type: "string" }));
    changeSchema(root, "EventCancelled.v1", annotation, "EventAnnotated.v1");
    if (raised !== "nothing") raise(root, raises[raised]);
    execFileSync(process.execPath, ["scripts/build.js"], { cwd: root });
  } catch (error) {
    remove();
    throw error;
  }
  return { root, remove };
}

function raise(root: string, { versions, writes }: Raise): void {
  plant(writes, root);
  for (const [type, version] of Object.entries(versions)) {
    const catalogue = "src/adapters/event-codec/catalogue.ts";
    const upcaster = `${version}: (data) => ({ ...data, origin: "unknown" })`;
    plant([
      { file: catalogue, from: `  ${type}: ${version},\n`, to: `  ${type}: ${version + 1},\n` },
      version === 1
        ? { file: catalogue, from: "  upcasters: {\n", to: `  upcasters: {\n    ${type}: { ${upcaster} },\n` }
        : { file: catalogue, from: `    ${type}: { `, to: `    ${type}: { ${upcaster}, ` },
    ], root);
    changeSchema(root, `${type}.v${version}`, required(type, version + 1, "origin"), `${type}.v${version + 1}`);
  }
}

interface Schema {
  readonly properties: Readonly<Record<string, object>>;
  readonly required: readonly string[];
}

function optional(field: string, kind: object): (schema: Schema) => Schema {
  return (schema) => ({ ...schema, properties: { ...schema.properties, [field]: { ...kind, description: "New." } } });
}

function required(type: string, version: number, field: string): (schema: Schema) => Schema {
  return (schema) => ({
    ...optional(field, { type: "string" })(schema), required: [...schema.required, field],
    $id: `urn:webhook-relay:event:${type}:v${version}`, title: type,
  });
}

function annotation({ properties: { reason: _reason, ...properties }, ...schema }: Schema): Schema {
  const moved = { ...schema, properties, required: schema.required.filter((field) => field !== "reason") };
  return required("EventAnnotated", 1, "note")(moved);
}

/** Writes a schema that is derived from an existing one. */
function changeSchema(root: string, name: string, change: (schema: Schema) => Schema, as = name): void {
  const path = (schema: string) => join(root, "schemas/events", `${schema}.json`);
  const schema = change(JSON.parse(readFileSync(path(name), "utf8")) as Schema);
  writeFileSync(path(as), `${JSON.stringify(schema, null, 2)}\n`);
}
