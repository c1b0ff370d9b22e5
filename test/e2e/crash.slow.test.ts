import { crashes } from "./crash.ts";

describe("kill -9 of the real process, more often", function () {
  this.timeout(240_000);
  crashes({ underLoad: 20, rounds: 3, inCatchUp: 4, events: 40_000, firstStarts: 5 });
});
