import { setTimeout } from "node:timers/promises";
import { SystemClock } from "../../src/engines/system/system-clock.ts";
import { SystemIds } from "../../src/engines/system/system-ids.ts";
import { clockContract } from "./clock.ts";
import { idsContract } from "./ids.ts";

describe("the system's clock and randomness", () => {
  clockContract(() => ({ clock: new SystemClock(), pass: (ms) => setTimeout(ms) }));
  idsContract(() => new SystemIds());
});
