import { sized } from "../support/size.ts";
import { enginesAway } from "./engines-away.ts";

describe("R5: an engine unavailable under load", function () {
  this.timeout(sized(180_000, 1_800_000));
  // An EventStoreDB that stands still is the subject of busy-log.test.ts.
  enginesAway({ faults: { EventStoreDB: [], Kafka: ["frozen"], MongoDB: ["killed"] }, startsWithoutKafka: false });
});
