import { collections, fingerprint, project } from "../../projections/index.ts";
import { JsonEventCodec } from "../../src/adapters/event-codec/event-codec.ts";
import type { DomainEvent, Metadata } from "../../src/domain/domain-event.ts";
import { InMemoryReadModels } from "./in-memory-read-models.ts";
import { position } from "./position.ts";

const codec = new JsonEventCodec();

const metadata: Metadata = {
  actor: { type: "anonymous" },
  correlationId: "spec",
  causationId: null,
  at: "2026-01-15T09:30:00.000Z",
};

/** The read models that facts lead to. Every fact must satisfy its schema. */
export async function projected(facts: readonly DomainEvent[]): Promise<InMemoryReadModels> {
  const models = new InMemoryReadModels();
  await models.reset(collections, fingerprint);
  const batch = facts.map((fact, at) => {
    codec.encode(fact, metadata);
    const place = position(at + 1);
    return { position: place, changes: project({ ...fact, position: place }) };
  });
  await models.apply(batch, position(batch.length));
  return models;
}
