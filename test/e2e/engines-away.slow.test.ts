import { sized } from "../support/size.ts";
import { enginesAway } from "./engines-away.ts";

describe("R5: an engine unavailable under load", function () {
  this.timeout(sized(180_000, 1_800_000));
  enginesAway({
    faults: { EventStoreDB: ["frozen", "killed"], Kafka: ["killed"], MongoDB: ["frozen"] }, startsWithoutKafka: true,
  });
});
