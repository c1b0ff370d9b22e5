import { appendingContract } from "./event-store/appending.ts";
import { deletingContract } from "./event-store/deleting.ts";
import { Bench, type EventStoreCapabilities, type EventStoreUnderTest } from "./event-store/harness.ts";
import { readingContract } from "./event-store/reading.ts";
import { subscribingContract } from "./event-store/subscribing.ts";
import { survivingContract } from "./event-store/surviving.ts";

/** The contract of every event store. `make` starts an engine, or finds a running one. */
export function eventStoreContract(make: () => Promise<EventStoreUnderTest>, can: EventStoreCapabilities): void {
  let shared: Bench;
  const bench = () => shared;

  before(async () => {
    const engine = await make();
    shared = new Bench(engine, await engine.store());
  });
  afterEach(() => shared.endTest());
  after(() => shared.engine.dispose());

  appendingContract(bench);
  readingContract(bench);
  subscribingContract(bench);
  deletingContract(bench);
  survivingContract(bench, can);
}
