import { outsideEngines } from "../support/topologies.ts";
import { secretsOn } from "./s9-secrets.ts";

describe("S9 secrets of every kind, on EventStoreDB, Kafka and MongoDB", function () {
  this.timeout(300_000);
  secretsOn(outsideEngines);
});
