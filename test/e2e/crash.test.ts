import { sized } from "../support/size.ts";
import { crashes } from "./crash.ts";

describe("kill -9 of the real process", function () {
  this.timeout(sized(240_000, 3_600_000));
  crashes({
    underLoad: sized(4, 200), rounds: sized(1, 30), inCatchUp: sized(2, 4), events: sized(20_000, 500_000),
    firstStarts: sized(1, 100),
  });
});
