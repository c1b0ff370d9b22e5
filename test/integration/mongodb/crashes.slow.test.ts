import { writerDies } from "./crashes.ts";

describe("Read models in MongoDB, when their writer dies at any write in both ways", function () {
  this.timeout(120_000);
  writerDies({ withBothFates: true, histories: 25 });
});
