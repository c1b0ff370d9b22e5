import { InMemoryEventStore } from "../support/in-memory-event-store.ts";
import { plainCodec } from "../support/plain-codec.ts";
import { deletingContract } from "./event-store/deleting.ts";
import { Bench } from "./event-store/harness.ts";

/** What tests rely on when they take it for an engine: above all what is deleted, and what may begin again. */
describe("the event store in memory", () => {
  let bench: Bench;
  before(() => {
    const store = new InMemoryEventStore(plainCodec);
    const plantUnreadable = (stream: string) => store.appendNewer(stream);
    bench = new Bench({ store: async () => store, plantUnreadable, dispose: async () => undefined }, store);
  });
  afterEach(() => bench.endTest());

  deletingContract(() => bench);
});
