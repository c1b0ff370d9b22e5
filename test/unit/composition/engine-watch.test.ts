import { expect } from "chai";
import { EngineWatch } from "../../../src/composition/engine-watch.ts";
import { readiness } from "../../../src/composition/readiness.ts";
import { ManualClock } from "../../support/manual-clock.ts";
import { silentLogger } from "../../support/silent-logger.ts";

describe("the watch over the engines", () => {
  it("tells who is away, counts it once each time, and sees it come back", async () => {
    const clock = new ManualClock();
    const troubles: string[] = [];
    const away = new Set<string>();
    const engine = (name: string, more: object = {}) => ({
      name, ...more, ping: async () => {
        if (away.has(name)) throw new Error("no");
      },
    });
    const watched = [
      engine("log", { awayText: "the log cannot be written" }), engine("MongoDB"),
      engine("Kafka", { isQueue: true as const }),
    ];
    const metrics = { trouble: (kind: string) => troubles.push(kind) };
    const watch = new EngineWatch(watched, { clock, logger: silentLogger, metrics });
    const ready = (role: "api" | "delivery") => readiness({
      broken: false, engines: { watched }, watch, following: { fresh: true }, roles: new Set([role]),
    });
    const pass = async (seconds: number) => {
      for (let second = 0; second < seconds; second += 1) {
        clock.advance(1_000);
        await new Promise((resolve) => setImmediate(resolve));
      }
    };
    await watch.start();
    expect(ready("api")).to.equal(null);
    for (const name of ["log", "MongoDB", "Kafka"]) away.add(name);
    await pass(3);
    expect(ready("api")).to.equal("the log cannot be written, no answer from MongoDB");
    expect(ready("delivery")).to.equal("the log cannot be written, no answer from MongoDB, no answer from Kafka");
    expect(troubles).to.deep.equal(["engine away", "engine away", "engine away"]);
    away.clear();
    await pass(1);
    expect(ready("delivery")).to.equal(null);
    await watch.stop();
  });
});
