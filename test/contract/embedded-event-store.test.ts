import { embeddedUnderTest } from "../support/embedded-store.ts";
import { eventStoreContract } from "./event-store.ts";

const can = { reopen: true, outage: false };

describe("the embedded event store", () => {
  eventStoreContract(() => embeddedUnderTest(), can);
});

describe("the embedded event store with everything small", () => {
  eventStoreContract(() => embeddedUnderTest({
    memtableRecords: 8, mergeFanout: 2, checkpointBytes: 4096, batchAppends: 3, subscriptionEntries: 4, scrubDelayMs: 1,
  }), can);
});
