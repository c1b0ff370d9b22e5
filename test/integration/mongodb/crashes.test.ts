import { sized } from "../../support/size.ts";
import { writerDies } from "./crashes.ts";

describe("Read models in MongoDB, when their writer dies", function () {
  this.timeout(sized(120_000, 1_200_000));
  writerDies({ withBothFates: false, histories: sized(3, 1_000) });
});
