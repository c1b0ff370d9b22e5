import { crashes } from "./crash.ts";

describe("kill -9 of the real process, more often", function () {
  this.timeout(240_000);
  crashes({ underLoad: 12, rounds: 2, inCatchUp: 3, events: 30_000, firstStarts: 3 });
});
