import { collections, fingerprint, project } from "../../projections/index.ts";
import { JsonEventCodec } from "../../src/engines/event-codec/event-codec.ts";
import type { DomainEvent } from "../../src/kernel/domain/domain-event.ts";
import { InMemoryReadModels } from "./in-memory-read-models.ts";
import { position } from "./position.ts";
import { metadata, recorded } from "./recorded.ts";

const codec = new JsonEventCodec();

/** The read models that facts lead to. Every fact must satisfy its schema. */
export async function projected(facts: readonly DomainEvent[]): Promise<InMemoryReadModels> {
  const models = new InMemoryReadModels();
  await models.reset(collections, fingerprint);
  const batch = facts.map((fact, at) => {
    codec.encode(fact, metadata);
    return { position: position(at + 1), changes: project(recorded(fact, at + 1)) };
  });
  await models.apply(batch, position(batch.length));
  return models;
}
